import { normalBelow, studentBelow } from './distributions.ts';

const halvings = 200;

/** Where a growing function reaches `wanted`. */
function whereReached(
  wanted: number,
  grows: (x: number) => number,
  from: number,
  to: number,
): number {
  let low = from;
  let high = to;
  for (let i = 0; i < halvings && high - low > 1e-13 * Math.max(1, Math.abs(low)); i++) {
    const middle = (low + high) / 2;
    if (grows(middle) < wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The value that a standard normal value is below with the chance `share`. */
export function normalQuantile(share: number): number {
  return whereReached(share, normalBelow, -8, 8);
}

/**
 * The value that a value of Student's distribution is below with the chance `share`, which is at
 * least a half.
 */
export function studentQuantile(share: number, freedom: number): number {
  let high = 1;
  while (studentBelow(high, freedom) < share && high < 1e12) high *= 2;
  return whereReached(share, (t) => studentBelow(t, freedom), 0, high);
}
