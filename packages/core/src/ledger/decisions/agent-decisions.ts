import type { JsonObject } from '../../base/json.ts';
import type { NextInvocation } from '../events/invocation-events.ts';
import type { Failing } from './decision-data.ts';

/** Hook that decided, by its owner. */
type HookData = { readonly owner: string };
/** Hook that decided about one tool call. */
type CallHookData = HookData & { readonly callId: string };

type HandlerData = {
  readonly handler: string;
  readonly attempt: number;
  /** Code of the error of a model call. */
  readonly code?: string;
  /** Failed tool call. */
  readonly tool?: string;
  readonly callId?: string;
  readonly errorType?: string;
};

type CompactionData = {
  readonly strategy: string;
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly dropped: JsonObject;
};

type GoalData = {
  readonly reason: string;
  /** Number of rounds that the goal has already cost. */
  readonly rounds: number;
};

/** Decisions about one agent: its hooks, models, answers and prompts, with their data. */
export interface AgentDecisions {
  readonly hooks: {
    /** With `next` when an answer of the model is replaced, with `owner` before the first call. */
    readonly transfer: { readonly next: NextInvocation } | HookData;
    readonly answer: HookData;
    readonly continue: undefined;
    readonly failed: Failing;
    readonly change_output: HookData;
    readonly change_answer: HookData;
    readonly change_result: CallHookData;
    readonly skip_tool: CallHookData;
    readonly replace_failure: CallHookData;
    readonly refuse_transfer: Failing;
  };
  readonly error_handler: {
    readonly throw: HandlerData & Partial<Failing>;
    readonly abort: HandlerData;
    readonly skip: HandlerData;
    readonly retry: HandlerData;
    readonly refuse_retry: HandlerData;
    readonly fallback: HandlerData;
    readonly pass: HandlerData;
  };
  readonly models: {
    readonly fallback: {
      /** Index among the levels of the agent's models. A stored spelling. */
      readonly rung: number;
      readonly from: string;
      readonly to: string;
      readonly code: string;
    };
    readonly nudge: undefined;
    /** Answer that was cut off. `characters` is the length of the text that is kept. */
    readonly cut: { readonly round: number; readonly attempt: number; readonly characters: number };
    readonly forbidden: Failing;
  };
  readonly output: { readonly repair: { readonly repairs: number }; readonly invalid: Failing };
  readonly goal: { readonly again: GoalData; readonly unmet: GoalData };
  readonly context: {
    readonly compact: CompactionData;
    readonly trim: CompactionData;
    readonly shorten: CompactionData;
    readonly give_up: Failing;
  };
}
