import type { ErrorRecord } from '../../base/error.ts';

/** Failure of a subtask that something is decided about. */
type SubtaskFailed = {
  readonly revision: number;
  readonly subtask: string;
  readonly error: ErrorRecord;
};

/** Decisions of plans. */
export interface PlanDecisions {
  readonly plan: {
    /** The answer of the planner cannot be carried out: it is asked again. */
    readonly correct: { readonly revision: number; readonly problems: readonly string[] };
    /** A subtask that failed is tried again. */
    readonly retry: SubtaskFailed & { readonly attempt: number };
    readonly replan: SubtaskFailed & {
      readonly because: 'critical' | 'repeated' | 'consecutive' | 'final';
    };
    readonly decompose: SubtaskFailed & {
      readonly because: 'critical' | 'repeated' | 'consecutive' | 'final';
    };
    /** A failure while a new plan is being made: that plan answers it. */
    readonly wait: SubtaskFailed;
    readonly give_up: SubtaskFailed & { readonly replans: number };
  };
}
