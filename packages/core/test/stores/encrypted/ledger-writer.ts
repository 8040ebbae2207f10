import type { Event } from 'adjutant';
import { isAdjutantError } from 'adjutant';
import type { Batch, LedgerStore } from 'adjutant/store';

let count = 0;

/** Events of users that follow `after`. */
export function messages(after: number, texts: readonly string[]): readonly Event[] {
  return texts.map((text, i) => ({
    v: 1,
    seq: after + i + 1,
    id: `event${++count}`,
    at: 1_790_000_000_000,
    type: 'user',
    by: 'user:42',
    text,
  }));
}

/** Takes a session over and appends one event for each text. */
export async function write(
  ledgers: LedgerStore,
  session: string,
  texts: readonly string[],
  rest: Omit<Batch, 'events'> = {},
): Promise<number> {
  const { seq, epoch } = await ledgers.claim(session, 'writer', { ttlMs: 60_000, force: true });
  return (await ledgers.append(session, { seq, epoch }, { events: messages(seq, texts), ...rest }))
    .seq;
}

/** The code of the error that a promise rejects with, and what it says; or that it did not. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await promise;
  } catch (error) {
    if (isAdjutantError(error)) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'none', message: '' };
}
