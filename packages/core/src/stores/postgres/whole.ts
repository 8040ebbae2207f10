/** Returns a number as PostgreSQL takes whole ones: infinity becomes the largest. */
export function storedWhole(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(value)));
}
