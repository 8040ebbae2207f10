/**
 * Outcome of telling the app of a request.
 * - `told`: the app knows of it.
 * - `failed`: it is to be told again.
 * - `skipped`: it is being told already, or is gone.
 */
export type ToldOutcome = 'told' | 'failed' | 'skipped';

/** Part of an app that tells of the requests of its runs. */
export interface TellsRequests {
  /** Tells the app of a request, unless it is being told already. Never rejects. */
  tell(session: string, requestId: string): Promise<ToldOutcome>;
  /** Leaves the note that it was told in the inbox of a session that is not held here. */
  note(session: string, requestId: string): Promise<void>;
}
