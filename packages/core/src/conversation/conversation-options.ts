import { checkOptions } from '../base/invalid-option.ts';
import {
  isAnything,
  isCount,
  isFlag,
  isFunction,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { RunOptions } from '../engine/frame/run-options.ts';
import type { Run, RunResult } from '../engine/run/run.ts';
import type { PendingRequest } from '../session/pending-request.ts';
import type { Session } from '../session/session.ts';
import type { TranscriptEntry } from '../views/transcript.ts';
import type { GivenAnswer, User } from './user.ts';

export interface ConverseOptions extends Omit<RunOptions, 'runId' | 'lane' | 'model'> {
  /** The user: answers the requests of the run and gives the next message. */
  readonly user: User;
  /**
   * Names the conversation within the session. Called again with the same name it goes on where the
   * ledger stands: nothing is said or answered twice. Another name begins another conversation on
   * the same session.
   * @default 'conversation'
   */
  readonly conversation?: string;
  /**
   * Messages of the conversation in all, `input` included. @default 100, or what the user allows if
   * that is less
   */
  readonly maxTurns?: number;
  /** Answers to requests that are given in one call of `converse`. @default 1_000 */
  readonly maxAnswers?: number;
  /**
   * True when the user is asked for a message after a run has ended. A new run of the runnable
   * begins with it.
   * @default true for agents
   */
  readonly followUps?: boolean;
  /**
   * Told of each run as it begins, so that it can be stopped: the drive then rejects with
   * `RunStoppedError`, and goes on when it is called again.
   */
  readonly onRun?: (run: Run) => void;
}

/**
 * The reason for the end of a conversation. `completed`: the last run has ended and the user says
 * no more. `user_done`: the user ended it, or is silent while a loop waits. `max_turns`: the user
 * may say no more. `stuck`: the run waits for a request that this user does not answer. `error` and
 * `cancelled` are those of the last run.
 */
export type ConversationEnd =
  | 'completed'
  | 'user_done'
  | 'max_turns'
  | 'stuck'
  | 'error'
  | 'cancelled';

export interface ConversationResult<Output = unknown> {
  readonly session: Session;
  readonly ended: ConversationEnd;
  /**
   * The reason in words, where there is more to say: the text of the user, or the requests that
   * wait.
   */
  readonly reason: string | undefined;
  /** Status of the last run; missing when nothing was run. */
  readonly status: RunResult['status'] | undefined;
  readonly output: Output | undefined;
  /** The last run. */
  readonly result: RunResult<Output> | undefined;
  /** The last state of each run that was carried out or looked at, in order. */
  readonly results: readonly RunResult<Output>[];
  /** Messages of the conversation so far, also those of other processes. */
  readonly turns: number;
  /** Answers that were given in this call. */
  readonly answers: readonly GivenAnswer[];
  /** The calls that still wait for a person. */
  readonly pendingCalls: readonly PendingRequest[];
  readonly transcript: readonly TranscriptEntry[];
}

const isUser: OptionCheck = (value) => {
  const { ids, answer, message } = (value ?? {}) as Partial<User>;
  const isPort =
    Array.isArray(ids) &&
    ids.length > 0 &&
    typeof answer === 'function' &&
    typeof message === 'function';
  return isPort
    ? undefined
    : 'a user, such as scriptedUser({ … }), with `ids`, `answer` and `message`';
};
const isConversation: OptionCheck = (value) =>
  typeof value === 'string' && /^[^/#~>\p{Cc}]{1,100}$/u.test(value)
    ? undefined
    : 'a name of 1 to 100 characters, none of them / # ~ >';

const checks: OptionChecks<ConverseOptions> = {
  user: isUser,
  conversation: isConversation,
  maxTurns: isCount,
  maxAnswers: isCount,
  followUps: isFlag,
  onRun: isFunction,
  // These are what a run takes, and are checked by it.
  input: isAnything,
  data: isAnything,
  session: isAnything,
  timeoutMs: isAnything,
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
  onStream: isFunction,
  onStep: isFunction,
  limits: isObject,
  permissions: isAnything,
};

/** @throws InvalidOptionError */
export function checkConverse(options: ConverseOptions): void {
  // A missing user is no option that may be left out.
  checkOptions(
    'converse',
    typeof options === 'object' && options !== null
      ? { ...options, user: options.user ?? null }
      : options,
    checks,
  );
}
