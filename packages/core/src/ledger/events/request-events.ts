import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

/**
 * Subject of a request:
 * - `approval`: permission to run a call,
 * - `repeat`: permission to repeat a call that may have taken effect,
 * - `input`: input for a tool,
 * - `result`: the result of an operation that runs elsewhere,
 * - `recovery`: the true outcome of an attempt whose outcome is unknown,
 * - `limit`: the decision to go on or to stop at a limit.
 */
export type RequestKind = 'approval' | 'input' | 'result' | 'recovery' | 'repeat' | 'limit';

/** Answer to a request. `expire` and `cancel` come from the runtime. */
export type RequestDecision =
  | 'approve'
  | 'edit'
  | 'reject'
  | 'expire'
  | 'escalate'
  | 'cancel'
  | 'succeeded'
  | 'retry'
  | 'report'
  | 'continue'
  | 'answer';

/** Details of a request for the people who answer it. */
export interface RequestDetails extends JsonObject {
  readonly agent: string;
  /** One line about the action in question. */
  readonly summary: string;
  readonly options: readonly RequestDecision[];
  readonly details?: JsonValue;
  /** True when the arguments may be edited. */
  readonly allowEdit?: boolean;
  /** True when the tool is destructive: no standing approval covers its calls. */
  readonly destructive?: boolean;
  /** JSON Schema of the input, or of the arguments that may be edited. */
  readonly inputSchema?: JsonObject;
  /** Ids of the actors that may answer. */
  readonly mayDecide?: readonly string[];
  /** Outcome of the request when its time is over. */
  readonly onExpire?: 'reject' | 'escalate' | { readonly default: JsonValue };
  /** Ids of the actors that may answer after an escalation. */
  readonly escalateTo?: readonly string[];
  /** Milliseconds that the request may wait for an answer, also after an escalation. */
  readonly expiresIn?: number;
  /** Milliseconds within which an approval must be used. */
  readonly useWithin?: number;
  /** Id of the operation whose result is awaited. */
  readonly operationId?: string;
}

export interface ToolYieldEvent extends Envelope<'tool_yield'> {
  readonly callId: string;
  readonly name: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  readonly kind: RequestKind;
  /** Id that is the same for the same question in the same ledger, in any process. */
  readonly requestId: string;
  /** Number of the question about its call, from 1. */
  readonly generation: number;
  /** Hash of the tool, its version and schemas, and the prepared arguments. */
  readonly fingerprint: string;
  readonly request: RequestDetails;
  /** Attempt that the question is about; missing when there was none. */
  readonly attempt?: number;
  readonly expiresAt?: number;
}

export interface ToolInputEvent extends Envelope<'tool_input'> {
  readonly callId: string;
  readonly requestId: string;
  /** Missing when the answer is the input that was asked for. */
  readonly decision?: RequestDecision;
  /** The given input, edited arguments or result. */
  readonly input?: JsonValue;
  readonly reason?: string;
  /** Message of the user that was read as the input; missing for answers to the request itself. */
  readonly text?: string;
  /** Epoch milliseconds of the answer; missing when the runtime itself answered. */
  readonly answeredAt?: number;
  /** Key of the message that was taken as this answer: it counts once under it. */
  readonly clientKey?: string;
}
