import { findInvalidOption, isOneOf, isPositive, type OptionChecks } from '../../base/options.ts';
import type { Actor } from '../../ledger/event.ts';
import { isLane, laneAt } from '../../ledger/folds/lanes.ts';
import type { PendingRequest } from '../../session/pending-request.ts';
import { InvalidRunError } from '../frame/errors.ts';
import type { TellsRequests } from '../frame/tells-requests.ts';
import { wakeAfter } from './lanes/lane-work.ts';
import type { RunResult } from './run.ts';

export interface AdvanceOptions {
  /**
   * Point at which to stop: the end or wait of the run, or the end of one round. @default 'idle'
   */
  readonly until?: 'idle' | 'round';
  /** Milliseconds after which nothing new begins; work under way is ended. @default no limit */
  readonly sliceMs?: number;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Lane to carry on. @default one that has something to do */
  readonly lane?: string;
}

/** State of the session after `advance`. */
export type Advance =
  | {
      readonly status: 'done' | 'failed' | 'cancelled';
      /** `undefined` when the session has never had a run. */
      readonly result: RunResult | undefined;
    }
  | {
      readonly status: 'waiting';
      readonly result: RunResult;
      readonly waitingFor: { readonly calls: readonly PendingRequest[]; readonly message: boolean };
      /**
       * Epoch milliseconds at which the first open request, or the wait for a message, expires, or
       * the first sleep ends.
       */
      readonly wakeAt: number | undefined;
    }
  | { readonly status: 'more'; readonly result: RunResult };

/** Author of a control message, and the reason for it. */
export interface ControlOptions {
  /** @default 'user' (`operator` for `pause`) */
  readonly by?: Actor;
  readonly reason?: string;
}

/** Author and reason of a pause, and the lane whose run is meant. */
export interface PauseOptions extends ControlOptions {
  /** Lane of the run. @default the default lane */
  readonly lane?: string;
}

/** Author and reason of an interruption, its lane, and what follows it. */
export interface InterruptOptions extends PauseOptions {
  /**
   * `pause`: the run waits until it is resumed. `continue`: the model is asked again, with the
   * messages that have come. @default 'pause'
   */
  readonly next?: 'pause' | 'continue';
}

export interface CancelOptions extends PauseOptions {
  /**
   * Id of the run to cancel. When it has ended by then, nothing is cancelled, and no later run
   * either.
   * @default the open run of the lane
   */
  readonly runId?: string;
}

export interface SendOptions {
  /** @default 'user' */
  readonly by?: Actor;
  /** Path of the loop that the message is for. @default the run */
  readonly invocationId?: string;
  /**
   * Aborts the model call that is under way, so that the next one has the message; tools go on.
   * @default false
   */
  readonly interrupt?: boolean;
  /** Key of the message: a message that is sent twice under one key counts once. */
  readonly clientKey?: string;
  /** Lane that the message is for. @default the default lane, or that of `invocationId` */
  readonly lane?: string;
}

const isSignal = (value: unknown): string | undefined =>
  value instanceof AbortSignal ? undefined : 'an AbortSignal';
const advanceChecks: OptionChecks<AdvanceOptions> = {
  until: isOneOf('idle', 'round'),
  sliceMs: isPositive,
  signal: isSignal,
  lane: isLane,
};

/** @throws InvalidRunError */
export function checkAdvanceOptions(options: AdvanceOptions): void {
  const invalid = findInvalidOption(options, advanceChecks);
  if (invalid !== undefined)
    throw new InvalidRunError({
      refused: 'The session cannot be carried on',
      reason: invalid.reason,
    });
}

export function advanced(
  result: RunResult,
  more: boolean,
  telling: TellsRequests | undefined,
): Advance {
  if (more) return { status: 'more', result };
  if (result.status === 'yielded') {
    const { pendingCalls: calls, awaitingInput: message, runId } = result;
    const { ledger } = result.session;
    const lane = laneAt(ledger.invocations, runId);
    return {
      status: 'waiting',
      result,
      waitingFor: { calls, message },
      wakeAt: wakeAfter(ledger, telling, lane) ?? undefined,
    };
  }
  const status =
    result.status === 'completed' ? 'done' : result.status === 'error' ? 'failed' : 'cancelled';
  return { status, result };
}
