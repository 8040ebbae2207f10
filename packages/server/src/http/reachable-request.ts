import { isAdjutantError, type RequestEntry } from 'adjutant';
import { RequestNotFoundError } from 'adjutant/errors';
import { type Asking, reachableSession } from './reachable.ts';

/**
 * A request that the caller may know of: of a session in its reach.
 * @throws RequestNotFoundError also for requests that are out of reach: they are not there
 */
export async function reachableRequest(input: Asking, requestId: string): Promise<RequestEntry> {
  const entry = await input.app.requests.get(requestId);
  if (await isRequestInReach(input, entry)) return entry;
  throw new RequestNotFoundError({ requestId });
}

/** True when the caller may know of a request of its tenant. */
export async function isRequestInReach(
  input: Asking,
  { session, user }: Pick<RequestEntry, 'session' | 'user'>,
): Promise<boolean> {
  const { principal } = input;
  if (principal.user !== undefined && user !== principal.user) return false;
  if (principal.user === undefined && principal.agents === undefined) return true;
  try {
    await reachableSession(input, session);
    return true;
  } catch (error) {
    if (isAdjutantError(error, 'session_not_found')) return false;
    throw error;
  }
}
