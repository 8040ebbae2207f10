import type { AdjutantError } from '../base/error.ts';
import { findJsonDefect, type JsonValue } from '../base/json.ts';
import { NotJsonError, RequestNotFoundError, RequestSettledError } from '../ledger/errors.ts';
import type { EventOf, RequestKind } from '../ledger/event.ts';
import { pendingRequestOf } from '../ledger/folds/request-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RequestDraft } from '../ledger/port.ts';
import { type Answer, postAnswer } from './answer.ts';

/** Rejects when an answer does not fit its request. */
export type CheckAnswer = (request: RequestDraft, answer: Answer) => Promise<void>;

/** Answers that were given through one session object, on their way to the store. */
export class SessionAnswers {
  readonly #ledger: Ledger;
  readonly #check: CheckAnswer;
  readonly #posts: Promise<void>[] = [];

  constructor(ledger: Ledger, check: CheckAnswer) {
    this.#ledger = ledger;
    this.#check = check;
  }

  /**
   * Posts an answer to the pending request of a call.
   * @param kinds kinds of requests that the answer fits
   * @throws RequestNotFoundError, RequestSettledError, NotJsonError
   */
  give(callId: string, kinds: readonly RequestKind[], input: JsonValue): void {
    const ledger = this.#ledger;
    const request = [...ledger.requests.values()].find(
      (pending) => pending.callId === callId && kinds.includes(pending.kind),
    );
    if (request === undefined) throw this.#notPending(callId, kinds);
    const { requestId } = request;
    if (ledger.accepted.has(requestId))
      throw new RequestSettledError({ requestId, status: 'answered' });
    const defect = findJsonDefect(input);
    if (defect !== undefined)
      throw new NotJsonError({ what: `The input for "${callId}"`, ...defect });
    ledger.accepted.add(requestId);
    const posting = this.#post(request, { decision: 'answer', input, by: 'user' });
    this.#posts.push(posting);
    posting.catch(() => ledger.accepted.delete(requestId));
  }

  async #post(request: EventOf<'tool_yield'>, answer: Answer): Promise<void> {
    const ledger = this.#ledger;
    // The request may still be on its way to the store.
    await ledger.durable();
    await this.#check(pendingRequestOf(request, ledger.session, ledger.user), answer);
    await postAnswer(ledger, request.requestId, answer);
  }

  /** Makes the error of an answer to a call without a pending request. */
  #notPending(callId: string, kinds: readonly RequestKind[]): AdjutantError {
    const { events } = this.#ledger;
    const asked = events.findLast(
      (event) =>
        event.type === 'tool_yield' && event.callId === callId && kinds.includes(event.kind),
    );
    if (asked?.type !== 'tool_yield') return new RequestNotFoundError({ requestId: callId });
    const { requestId } = asked;
    const answer = events.findLast(
      (event) => event.type === 'tool_input' && event.requestId === requestId,
    );
    if (answer?.type !== 'tool_input')
      return new RequestSettledError({ requestId, status: 'cancelled' });
    return new RequestSettledError({
      requestId,
      status: answer.decision === 'expire' ? 'expired' : 'answered',
      by: answer.by,
    });
  }

  /** Resolves when the given answers are stored; false when there were none. */
  async posted(): Promise<boolean> {
    const posts = this.#posts.splice(0);
    await Promise.all(posts);
    return posts.length > 0;
  }
}
