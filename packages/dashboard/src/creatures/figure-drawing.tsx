import { memo } from 'react';
import styles from './creature.module.css';
import type { Figure, Outline, Part } from './figures/shapes.ts';

/** Drawing of a creature. It says nothing to screen readers. */
export const FigureDrawing = memo(function FigureDrawing({ figure }: { readonly figure: Figure }) {
  return (
    <svg viewBox="0 0 64 64" aria-hidden="true" focusable="false">
      <Shapes shapes={figure} />
    </svg>
  );
});

/** Drawing of a creature whose figure has not come yet, or does not. */
export const seed: Figure = [{ ink: 'body', d: 'M32 14c12 10 14 34 0 38-14-4-12-28 0-38Z' }];

function Shapes({ shapes }: { readonly shapes: Figure }) {
  return shapes.map((shape, i) =>
    'shapes' in shape ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: shapes have a place, and no name
      <Moving key={i} part={shape} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: shapes have a place, and no name
      <Shape key={i} outline={shape} />
    ),
  );
}

const mirror = 'matrix(-1 0 0 1 64 0)';

function Moving({ part }: { readonly part: Part }) {
  return (
    <g
      {...(part.motion === undefined ? {} : { className: styles[part.motion] ?? '' })}
      {...(part.isMirrored ? { transform: mirror } : {})}
    >
      <Shapes shapes={part.shapes} />
    </g>
  );
}

function Shape({ outline: { ink, d, width } }: { readonly outline: Outline }) {
  return width === undefined ? (
    <path className={styles[ink === 'body' ? 'area' : 'hole'] ?? ''} d={d} />
  ) : (
    <path className={styles[ink === 'body' ? 'line' : 'cut'] ?? ''} strokeWidth={width} d={d} />
  );
}
