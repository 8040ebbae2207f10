import type { Clock } from '../base/clock.ts';
import { contentHash } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import type { Actor, RequestDecision } from './event.ts';
import type { LedgerStore, PostReceipt } from './port.ts';

/** What somebody says to a request. */
export interface Answer {
  readonly decision?: RequestDecision;
  /** The input, the edited arguments, or the result. */
  readonly input?: JsonValue;
  readonly reason?: string;
  readonly by: Actor;
}

/**
 * Posts an answer. Of all answers, expiries and cancels one wins; whoever works on the session takes it in.
 * @throws RequestNotFoundError, RequestSettledError, SessionNotFoundError
 */
export function postAnswer(
  { session, ports }: { readonly session: string; readonly ports: { readonly store: LedgerStore; readonly clock: Clock } },
  requestId: string,
  { decision, input, reason, by }: Answer,
): Promise<PostReceipt> {
  const said = contentHash([by, decision ?? null, input ?? null, reason ?? null]);
  return ports.store.post(session, {
    // The same answer sent twice is one; another answer is too late.
    key: `answer:${requestId}:${said}`,
    lane: 'input',
    by,
    at: ports.clock.now(),
    type: 'tool_input',
    settles: requestId,
    data: {
      requestId,
      ...(decision === undefined ? {} : { decision }),
      ...(input === undefined ? {} : { input }),
      ...(reason === undefined ? {} : { reason }),
    },
  });
}
