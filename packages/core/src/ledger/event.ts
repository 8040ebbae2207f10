import type { ErrorRecord } from '../base/error.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { PromptRecipe } from './prompt-recipe.ts';
import type { ToolEffect, ToolResult } from './tool-result.ts';

export type ActorKind = 'user' | 'model' | 'tool' | 'runtime' | 'operator' | 'trigger';
/** Who caused an event: a kind, with an id behind a colon where there is one (`user:42`). */
export type Actor = ActorKind | `${ActorKind}:${string}`;

/** What every durable event carries besides its own data. */
export interface Envelope<Type extends string> {
  /** Version of this event type's data. Readers upcast older versions. */
  readonly v: number;
  /** Place in the ledger, from 1, without gaps. */
  readonly seq: number;
  readonly id: string;
  /**
   * Epoch milliseconds, for information: the order is `seq`. Never less than that of the event
   * before it.
   */
  readonly at: number;
  readonly type: Type;
  /** Path of the invocation that the event belongs to. */
  readonly invocationId?: string;
  readonly by: Actor;
}

export type RunnableKind = 'agent' | 'step' | 'sequence' | 'parallel' | 'loop';
/** How an invocation came about. `child` is a part of a sequence, parallel or loop. */
export type InvocationMode = 'root' | 'child' | 'call' | 'spawn' | 'dispatch' | 'transfer';
export type InvocationStatus = 'completed' | 'error' | 'cancelled' | 'transferred';
/**
 * Why a run gave less than it was asked for: a limit, the longest answer that the model may give,
 * calls that led nowhere (`loop`), an answer that does not do what was asked (`goal_unmet`), or
 * that it was not let in (`refused`).
 */
export type StopReason =
  | 'round_limit'
  | 'token_limit'
  | 'cost_limit'
  | 'error_limit'
  | 'output_limit'
  | 'loop'
  | 'goal_unmet'
  | 'refused';

export interface InvocationInput {
  readonly message?: string;
  readonly data?: JsonValue;
}

/** Token counts of one model call. Parts that the provider does not report are left out. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

export interface StateChange {
  readonly key: string;
  /**
   * Kind of a write of a body: a plain value, or a function of the value that was there. Missing: a
   * plain value.
   */
  readonly op?: 'set' | 'update';
  /** Name that the code gave an update. */
  readonly id?: string;
  /** Hash of the text of the function of an update. */
  readonly source?: string;
  /**
   * Place in the ledger of what others wrote to the key and the body had been shown last; missing:
   * nothing.
   */
  readonly after?: number;
  readonly oldValue?: JsonValue | undefined;
  /** Missing when the key was deleted. */
  readonly newValue?: JsonValue | undefined;
}

export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file';
      readonly artifact: string;
      readonly mediaType: string;
      readonly name?: string;
    };

export interface UserEvent extends Envelope<'user'> {
  readonly text: string;
  readonly parts?: readonly MessagePart[];
  /** Makes the same input sent twice one input. */
  readonly clientKey?: string;
}

export interface AssistantEvent extends Envelope<'assistant'> {
  readonly agent: string;
  readonly text: string;
  /** Round of the agent that produced it; missing for text that a step wrote. */
  readonly round?: number;
  readonly output?: JsonValue;
  readonly providerMetadata?: JsonObject;
}

export interface ThoughtEvent extends Envelope<'thought'> {
  readonly agent: string;
  readonly text: string;
  readonly round: number;
  readonly providerMetadata?: JsonObject;
}

export interface ToolCallEvent extends Envelope<'tool_call'> {
  /** Path of the call: `<invocation>/r<round>.<index>`. */
  readonly callId: string;
  readonly agent: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly providerCallId: string;
  readonly round: number;
  readonly index: number;
  /** Why the arguments could not be read as JSON; `args` is then the text as it came. */
  readonly invalid?: string;
  readonly providerMetadata?: JsonObject;
}

export interface ToolAttemptEvent extends Envelope<'tool_attempt'> {
  readonly callId: string;
  readonly attempt: number;
  /** The idempotency key offered to the outside. */
  readonly key: string;
  /** Epoch milliseconds at which the attempt is given up. */
  readonly deadline?: number;
  readonly epoch: number;
  /**
   * Names the tool and its prepared arguments; missing for a tool that may be run again with what
   * the model gave, unless somebody was asked.
   */
  readonly fingerprint?: string;
  /** The tool that is run in the place of the one that was asked for. */
  readonly tool?: string;
}

export interface ToolResultEvent extends Envelope<'tool_result'> {
  readonly callId: string;
  readonly name: string;
  /** 0 when the call was refused before any attempt. */
  readonly attempt: number;
  readonly result: ToolResult;
  /** What is known of the outside effect of an attempt that did not succeed. */
  readonly effect?: ToolEffect;
  /** Whether this is the one result of the call that counts. */
  readonly settled: boolean;
  /** The attempt ended after its call had been settled. */
  readonly late?: boolean;
  readonly durationMs: number;
  /** Milliseconds after which another attempt is made; only on unsettled results. */
  readonly retryAfterMs?: number;
  /** The runnable that the tool handed over to. */
  readonly next?: NextInvocation;
  /** The arguments that a person put in the place of the model's. */
  readonly editedArgs?: JsonValue;
  /** What supervision adds to the result for the model: hints, warnings, doubts. */
  readonly notes?: readonly string[];
  /** The tool that the next attempt of the call is made with; only on unsettled results. */
  readonly fallback?: string;
}

/**
 * What is asked of somebody outside: leave to run a call (`approval`, or `repeat` of one that may
 * have taken effect), `input` for a tool, the `result` of an operation that goes on elsewhere, what
 * became of an attempt of unknown outcome (`recovery`), or what to do at a `limit`.
 */
export type RequestKind = 'approval' | 'input' | 'result' | 'recovery' | 'repeat' | 'limit';

/** How a request was answered. `expire` and `cancel` come from the runtime. */
export type RequestDecision =
  | 'approve'
  | 'edit'
  | 'reject'
  | 'expire'
  | 'escalate'
  | 'cancel'
  | 'succeeded'
  | 'retry'
  | 'report'
  | 'continue'
  | 'answer';

/** What people are shown of a request. */
export interface RequestDetails extends JsonObject {
  readonly agent: string;
  /** One line that says what is to be done. */
  readonly summary: string;
  readonly options: readonly RequestDecision[];
  readonly details?: JsonValue;
  /** Whether the arguments may be edited. */
  readonly allowEdit?: boolean;
  /** JSON Schema of what is wanted: of the input, or of the arguments that may be edited. */
  readonly inputSchema?: JsonObject;
  /** Who may answer. */
  readonly mayDecide?: readonly string[];
  /** What becomes of it when its time is over. */
  readonly onExpire?: 'reject' | 'escalate' | { readonly default: JsonValue };
  /** Who may answer after an escalation. */
  readonly escalateTo?: readonly string[];
  /** Milliseconds that it may wait for an answer, also after an escalation. */
  readonly expiresIn?: number;
  /** Milliseconds within which an approval must be used. */
  readonly useWithin?: number;
  /** Name of the operation whose result is awaited. */
  readonly operationId?: string;
}

export interface ToolYieldEvent extends Envelope<'tool_yield'> {
  readonly callId: string;
  readonly name: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  readonly kind: RequestKind;
  /** The same for the same question in the same ledger, whichever process asks it. */
  readonly requestId: string;
  /** 1 for the first question about a call; each question after it has one more. */
  readonly generation: number;
  /** Names the tool, its version and schemas, and the prepared arguments. */
  readonly fingerprint: string;
  readonly request: RequestDetails;
  /** The attempt that the question is about; missing when nothing has been attempted. */
  readonly attempt?: number;
  readonly expiresAt?: number;
}

export interface ToolInputEvent extends Envelope<'tool_input'> {
  readonly callId: string;
  readonly requestId: string;
  /** Missing when input was given as it was asked for. */
  readonly decision?: RequestDecision;
  /** What was given: the input, the edited arguments, the result. */
  readonly input?: JsonValue;
  readonly reason?: string;
  /** Epoch milliseconds at which it was given; missing when the runtime itself answered. */
  readonly answeredAt?: number;
}

export interface StateChangeEvent extends Envelope<'state_change'> {
  readonly scope: string;
  readonly scopeId?: string;
  readonly source: 'mutation' | 'observation';
  readonly changes: readonly StateChange[];
  /** The child with whose start these writes landed. */
  readonly flush?: string;
  /** The tool call whose body wrote it; other calls write under the same path. */
  readonly callId?: string;
  /** `seq` of the state that the body of a tool started from. */
  readonly base?: number;
  /** The `refresh()` of a body that saw this, so that a body that runs again sees the same. */
  readonly refresh?: string;
}

export interface InvocationStartEvent extends Envelope<'invocation_start'> {
  readonly invocationId: string;
  readonly parent?: string;
  readonly kind: RunnableKind;
  readonly name: string;
  readonly version?: string;
  readonly mode: InvocationMode;
  readonly input?: InvocationInput;
  readonly inputHash?: string;
  /** Whether the invocation writes session state to an overlay of its own until the join. */
  readonly branch?: true;
  /** Epoch milliseconds. */
  readonly deadline?: number;
  /**
   * W3C `traceparent` of the span in which the run was carried out from here on; of roots, where
   * the app is traced.
   */
  readonly trace?: string;
}

export interface InvocationYieldEvent extends Envelope<'invocation_yield'> {
  readonly invocationId: string;
  /** `pause`: somebody told it to. */
  readonly reason: 'input' | 'tool_input' | 'pause';
}

export interface InvocationResumeEvent extends Envelope<'invocation_resume'> {
  readonly invocationId: string;
  readonly deadline?: number;
  /** As in `invocation_start`. */
  readonly trace?: string;
}

/** A runnable that continues a slot, by its name in the app. */
export interface NextInvocation {
  readonly name: string;
  readonly input?: InvocationInput;
}

export interface InvocationEndEvent extends Envelope<'invocation_end'> {
  readonly invocationId: string;
  readonly status: InvocationStatus;
  readonly output?: JsonValue;
  readonly error?: ErrorRecord;
  readonly stopReason?: StopReason;
  readonly next?: NextInvocation;
}

export interface InvocationReopenEvent extends Envelope<'invocation_reopen'> {
  readonly invocationId: string;
  readonly reason: string;
}

export interface ModelStartEvent extends Envelope<'model_start'> {
  readonly invocationId: string;
  readonly agent: string;
  readonly round: number;
  readonly attempt: number;
  /** `provider:model`. */
  readonly model: string;
  readonly recipe: PromptRecipe;
  readonly estimatedInputTokens: number;
  readonly maxOutputTokens?: number;
  /** US dollars that it may cost at most; where dollars are limited. */
  readonly mostCost?: number;
}

export interface ModelEndEvent extends Envelope<'model_end'> {
  readonly invocationId: string;
  readonly round: number;
  readonly attempt: number;
  readonly status: 'completed' | 'error' | 'interrupted' | 'cancelled';
  readonly usage: Usage;
  /** The usage was not reported but estimated. */
  readonly estimated?: true;
  /** US dollars; missing when the model's price is not known. */
  readonly cost?: number;
  readonly durationMs: number;
  readonly timeToFirstTokenMs?: number;
  readonly finishReason?: string;
  readonly error?: ErrorRecord;
  /** Milliseconds after which another attempt is made; missing when there will be none. */
  readonly retryAfterMs?: number;
  /** What answered in the place of the model, which was not asked: a hook, a cache. */
  readonly substitutedBy?: string;
}

export interface HandoffEvent extends Envelope<'handoff'> {
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
  readonly depth: number;
}

export interface DecisionEvent extends Envelope<'decision'> {
  readonly component: string;
  readonly decision: string;
  readonly reasoning: string;
  readonly alternatives?: readonly string[];
  /** `failure`: the error that the invocation is to end with. `next`: what it hands over to. */
  readonly data?: JsonObject;
  /** What the agent's model is told of it, as a message in its history. */
  readonly tell?: string;
}

/**
 * What a prompt became shorter by: a summary in the place of what it covers, what it covers left
 * out (`trim`, `last`), or tool results shortened to `resultLimit`. Read-time only: the ledger
 * keeps everything.
 */
export type CompactionStrategy = 'summary' | 'trim' | 'shorten' | 'last';

export interface CompactionEvent extends Envelope<'compaction'> {
  /** @default 'summary' */
  readonly strategy?: CompactionStrategy;
  /**
   * The guard that asked for it: a share of the window was reached, or the provider refused the
   * prompt as too long. @default 'window'
   */
  readonly reason?: 'window' | 'overflow';
  /**
   * Ids of the events that are no longer in the prompt, in prompt order. Only those that no
   * compaction before it covers.
   */
  readonly covers: readonly string[];
  /** How many of the newest covered messages stay in the prompt all the same. */
  readonly overlap: number;
  /** What stands in the place of everything that was covered so far. */
  readonly summary: string;
  /** Longest tool result in characters from here on. */
  readonly resultLimit?: number;
  /** Tokens of the prompt before and after, estimated. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What was left out: counts by kind, and the names of the tools whose results went. */
  readonly dropped?: JsonObject;
}

/** A fact that is to be kept: prompts show it verbatim, and no compaction covers it. */
export interface MemoryEvent extends Envelope<'memory'> {
  readonly text: string;
  /** A later fact of the same key takes its place. */
  readonly key?: string;
}

export interface ArtifactEvent extends Envelope<'artifact'> {
  readonly name: string;
  readonly version: number;
  readonly mediaType: string;
  readonly size: number;
  readonly hash: string;
}

export interface ErrorEvent extends Envelope<'error'> {
  readonly error: ErrorRecord;
  readonly phase: string;
}

export interface CancelEvent extends Envelope<'cancel'> {
  readonly reason?: string;
}

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
}

export type EventType = keyof EventMap;
export type EventOf<Type extends EventType> = EventMap[Type];
/** A durable fact in a ledger: deeply frozen, ordered by `seq`. */
export type Event = EventMap[EventType];

/** The version that this build writes of each event type, and the list of types that it knows. */
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
});

type DistributedDraft<E> = E extends Event ? Omit<E, 'v' | 'seq' | 'id' | 'at'> : never;
/** An event before the ledger has given it a place: without `v`, `seq`, `id` and `at`. */
export type EventDraft = DistributedDraft<Event>;

/** A fold that handles every event type: a new type does not compile until each fold knows it. */
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

/** What is streamed while it happens and never stored. */
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
  /** A new attempt of a model call replaces what was streamed of the last one. */
  | { readonly type: 'stream_reset'; readonly invocationId: string; readonly agent: string };

/**
 * What `for await` over a run gives: transient events as they happen, durable events once they are
 * durable.
 */
export type StreamEvent = Event | TransientEvent;

/** Whether a streamed event is in the ledger. */
export function isDurable(event: StreamEvent): event is Event {
  return 'seq' in event;
}
