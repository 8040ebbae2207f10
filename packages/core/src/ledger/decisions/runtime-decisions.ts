import type { JsonObject } from '../../base/json.ts';
import type { RequestKind } from '../events/request-events.ts';
import type { StateChange } from '../events/state-events.ts';
import type { CauseData } from './service-decisions.ts';

/**
 * Calls that a standing approval covers: equal ones (`call`), all of the tool (`tool`), or those
 * whose paths lie in a folder.
 */
export type StandingExtent = 'call' | 'tool' | { readonly below: string };

type RequestData = {
  readonly requestId: string;
  readonly kind: RequestKind;
  readonly callId?: string;
};

/** A session that is told the end of a task. */
export type TaskListener = {
  readonly session: string;
  /** Turn and name of the service; its session is made when it is not there. */
  readonly runnable: string;
  readonly name: string;
  /** Data that come back with the end. */
  readonly data: JsonObject;
};

/** Firing of a trigger that has begun a task. */
export type BegunByTrigger = {
  /** Name of the trigger. */
  readonly trigger: string;
  /** Id of the firing, as the history of the trigger has it. */
  readonly firing: string;
  /** Cause of its firing, for the end of a sentence. */
  readonly why: string;
};

/** A task as it was submitted. Instants and durations are in milliseconds. */
export type TaskData = {
  /** Id of the task, which is that of its run. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly priority: string;
  readonly queue: string;
  readonly requester: string;
  readonly source?: string;
  /** Epoch milliseconds by the clock of the submitting process. */
  readonly submittedAt: number;
  readonly softMs?: number;
  readonly hardMs?: number;
  /** Action at the hard deadline; missing where the task then ends without a result. */
  readonly deadline?: {
    readonly action: string;
    readonly fallback?: string;
    readonly retryAfterMs?: number;
    readonly attempts?: number;
  };
  /** Executions after a failure, the first one included, and the pauses before them. */
  readonly retry?: {
    readonly attempts: number;
    readonly initialDelayMs: number;
    readonly maxDelayMs?: number;
    readonly multiplier: number;
  };
  /** Tasks, triggers and actors that led to it. */
  readonly cause?: CauseData;
  /** Missing for a task that nobody but a caller began, and in ledgers of older builds. */
  readonly began?: BegunByTrigger;
  /** Sessions that are told its final end. */
  readonly onEnd?: readonly TaskListener[];
  /** Later executions in the background: so long after each failure, until the task is so old. */
  readonly requeue?: { readonly afterMs: number; readonly untilMs: number };
  /** The rest of its turn's settings; tasks of older builds do not have them. */
  readonly notBefore?: number;
  readonly key?: { readonly name: string; readonly limit: number; readonly hold?: 'turn' | 'task' };
  readonly rate?: { readonly name: string; readonly limit: number; readonly perMs: number };
  readonly coalesceKey?: string;
  readonly estimateMs?: number;
};

type ForkData = {
  readonly session: string;
  readonly at: number;
  /** Session that the fork comes from; missing in a copy. */
  readonly from?: string;
  /** Number of events right behind this one that edit the fork; missing without edits. */
  readonly edits?: number;
};

/** Decisions of the runtime about runs, sessions and requests, with their data. */
export interface RuntimeDecisions {
  readonly request: {
    readonly withdraw: RequestData;
    readonly ask_again: RequestData;
    /** Escalation of a request to others. */
    readonly escalate: RequestData;
    /** Note that the app was told of a request. */
    readonly notify: { readonly requestId: string };
    /** Approval that holds for later calls, given with the answer to this request. */
    readonly standing: {
      readonly requestId: string;
      readonly tool: string;
      readonly covers: StandingExtent;
    };
    /** Call that is not asked about, because of the standing approval of this request. */
    readonly covered: {
      readonly requestId: string;
      readonly callId: string;
      readonly tool: string;
    };
    readonly withdraw_standing: { readonly requestId: string };
    readonly unusable: RequestData & { readonly tool: string; readonly code: string };
  };
  /** Edits that a fork was made with. */
  readonly edit: {
    /** Another state; the changes follow. */
    readonly state: {
      readonly changes: readonly { readonly scope: string; readonly key: string }[];
    };
    /** Text in the place of the instructions of an agent. */
    readonly instructions: { readonly agent: string; readonly instructions: string };
    /** Another text of a message, by its place; the text follows. */
    readonly message: { readonly seq: number };
  };
  readonly run: {
    readonly pause: undefined;
    /** Cut of the model calls under way, after which the run goes on. */
    readonly interrupt: undefined;
  };
  readonly scheduler: {
    /** Task whose run begins: it was submitted, and has waited for its turn. */
    readonly enqueue: TaskData;
    /** End of a round after which the run gives its place to a task of a higher priority. */
    readonly preempt: {
      readonly level: number;
      readonly by: string;
      /** Instant at which it had become able to run: its place in the queue. */
      readonly since?: number;
    };
    /** Pass of the soft deadline, of which the model is told once. */
    readonly soft_deadline: { readonly at: number };
    /**
     * Pass of the hard deadline, with what is done. `cancel`, of older builds, is `discard`. With
     * an `attempt` the task goes on at `notBefore`.
     */
    readonly hard_deadline: {
      readonly at: number;
      readonly action: string;
      readonly attempt?: number;
      readonly notBefore?: number;
    };
    readonly reprioritize: { readonly priority: string };
    /** Another execution of the task as a whole, after it failed or because people ask for it. */
    readonly retry: {
      readonly attempt: number;
      readonly notBefore: number;
      readonly priority?: string;
    };
    readonly suspend: undefined;
    readonly resume: undefined;
    readonly move_to_front: undefined;
    /** An ended task is no longer listed. */
    readonly discard: undefined;
    /** Another caller that waits for this task, with what its own submission would have had. */
    readonly coalesce: {
      readonly key: string;
      readonly at?: number;
      readonly level?: number;
      readonly softMs?: number;
      readonly hardMs?: number;
      /** Sessions that are told of the end besides. */
      readonly onEnd?: readonly TaskListener[];
    };
    /** One of several callers that waits no more. */
    readonly leave: undefined;
  };
  /** A run that the lifecycle of the app did not admit. */
  readonly lifecycle: { readonly refuse: undefined };
  readonly inbox: {
    /** Type and author of the item; other members depend on the type. */
    readonly refuse: JsonObject & { readonly type: string; readonly by: string };
    /** Message that could be the input of several waiting calls: their requests. */
    readonly ambiguous_answer: { readonly requests: readonly string[] };
  };
  readonly approval_token: {
    readonly refuse: { readonly requestId: string; readonly reason: string };
  };
  readonly invoke: {
    readonly accept_state_order: undefined;
    readonly accept_orphaned_child: undefined;
    readonly accept_orphaned_effect: undefined;
    readonly fail_orphaned_child: undefined;
    readonly fail_orphaned_effect: undefined;
  };
  readonly parallel: { readonly last_declared_wins: undefined };
  readonly spawn: {
    /** Path of the spawned child that nothing waits for any more. */
    readonly detach: { readonly path: string };
  };
  readonly session: { readonly create: undefined };
  readonly fork: { readonly isolated: ForkData; readonly live: ForkData };
  readonly shared_state: {
    readonly bind_scopes: { readonly scopes: Readonly<Record<string, string>> };
    readonly refuse_write: {
      readonly scope: string;
      readonly scopeId?: string;
      readonly keys: readonly string[];
      /** Refused changes; missing in decisions of older builds. */
      readonly changes?: readonly StateChange[];
      readonly flush?: string;
      readonly callId?: string;
    };
  };
  readonly eval: {
    readonly begin: { readonly name: string; readonly runId: string };
    readonly finish: JsonObject & { readonly runId: string };
    readonly trial: {
      readonly eval: string;
      readonly runId: string;
      readonly variant: string;
      readonly case: string;
      readonly trial: number;
    };
    readonly scenario_end: undefined;
  };
}
