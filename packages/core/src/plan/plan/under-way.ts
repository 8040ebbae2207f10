import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { BodyFrame } from '../../engine/frame/run-context.ts';
import type { ScheduledChildren } from '../../engine/invoke/bodies/scheduled-children.ts';
import type { Actor, PlannedSubtask } from '../../ledger/event.ts';
import type { Plan } from './definition.ts';
import type { PlanLog } from './plan-log.ts';
import type { CheckedSubtask } from './revision.ts';

/** A plan under way, as its planner and its reviews see it. */
export interface PlanUnderWay {
  readonly plan: Plan<unknown>;
  readonly frame: BodyFrame;
  readonly children: ScheduledChildren;
  readonly log: PlanLog;
  readonly goal: string;
  readonly data: JsonValue | undefined;
  /** Number of the revision; 0 before the first. */
  readonly revision: number;
  readonly subtasks: readonly PlannedSubtask[];
  readonly hash: string;
  /** Outputs by key, those of subtasks that the plan no longer has as well. */
  readonly outputs: ReadonlyMap<string, JsonValue>;
  /** Last failures by key. */
  readonly errors: ReadonlyMap<string, ErrorRecord>;
  /** Keys of the completed subtasks. */
  readonly finished: ReadonlySet<string>;
  isRunning(subtaskKey: string): boolean;
  adopt(given: readonly CheckedSubtask[], from: RevisionAuthor): Promise<void>;
  /** Goes on with a new revision: asks for its review, or starts it. */
  goOn(author: 'planner' | 'person'): Promise<BodyEnd | undefined>;
  advance(): Promise<BodyEnd | undefined>;
}

/** Author of a revision, and the `seq` of the last event that the author knew. */
export interface RevisionAuthor {
  readonly by: Actor;
  readonly basedOn: number;
}
