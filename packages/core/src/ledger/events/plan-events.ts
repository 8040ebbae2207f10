import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

/** Most that one subtask may use. */
export interface SubtaskBudget {
  readonly rounds?: number;
  readonly tokens?: number;
  /** In US dollars. */
  readonly cost?: number;
}

/** One subtask of a plan, as planners and people give it. */
export interface Subtask {
  /** 1 to 64 letters, digits, `_` and `-`; unique in the plan. */
  readonly id: string;
  readonly description: string;
  /** Ids of the subtasks that must be completed before it starts. */
  readonly dependsOn?: readonly string[];
  /** Name of the worker that does it. @default the first worker, for a subtask without `tool` */
  readonly worker?: string;
  /** Name of the tool that does it, called with `args` and without a model. */
  readonly tool?: string;
  /** Input. `{ "$from": "t1.output.total" }` stands for a result of another subtask. */
  readonly args?: JsonObject;
  readonly expectedOutput?: string;
  /** True when its failure makes a new plan necessary at once. */
  readonly critical?: boolean;
  readonly budget?: SubtaskBudget;
}

/** A subtask in a revision: its invocations lie below the plan at its key. */
export interface PlannedSubtask extends Subtask {
  readonly dependsOn: readonly string[];
  /** Its id; `id~n` for the n-th content that the id has had. */
  readonly key: string;
}

/** Difference between a revision and the one before it, by subtask id. */
export interface PlanDiff {
  readonly added: readonly string[];
  /** Ids whose content has changed: they are done anew. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/** A revision of a plan. */
export interface PlanEvent extends Envelope<'plan'> {
  readonly invocationId: string;
  /** Number of the revision, from 1. */
  readonly revision: number;
  /** `seq` of the last event that the author of the revision knew. */
  readonly basedOn: number;
  readonly goal: string;
  readonly subtasks: readonly PlannedSubtask[];
  readonly diff: PlanDiff;
  /** Keys of subtasks under way that it drops: they are cancelled. */
  readonly cancels?: readonly string[];
  /** Hash of the subtasks: people approve a revision by it. */
  readonly hash: string;
}

/** A subtask that failed before it was started: its arguments name a result that is not there. */
export interface PlanUpdateEvent extends Envelope<'plan_update'> {
  readonly invocationId: string;
  readonly revision: number;
  readonly subtask: string;
  readonly key: string;
  readonly status: 'failed';
  readonly error: ErrorRecord;
}
