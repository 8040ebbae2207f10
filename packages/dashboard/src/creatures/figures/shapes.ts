/** How a part moves while its creature works. */
export type Motion = 'sway' | 'counter' | 'turn' | 'fast';

/**
 * Path on a grid of 64 units: in the colour of the body, or cut out of it. With a width it is a
 * line, without one an area.
 */
export interface Outline {
  readonly ink: 'body' | 'cut';
  readonly d: string;
  readonly width?: number;
}

/** Shapes that move together, or that are drawn mirrored at the middle. */
export interface Part {
  readonly shapes: Figure;
  readonly motion?: Motion;
  readonly isMirrored?: boolean;
}

/** Drawing of a creature, from the back to the front. */
export type Figure = readonly (Outline | Part)[];

export function area(d: string): Outline {
  return { ink: 'body', d };
}

export function line(d: string, width = 4): Outline {
  return { ink: 'body', d, width };
}

/** A line that is cut out. */
export function cut(d: string, width = 2): Outline {
  return { ink: 'cut', d, width };
}

/** An area that is cut out. */
export function hole(d: string): Outline {
  return { ink: 'cut', d };
}

export function dot(x: number, y: number, radius: number): Outline {
  return area(round(x, y, radius, radius));
}

export function oval(x: number, y: number, across: number, along: number): Outline {
  return area(round(x, y, across, along));
}

export function eye(x: number, y: number, radius = 2.2): Outline {
  return hole(round(x, y, radius, radius));
}

export function ring(x: number, y: number, radius: number, width: number): Outline {
  return line(round(x, y, radius, radius), width);
}

export function box(x: number, y: number, width: number, height: number, corner: number): Outline {
  return area(rectangle(x, y, width, height, corner));
}

/** Dots around a point: a mane. */
export function mane(x: number, y: number, radius: number, size: number, many = 12): Figure {
  return Array.from({ length: many }, (_, i) => {
    const angle = (i * 2 * Math.PI) / many;
    return dot(tenth(x + radius * Math.cos(angle)), tenth(y + radius * Math.sin(angle)), size);
  });
}

export function moving(motion: Motion, ...shapes: Figure): Part {
  return { shapes, motion };
}

/** Shapes and their mirror image; with `motion` both move, against each other. */
export function both(...shapes: Figure): Figure {
  return [{ shapes }, { shapes, isMirrored: true }];
}

/** Wings, arms and legs on both sides that move against each other. */
export function bothMoving(...shapes: Figure): Figure {
  return [
    { shapes, motion: 'sway' },
    { shapes: [{ shapes, isMirrored: true }], motion: 'counter' },
  ];
}

export function round(x: number, y: number, across: number, along: number): string {
  return (
    `M${x - across} ${y}a${across} ${along} 0 1 0 ${2 * across} 0` +
    `a${across} ${along} 0 1 0 ${-2 * across} 0Z`
  );
}

function rectangle(x: number, y: number, width: number, height: number, r: number): string {
  return (
    `M${x + r} ${y}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - 2 * r}q0 ${r} ${-r} ${r}` +
    `h${2 * r - width}q${-r} 0 ${-r} ${-r}v${2 * r - height}q0 ${-r} ${r} ${-r}Z`
  );
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
