import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { NextInvocation, StopReason } from '../ledger/event.ts';
import type { LimitState } from '../supervision/limits.ts';
import type { AttemptState, CallState, RequestWithAnswer } from './call-state.ts';

/**
 * Next action of an agent. `key` is stable: an intent whose key is in flight is not performed
 * again.
 */
export type Intent =
  | {
      readonly type: 'model';
      readonly key: string;
      readonly round: number;
      readonly attempt: number;
      /** Epoch milliseconds before which the call is not made. */
      readonly notBefore: number | undefined;
      /** True when the answer must be given without tools. */
      readonly final: boolean;
    }
  /** Closes a model call that a stopped process left open. */
  | { readonly type: 'close_model'; readonly key: string }
  | {
      readonly type: 'tool';
      readonly key: string;
      readonly call: CallState;
      readonly attempt: number;
      readonly notBefore: number | undefined;
    }
  /** Records the known outcome of an attempt that a stopped process left open. */
  | {
      readonly type: 'close_attempt';
      readonly key: string;
      readonly call: CallState;
      readonly attempt: AttemptState;
    }
  /**
   * Applies an answer about an attempt. Its result came from elsewhere, or a person reported its
   * outcome.
   */
  | {
      readonly type: 'resolve_attempt';
      readonly key: string;
      readonly call: CallState;
      readonly attempt: AttemptState;
      readonly answered: RequestWithAnswer;
    }
  /** Shortens the prompt after the provider refused it as too long. */
  | { readonly type: 'compact'; readonly key: string }
  /** Makes a request to use more than the limit. */
  | { readonly type: 'ask_limit'; readonly key: string; readonly limit: LimitState }
  | {
      readonly type: 'warn';
      readonly key: string;
      readonly limit: LimitState;
      readonly of: 'agent' | 'run';
    }
  | {
      readonly type: 'declare_limit';
      readonly key: string;
      readonly limit: LimitState;
      readonly action: 'answer' | 'fail';
    }
  | { readonly type: 'wait' }
  | {
      readonly type: 'finish';
      readonly output: JsonValue;
      readonly stopReason: StopReason | undefined;
    }
  | { readonly type: 'transfer'; readonly next: NextInvocation }
  | {
      readonly type: 'fail';
      readonly error: ErrorRecord;
      readonly stopReason: StopReason | undefined;
    };
