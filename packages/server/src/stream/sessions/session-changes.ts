import { isAdjutantError, type SessionListing } from 'adjutant';
import { defined } from 'adjutant/text';
import type { ServerParts } from '../../http/parts.ts';
import { type Asking, isReachable } from '../../http/reachable.ts';
import type { SentFrame } from '../frame.ts';
import { type StreamRequest, sentEvents } from '../stream-response.ts';
import { toldChanges } from '../watches/told-changes.ts';

/** Says that changes are told from now on: a list that is read after it misses none. */
const begun: SentFrame = { event: 'begun', data: {} };

/**
 * Answers with a stream of the sessions of the caller's tenant that change: the frame `begun`, then
 * for each change the frame `changed`, without what has happened.
 * @throws RequestRefusedError `too_many_streams` (429)
 */
export function sessionChangesResponse(parts: ServerParts, input: StreamRequest): Response {
  const { app, principal } = input;
  const told = {
    watches: parts.sessionWatches,
    app,
    nameOf: ({ id }: SessionListing) => id,
    begun: () => [begun],
    framesOf: (changes: Iterable<SessionListing>) => framesOf({ app, principal }, changes),
  };
  return sentEvents(parts, input, (encoding, signal) => toldChanges(told, encoding, signal));
}

async function framesOf(
  input: Asking,
  changes: Iterable<SessionListing>,
): Promise<readonly SentFrame[]> {
  const frames: SentFrame[] = [];
  for (const listing of changes) {
    if (!(await isInReach(input, listing))) continue;
    const { id, seq, status, runnable, title } = listing;
    const data = { session: id, seq, status, ...defined({ agent: runnable, title }) };
    frames.push({ event: 'changed', data });
  }
  return frames;
}

async function isInReach(input: Asking, listing: SessionListing): Promise<boolean> {
  try {
    return await isReachable(input, listing);
  } catch (error) {
    // It was deleted in between.
    if (isAdjutantError(error, 'session_not_found')) return false;
    throw error;
  }
}
