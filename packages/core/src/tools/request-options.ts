import { findJsonDefect, type JsonValue } from '../base/json.ts';
import {
  findInvalidOption,
  isFlag,
  isFunction,
  isListOfText,
  isNonEmptyText,
  isOneOf,
  isPositive,
  isPositiveOrNone,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { StateSchema } from '../session/state-types.ts';
import { ToolFailure } from './errors.ts';
import type { ToolContext } from './tool-context.ts';

/**
 * The outcome of a request when its time is over: it counts as rejected, goes to others, or is
 * answered by a value.
 */
export type OnExpire = 'reject' | 'escalate' | { readonly default: JsonValue };

/** Options of a request to a person. */
export interface RequestOptions<Args = unknown, Schema extends StateSchema = StateSchema> {
  /** One line that describes the task. @default the tool's name with its arguments */
  readonly summary?: (ctx: ToolContext<Args, Schema>) => string;
  /** More that people are shown. @default the arguments */
  readonly details?: (ctx: ToolContext<Args, Schema>) => JsonValue;
  /**
   * Milliseconds in which it can be answered, or `false` for no end.
   * @default `defaults.approvalExpiresInMs` of the runtime, else 1_800_000 (30 minutes), for
   * approvals; `defaults.inputExpiresInMs`, else 2_592_000_000 (30 days), for input
   */
  readonly expiresInMs?: number | false;
  /** @default 'reject' */
  readonly onExpire?: OnExpire;
  /** People who may answer after an escalation; needed for `onExpire: 'escalate'`. */
  readonly escalateTo?: readonly string[];
  /**
   * People who may answer, as in `by` of the answer: `user:ann`, `operator:cfo`; a name without a
   * kind is that of a user.
   * @default anybody
   */
  readonly mayDecide?: readonly string[] | ((ctx: ToolContext<Args, Schema>) => readonly string[]);
}

/** Options of an approval before a tool runs. */
export interface ApprovalOptions<Args = unknown, Schema extends StateSchema = StateSchema>
  extends RequestOptions<Args, Schema> {
  /** Tells if this call needs approval. @default every call does */
  readonly when?: (ctx: ToolContext<Args, Schema>) => boolean | Promise<boolean>;
  /** True when the arguments may be edited before the tool runs. @default true */
  readonly allowEdit?: boolean;
  /**
   * Milliseconds within which an approval must be used; later it is asked again. @default
   * 86_400_000 (24 hours)
   */
  readonly useWithinMs?: number;
}

/** Checks the outcome of a request when its time is over. */
export const isOnExpire: OptionCheck = (value) => {
  const { default: given, ...rest } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as { default?: unknown };
  const isDefault =
    given !== undefined && findJsonDefect(given) === undefined && Object.keys(rest).length === 0;
  return isDefault
    ? undefined
    : isOneOf('reject', 'escalate')(value) && "'reject', 'escalate' or { default: a JSON value }";
};

const isListOfPeople: OptionCheck = (value) =>
  isListOfText(value) === undefined && (value as string[]).length > 0
    ? undefined
    : 'a list of at least one id';
/** Checks a list of people. An empty one would be a question that no person can answer. */
const isPeople: OptionCheck = (value) =>
  typeof value === 'function' || isListOfPeople(value) === undefined
    ? undefined
    : 'a list of at least one id, or a function that gives one';

const requestChecks: OptionChecks<RequestOptions> = {
  summary: isFunction,
  details: isFunction,
  expiresInMs: isPositiveOrNone,
  onExpire: isOnExpire,
  escalateTo: isListOfPeople,
  mayDecide: isPeople,
};

/**
 * Checks `onExpire` of an approval. A reader who takes `{ default: … }` for anything else than
 * these would have approved by mistake.
 */
export const isApprovalOnExpire: OptionCheck = (value) => {
  const { default: given } = (typeof value === 'object' && value !== null ? value : {}) as {
    default?: unknown;
  };
  const isDecision = given === undefined || given === 'approve' || given === 'reject';
  return isDecision
    ? isOnExpire(value)
    : "'reject', 'escalate', { default: 'approve' } or { default: 'reject' }";
};

const approvalChecks: OptionChecks<ApprovalOptions> = {
  ...requestChecks,
  onExpire: isApprovalOnExpire,
  when: isFunction,
  allowEdit: isFlag,
  useWithinMs: isPositive,
};

/** Checks the options of a request; `true` stands for an approval of every call. */
export const isApproval: OptionCheck = (value) =>
  value === true ? undefined : withinRequest(value, approvalChecks);
export const isRequest: OptionCheck = (value) => withinRequest(value, requestChecks);

function withinRequest<Options>(value: unknown, checks: OptionChecks<Options>): string | undefined {
  const invalid = findInvalidOption(value, checks)?.within;
  if (invalid !== undefined) return invalid;
  const { onExpire, escalateTo = [] } = value as RequestOptions;
  return onExpire === 'escalate' && escalateTo.length === 0
    ? 'an object that says with `escalateTo` to whom it escalates'
    : undefined;
}

/** An operation that goes on elsewhere after the tool has returned. */
export interface PendingOperationOptions {
  /**
   * Id for the process that brings the result:
   * `app.requests.settleOperation(operationId, result)`. Unique within tenant and app.
   */
  readonly operationId: string;
  /** One line that describes the awaited result. */
  readonly summary?: string;
  readonly details?: JsonValue;
  /** Milliseconds in which the result must come. @default no end */
  readonly expiresInMs?: number;
  /**
   * The result of the call when it does not come: 'reject' settles it as of unknown outcome.
   * @default 'reject'
   */
  readonly onExpire?: Exclude<OnExpire, 'escalate'>;
}

const pendingChecks: OptionChecks<PendingOperationOptions> = {
  operationId: isNonEmptyText,
  summary: isNonEmptyText,
  details: (value) => (findJsonDefect(value) === undefined ? undefined : 'JSON'),
  expiresInMs: isPositive,
  onExpire: isOnExpire,
};

/** The value that `execute` returns when its result comes later. */
export class PendingOperation {
  readonly options: PendingOperationOptions;

  constructor(options: PendingOperationOptions) {
    this.options = options;
  }
}

/**
 * Returns the value for `execute` when the tool has only begun something: the call waits for the
 * result, in whatever process it arrives.
 * @throws ToolFailure when the options do not fit: the call is then of unknown outcome, since the
 * operation may have begun
 */
export function pending(options: PendingOperationOptions): PendingOperation {
  const invalid = findInvalidOption(options, pendingChecks);
  if (invalid !== undefined || options.operationId === undefined) {
    const message = `pending() cannot be used: ${invalid?.reason ?? '`operationId` is missing'}.`;
    throw new ToolFailure(message, { errorType: 'invalid_pending', effect: 'unknown' });
  }
  return new PendingOperation(Object.freeze({ ...options }));
}
