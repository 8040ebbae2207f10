import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isCount,
  isFlag,
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  isOneOf,
  isPositive,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { Actor, Event, StreamEvent } from '../../ledger/event.ts';
import { isLane } from '../../ledger/folds/lanes.ts';
import { wrongName } from '../../models/named-model.ts';
import { type ForkEdit, isForkEdit } from '../../session/fork-edit.ts';
import { anyRunnable, type Runnable } from '../../session/runnable.ts';
import { type AnySession, Session } from '../../session/session.ts';
import type { ScopeIds } from '../../session/shared-state.ts';
import type { StateSchema } from '../../session/state-types.ts';
import type { ForkScopes } from '../../session/time-travel-fork.ts';
import type { ConsumptionLimits } from '../../supervision/limits.ts';
import { isListOfGrants } from '../../supervision/permission.ts';
import { InvalidRunError } from './errors.ts';
import { isOutsider } from './outsider.ts';

/** Called with the events that a round of an agent, or another invocation, added to the ledger. */
export type OnStep = (
  events: readonly Event[],
  session: Session,
  runnable: Runnable,
) => void | Promise<void>;

/** Limits of a whole run with everything in it. */
export interface RunLimits {
  /** Answered model calls. @default none */
  readonly rounds?: number;
  /** Input and output tokens. @default none */
  readonly tokens?: number;
  /** US dollars. @default none */
  readonly cost?: number;
  /** Failed attempts of tools and of model calls. @default none */
  readonly errors?: number;
  /**
   * Calls, spawns, dispatches and handoffs that may follow each other from the root down, from 1 to
   * 5.
   * @default 5
   */
  readonly depth?: number;
  /** Milliseconds of active time. @default 600_000 */
  readonly timeoutMs?: number;
}

export interface ResolvedRunLimits extends ConsumptionLimits {
  readonly depth: number;
  /** Limits that were set for this run and not for all. */
  readonly own?: RunLimits | undefined;
}

/** Limits of the runs of an app. */
export interface RuntimeLimits extends RunLimits {
  /**
   * Runs of one user (the session's `user` scope) that may wait for answers or messages at a time;
   * one more is cancelled. @default 10
   */
  readonly waitingRunsPerUser?: number;
  /** The same for all sessions without a `user` scope together. @default none */
  readonly waitingRunsWithoutUser?: number;
}

export interface RunOptions {
  readonly input?: string;
  /**
   * Data that the runnable is started with, besides the input. It is checked against the `input` of
   * an agent. It is not allowed for a run that is open already.
   */
  readonly data?: JsonValue;
  /**
   * Session or its id.
   * @default a new session
   */
  readonly session?: AnySession | string;
  /** Name of the run. A named run is started once, however often its start is asked for. */
  readonly runId?: string;
  /**
   * Lane of the session, such as `background`. Each lane has one open run at most.
   * @default the default lane, which has no name
   */
  readonly lane?: string;
  /**
   * Name of the model that answers in the place of the agent's own, such as `openai:gpt-5-mini`. It
   * is recorded: whichever process goes on with the run asks the same one. Other agents of the run
   * keep theirs. It is not allowed for a run that is open already.
   * @default the model of the agent
   */
  readonly model?: string;
  /** Milliseconds of active time. @default that of the runtime */
  readonly timeoutMs?: number;
  /** Signal that cancels the run. `run.stop()` releases the run without ending it. */
  readonly signal?: AbortSignal;
  /** Called with each event as it happens. */
  readonly onStream?: (event: StreamEvent) => void;
  /** Called after each round of an agent and after each other invocation; the run waits for it. */
  readonly onStep?: OnStep;
  readonly limits?: Omit<RunLimits, 'timeoutMs'>;
  /**
   * Permissions of this run besides those of the app and the session, such as `fs:write` or `fs:*`.
   * They end with the run.
   * @default nothing
   */
  readonly permissions?: readonly string[];
}

export interface SessionOptions<Schema extends StateSchema = StateSchema> {
  /**
   * Id of the session.
   * @default a new one
   */
  readonly id?: string;
  /** Ids of the shared scopes, by scope name: `{ user: 'user-456', patient: 'patient-789' }`. */
  readonly scopes?: ScopeIds;
  /** Shorthand of `scopes.user`. */
  readonly userId?: string;
  /** Schema that types and checks the session's state. */
  readonly stateSchema?: Schema;
  /**
   * Behavior for an id that is in use: `open` returns that session, `fail` throws an error.
   * @default 'open'
   */
  readonly existing?: 'open' | 'fail';
  /**
   * True when opening the session records the changes of other sessions in the shared scopes.
   * `false` is for only looking at it.
   * @default true
   */
  readonly observe?: boolean;
  /**
   * Permissions of the runs of the session besides those of the app. They are recorded and stay
   * until `revoke` takes them back.
   * @default nothing
   */
  readonly permissions?: readonly string[];
}

export interface ForkOptions {
  /**
   * `seq` of the last event that the fork shares. Inside an answer of a model, which is one append,
   * it is the end of that answer.
   * @default the last one
   */
  readonly at?: number;
  /** Id of the fork. @default a new one */
  readonly id?: string;
  /**
   * Behavior of shared scopes. `isolated`: the fork reads the values that the shared part has seen
   * last, and keeps its writes to itself. `live`: the fork takes part in them like any other
   * session.
   * @default 'isolated'
   */
  readonly shared?: ForkScopes;
  /**
   * Actor that makes the fork, as recorded in the ledger: `user:ann`.
   * @default 'operator'
   */
  readonly by?: Actor;
  /**
   * Changes with which the fork begins: another state, other instructions of an agent, another text
   * of the last message of the user. They are recorded in the fork, together with it.
   * @default none
   */
  readonly edit?: ForkEdit;
}

/** Most calls, spawns, dispatches and handoffs from the root down to one invocation. */
const maxHandoffDepth = 5;

const isDepth: OptionCheck = (value) =>
  isCount(value) === undefined && (value as number) <= maxHandoffDepth
    ? undefined
    : `a whole number from 1 to ${maxHandoffDepth}`;
const usageLimits = {
  rounds: isCount,
  tokens: isPositive,
  cost: isPositive,
  errors: isCount,
  depth: isDepth,
};
/** Checks for the limits of a runtime. */
export const runtimeLimitChecks: OptionChecks<RuntimeLimits> = {
  ...usageLimits,
  timeoutMs: isPositive,
  waitingRunsPerUser: isCount,
  waitingRunsWithoutUser: isCount,
};

const isMessage: OptionCheck = (value) =>
  Array.isArray(value) ? 'a string (messages are text: join the texts of parts)' : isText(value);
const isRunId: OptionCheck = (value) =>
  typeof value === 'string' && value !== '' && !/[/#~>]/.test(value)
    ? undefined
    : 'a string that is not empty and has none of / # ~ >';
const isSessionOrId: OptionCheck = (value) =>
  value instanceof Session || (typeof value === 'string' && value !== '')
    ? undefined
    : 'a session or the id of one';
const isSignal: OptionCheck = (value) =>
  value instanceof AbortSignal ? undefined : 'an AbortSignal';
const isScopeIds: OptionCheck = (value) => {
  const isRecord =
    isObject(value) === undefined &&
    Object.values(value as object).every((id) => isNonEmptyText(id) === undefined);
  if (!isRecord) return 'an object that gives each scope an id';
  const reserved = Object.keys(value as object).find((scope) =>
    ['session', 'temp', 'update', 'refresh'].includes(scope),
  );
  return reserved === undefined
    ? undefined
    : `scopes with names of their own: "${reserved}" is taken`;
};

const runChecks: OptionChecks<RunOptions> = {
  input: isMessage,
  data: (value) => (findJsonDefect(value) === undefined ? undefined : 'JSON'),
  session: isSessionOrId,
  runId: isRunId,
  lane: isLane,
  model: (value) => (typeof value === 'string' ? wrongName(value) : 'the name of a model'),
  timeoutMs: isPositive,
  signal: isSignal,
  onStream: isFunction,
  onStep: isFunction,
  limits: isGroup<Omit<RunLimits, 'timeoutMs'>>(usageLimits),
  permissions: isListOfGrants,
};

const sessionChecks: OptionChecks<SessionOptions> = {
  id: isNonEmptyText,
  scopes: isScopeIds,
  userId: isNonEmptyText,
  stateSchema: isObject,
  existing: isOneOf('open', 'fail'),
  observe: isFlag,
  permissions: isListOfGrants,
};

const forkChecks: OptionChecks<ForkOptions> = {
  // A `seq` that the ledger does not have has an error of its own.
  at: (value) => (typeof value === 'number' ? undefined : 'the seq of an event'),
  id: isNonEmptyText,
  shared: isOneOf('isolated', 'live'),
  by: isOutsider,
  edit: isForkEdit,
};

/**
 * Checks the options of a fork.
 * @throws InvalidRunError
 */
export function checkForkOptions(options: ForkOptions): void {
  const invalid = findInvalidOption(options, forkChecks);
  if (invalid !== undefined)
    throw new InvalidRunError({ refused: 'The session cannot be forked', reason: invalid.reason });
}

type LooseRunLimits = { readonly [Kind in keyof RunLimits]?: RunLimits[Kind] | undefined };

/** Returns the limits of one run: its own, where it has them, else those of its runtime. */
export function resolveRunLimits(
  own: LooseRunLimits | undefined,
  shared: LooseRunLimits = {},
): ResolvedRunLimits {
  return {
    rounds: own?.rounds ?? shared.rounds,
    tokens: own?.tokens ?? shared.tokens,
    cost: own?.cost ?? shared.cost,
    errors: own?.errors ?? shared.errors,
    depth: own?.depth ?? shared.depth ?? maxHandoffDepth,
    own: own as RunLimits | undefined,
  };
}

/**
 * Returns the options of a run that was started with an input, a session or options.
 * @throws InvalidRunError
 */
export function checkedRunOptions(given: string | RunOptions | AnySession): RunOptions {
  if (typeof given === 'string') return { input: given };
  if (given instanceof Session) return { session: given };
  if (Array.isArray(given))
    throw new InvalidRunError({
      reason:
        'a run takes the new message, not a list: the session keeps those before it, ' +
        "app.run(agent, { session: 'ann', input: 'Hello' })",
    });
  const options = given as RunOptions;
  const invalid = findInvalidOption(options, runChecks);
  if (invalid !== undefined) throw new InvalidRunError({ reason: invalid.reason });
  return options;
}

/**
 * Checks that a value is a runnable.
 * @throws InvalidRunError when it is none
 */
export function checkRunnable(value: unknown): void {
  const { kind, name } = (value ?? {}) as { kind?: unknown; name?: unknown };
  if (typeof kind === 'string' && typeof name === 'string') return;
  throw new InvalidRunError({
    reason: `what is to be run must be ${anyRunnable}, not ${describeValue(value)}`,
  });
}

/**
 * Checks the options of a session.
 * @throws InvalidRunError
 */
export function checkSessionOptions(options: SessionOptions): void {
  const invalid = findInvalidOption(options, sessionChecks);
  if (invalid !== undefined)
    throw new InvalidRunError({ refused: 'The session cannot be opened', reason: invalid.reason });
}
