import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import { namesOf } from '../../ledger/actor.ts';

/**
 * An answer that fits no request: an option that does not exist, or an actor that cannot answer.
 */
export class InvalidAnswerError extends AdjutantError {
  constructor({
    refused = 'This is no answer to a request',
    reason,
  }: { refused?: string; reason: string }) {
    super('invalid_answer', `${refused}: ${reason}.`, { reason });
  }
}

/** A decision that is not among the options of the request. The request is still pending. */
export class DecisionNotOfferedError extends AdjutantError {
  constructor(data: { requestId: string; decision: string; options: readonly string[] }) {
    super(
      'decision_not_offered',
      `Request "${data.requestId}" cannot be answered with '${data.decision}'. ` +
        `Choose one of ${data.options.map((option) => `'${option}'`).join(', ')}.`,
      data,
    );
  }
}

/** An actor answered that is not among those who may. The request is still pending. */
export class MayNotDecideError extends AdjutantError {
  constructor(data: { requestId: string; by: string; mayDecide: readonly string[] }) {
    super(
      'may_not_decide',
      `${data.by} may not answer request "${data.requestId}": only ${namesOf(data.mayDecide)} may.`,
      data,
    );
  }
}

/**
 * An input that does not fit the request. The request is still pending. Neither message nor data
 * contain any of the values.
 */
export class InputMismatchError extends AdjutantError {
  constructor(data: { requestId: string; name: string; reason: string }) {
    super(
      'input_mismatch',
      `The answer to request "${data.requestId}" (${data.name}) is not taken: ${data.reason}.`,
      data,
    );
  }
}

/** Several awaited operations have one id, so the result cannot be matched to one of them. */
export class OperationAmbiguousError extends AdjutantError {
  constructor(data: { operationId: string; requestIds: readonly string[] }) {
    super(
      'operation_ambiguous',
      `Several calls wait for the operation "${data.operationId}" ` +
        `(requests ${data.requestIds.join(', ')}). ` +
        'Answer one of them by its request id, and give operations ids of their own.',
      data,
    );
  }
}

/**
 * Reason why a token is refused.
 * - `malformed`: the text is no token.
 * - `unknown_key`: its key is not known here, or not any more.
 * - `forged`: it was altered, or never signed.
 * - `expired`: its time is over.
 * - `unknown_request`: its request does not exist here.
 * - `changed`: the call has another request now.
 * - `already_used`: its request is settled.
 * - `not_signed_for`: it is for other decisions or another actor.
 */
export type TokenRefusal =
  | 'malformed'
  | 'unknown_key'
  | 'forged'
  | 'expired'
  | 'unknown_request'
  | 'changed'
  | 'already_used'
  | 'not_signed_for';

const refusals: Readonly<Record<TokenRefusal, string>> = {
  malformed: 'it is not a token',
  unknown_key: 'the key that it was signed with is not known',
  forged: 'its signature does not fit',
  expired: 'its time is over',
  unknown_request: 'there is no such request',
  changed: 'what it was made for is asked anew',
  already_used: 'the request has been settled',
  not_signed_for: 'it was not made for this',
};

/** A token that was refused and decides nothing. */
export class ApprovalTokenError extends AdjutantError {
  readonly reason: TokenRefusal;

  constructor(data: { reason: TokenRefusal; requestId?: string }) {
    super('approval_token', `The token is refused: ${refusals[data.reason]}.`, data as JsonObject);
    this.reason = data.reason;
  }
}
