import { useEffect, useState } from 'react';
import { useChosenCreatures } from './chosen-creatures.ts';
import styles from './creature.module.css';
import { creatureFor } from './creature-map.ts';
import { FigureDrawing, seed } from './figure-drawing.tsx';
import type { Figure } from './figures/shapes.ts';
import { loadedFigure, loadFigure } from './load-figure.ts';
import { type CreatureName, creatureOf, type Zone } from './registry.ts';
import type { CreatureState } from './states.ts';

interface CreatureProps {
  /** Component, agent or creature. */
  readonly name: string;
  /** Side in pixels. @default 16 */
  readonly size?: number;
  /** Draws it in a state; without one it stands still beside words, as in lists. */
  readonly state?: CreatureState;
  /** Zone whose colour it has while it works. @default the one where it lives */
  readonly zone?: Zone;
}

/** Creature of a component or an agent. It stands beside words, which say the same. */
export function Creature({ name, size = 16, state, zone }: CreatureProps) {
  const creature = creatureFor(name, useChosenCreatures());
  const figure = useFigure(creature);
  return (
    <span
      // A state that comes again is animated again.
      key={state}
      className={styles['creature']}
      data-state={state}
      data-zone={zone ?? creatureOf(creature).zone}
      data-creature={creature}
      style={{ width: size, height: size }}
      aria-hidden="true"
    >
      <FigureDrawing figure={figure} />
    </span>
  );
}

function useFigure(name: CreatureName): Figure {
  const [, setCome] = useState<CreatureName>();
  const found = loadedFigure(name);
  useEffect(() => {
    if (loadedFigure(name) !== undefined) return undefined;
    let isShown = true;
    void loadFigure(name).then((figure) => {
      if (isShown && figure !== undefined) setCome(name);
    });
    return () => {
      isShown = false;
    };
  }, [name]);
  return found ?? seed;
}
