import type { JsonValue } from '../base/json.ts';
import type { ArtifactEvent, CompactionEvent, MemoryEvent } from './events/context-events.ts';
import type {
  CancelEvent,
  HandoffEvent,
  InvocationEndEvent,
  InvocationReopenEvent,
  InvocationResumeEvent,
  InvocationStartEvent,
  InvocationYieldEvent,
} from './events/invocation-events.ts';
import type { AssistantEvent, ThoughtEvent, UserEvent } from './events/message-events.ts';
import type { ModelEndEvent, ModelStartEvent } from './events/model-events.ts';
import type { PlanEvent, PlanUpdateEvent } from './events/plan-events.ts';
import type { ToolInputEvent, ToolYieldEvent } from './events/request-events.ts';
import type { DecisionEvent, ErrorEvent } from './events/runtime-events.ts';
import type { StateChangeEvent } from './events/state-events.ts';
import type { ToolAttemptEvent, ToolCallEvent, ToolResultEvent } from './events/tool-events.ts';

export type { CompactionStrategy } from './events/context-events.ts';
export type { Actor, ActorKind } from './events/envelope.ts';
export type {
  InputOrigin,
  InvocationEndEvent,
  InvocationInput,
  InvocationKind,
  InvocationMode,
  InvocationStatus,
  NextInvocation,
  RunnableKind,
  StopReason,
} from './events/invocation-events.ts';

export type { ModelEndEvent, Usage } from './events/model-events.ts';
export type {
  PlanDiff,
  PlannedSubtask,
  Subtask,
  SubtaskBudget,
} from './events/plan-events.ts';
export type { RequestDecision, RequestDetails, RequestKind } from './events/request-events.ts';

export type { StateChange } from './events/state-events.ts';

interface EventMap {
  user: UserEvent;
  assistant: AssistantEvent;
  thought: ThoughtEvent;
  tool_call: ToolCallEvent;
  tool_attempt: ToolAttemptEvent;
  tool_result: ToolResultEvent;
  tool_yield: ToolYieldEvent;
  tool_input: ToolInputEvent;
  state_change: StateChangeEvent;
  invocation_start: InvocationStartEvent;
  invocation_yield: InvocationYieldEvent;
  invocation_resume: InvocationResumeEvent;
  invocation_end: InvocationEndEvent;
  invocation_reopen: InvocationReopenEvent;
  model_start: ModelStartEvent;
  model_end: ModelEndEvent;
  handoff: HandoffEvent;
  decision: DecisionEvent;
  compaction: CompactionEvent;
  memory: MemoryEvent;
  artifact: ArtifactEvent;
  error: ErrorEvent;
  cancel: CancelEvent;
  plan: PlanEvent;
  plan_update: PlanUpdateEvent;
}

export type EventType = keyof EventMap;
export type EventOf<Type extends EventType> = EventMap[Type];
/** A durable fact in a ledger: deeply frozen, ordered by `seq`. */
export type Event = EventMap[EventType];

/** Versions of the event types that this build writes. Its keys are all types that it knows. */
export const eventVersions: { readonly [Type in EventType]: number } = Object.freeze({
  user: 1,
  assistant: 1,
  thought: 1,
  tool_call: 1,
  tool_attempt: 1,
  tool_result: 1,
  tool_yield: 1,
  tool_input: 1,
  state_change: 2,
  invocation_start: 1,
  invocation_yield: 1,
  invocation_resume: 1,
  invocation_end: 1,
  invocation_reopen: 1,
  model_start: 1,
  model_end: 1,
  handoff: 1,
  decision: 1,
  compaction: 1,
  memory: 1,
  artifact: 1,
  error: 1,
  cancel: 1,
  plan: 1,
  plan_update: 1,
});

type DistributedDraft<E> = E extends Event ? Omit<E, 'v' | 'seq' | 'id' | 'at'> : never;
/** An event before the ledger has given it a place: without `v`, `seq`, `id` and `at`. */
export type EventDraft = DistributedDraft<Event>;

/** A fold that handles every event type. A new type does not compile until each fold has it. */
export type Fold<State> = {
  readonly [Type in EventType]: (state: State, event: EventOf<Type>) => State;
};

/** The handler of a fold for events that do not concern it. */
export function unchanged<State>(state: State): State {
  return state;
}

/** Folds one event into a state. */
export function foldEvent<State>(fold: Fold<State>, state: State, event: Event): State {
  return (fold[event.type] as (state: State, event: Event) => State)(state, event);
}

/** An event that is streamed while it happens and never stored. */
export type TransientEvent =
  | {
      readonly type: 'assistant_delta';
      readonly invocationId: string;
      readonly agent: string;
      readonly delta: string;
    }
  | {
      readonly type: 'thought_delta';
      readonly invocationId: string;
      readonly agent: string;
      readonly delta: string;
    }
  | {
      readonly type: 'tool_args_delta';
      readonly invocationId: string;
      readonly agent: string;
      readonly providerCallId: string;
      readonly name: string;
      readonly delta: string;
    }
  | {
      readonly type: 'tool_progress';
      readonly invocationId: string;
      readonly callId: string;
      readonly name: string;
      readonly data: JsonValue;
    }
  /** A new attempt of a model call replaces the text that the last one streamed. */
  | { readonly type: 'stream_reset'; readonly invocationId: string; readonly agent: string };

/**
 * An event in the stream of a run: transient events come as they happen, durable events once they
 * are durable.
 */
export type StreamEvent = Event | TransientEvent;

/** Checks that a streamed event is in the ledger. */
export function isDurable(event: StreamEvent): event is Event {
  return 'seq' in event;
}
