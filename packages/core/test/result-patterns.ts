import type { EventOf } from 'adjutant';
import { expect } from 'vitest';

const isClosing = (note: unknown): boolean => String(note).includes('This way is closed');

/** A failure that is final, with notes for the model that fit. */
function failedWith(what: string, fits: (notes: readonly unknown[]) => boolean): object {
  const satisfies = ({ settled, result, notes = [] }: EventOf<'tool_result'>): boolean =>
    settled && result.errorType !== undefined && result.errorType !== 'loop_blocked' && fits(notes);
  return expect.toSatisfy(satisfies, what) as object;
}

/** Patterns of tool results after a decision of the supervision; for `toMatchObject`. */
export const hinted = failedWith(
  'a failure with a hint',
  (notes) => notes.length > 0 && !notes.some(isClosing),
);
export const closed = failedWith('a failure with the note that this way is closed', (notes) =>
  notes.some(isClosing),
);
export const plain = failedWith(
  'a failure that nothing is said about',
  (notes) => notes.length === 0,
);
export const vetoed = { settled: true, result: { errorType: 'loop_blocked' } };
export const succeeded = { settled: true, result: { status: 'success' } };
export const againAfter = (retryAfterMs: number) => ({ settled: false, retryAfterMs });
export const thenTool = (fallback: string) => ({ settled: false, fallback });
