import { useEffect, useRef, useState } from 'react';
import type { CreatureName } from '../../../creatures/registry.ts';
import { demoAt, untilNextChange } from './demo.ts';
import type { Place } from './places.ts';
import { nextShown, type Shown } from './shown.ts';
import type { Signs } from './signs.ts';

/** Drawn states of all places, by their keys. */
export type ShownAt = ReadonlyMap<string, Shown>;

/** Returns what is drawn at the places of the app, with the states that pass in between. */
export function useShown(places: readonly Place[], signs: Signs): ShownAt {
  const [shown, setShown] = useState<ShownAt>(new Map());
  const latest = useRef<ShownAt>(shown);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      const now = performance.now();
      const next = new Map(
        places.map((place) => {
          const sign = signOf(place, signs);
          const before = latest.current.get(place.key);
          const after = nextShown(before, sign, now, place.key === 'phoenix-ash');
          return [
            place.key,
            before !== undefined && isSame(before, after) ? before : after,
          ] as const;
        }),
      );
      latest.current = next;
      setShown(next);
      const ends = [...next.values()].flatMap(({ until }) => until ?? []);
      if (ends.length > 0) timer = setTimeout(update, Math.max(1, Math.min(...ends) - now));
    };
    update();
    return () => clearTimeout(timer);
  }, [places, signs]);
  return shown;
}

/** True when nothing has to be drawn anew. */
function isSame(before: Shown, after: Shown): boolean {
  return (['state', 'until', 'note', 'session'] as const).every(
    (one) => before[one] === after[one],
  );
}

function signOf({ key, zone, subject }: Place, { components, agents }: Signs) {
  const sign = zone === 'acting' ? agents.get(subject) : components.get(key as CreatureName);
  return sign ?? { state: 'idle' as const };
}

/** Returns what the demo draws, while it runs. */
export function useDemo(isOn: boolean): ShownAt | undefined {
  const [shown, setShown] = useState<ShownAt>();
  useEffect(() => {
    if (!isOn) {
      setShown(undefined);
      return undefined;
    }
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      const elapsed = performance.now() - began;
      setShown(demoAt(elapsed));
      timer = setTimeout(update, untilNextChange(elapsed) + 1);
    };
    update();
    return () => clearTimeout(timer);
  }, [isOn]);
  return shown;
}
