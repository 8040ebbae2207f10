import type { Event, EventOf, Usage } from '../ledger/event.ts';
import type { HistoryScope } from '../ledger/prompt-recipe.ts';

/** A message that only the prompt has: it is not in the ledger. */
export interface SyntheticMessage {
  readonly type: 'synthetic';
  readonly role: 'system' | 'user';
  readonly text: string;
}

/** A ledger event whose text a renderer replaced; `event` stays what was recorded. */
export interface RewrittenEvent {
  readonly type: 'rewritten';
  readonly event: EventOf<'user'>;
  readonly text: string;
}

/** A part of a prompt. */
export type PromptEvent = Event | SyntheticMessage | RewrittenEvent;

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The run as renderers see it. */
export interface RenderState {
  readonly agent: string;
  readonly invocationId: string;
  readonly round: number;
  /** Recorded time at which the invocation started, in epoch milliseconds. */
  readonly startedAt: number;
  /** State by scope, as the agent sees it: `state.session.mode`, `state.user.theme`. */
  readonly state: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly usage: Usage;
}

/**
 * Text of a message, or a function that makes it for each prompt from the state of the agent. A
 * text that a promise gives is recorded with the call, and a replay uses the recorded one.
 */
export type PromptText = string | ((context: RenderState) => string | Promise<string>);

/**
 * The prompt in the making. Immutable: every method gives a new one. A renderer is a pure function
 * from one to the next; the same ledger gives the same prompt.
 */
export interface RenderContext extends RenderState {
  /** The parts of the prompt so far, in order. */
  readonly events: readonly PromptEvent[];
  /** Names of the tools that the model is offered. */
  readonly tools: readonly string[];
  readonly toolChoice: ToolChoice | undefined;
  /** The approximate number of characters of an event in the prompt. */
  charactersOf(event: PromptEvent): number;
  withEvents(events: readonly PromptEvent[]): RenderContext;
  /** Adds one message at the end. */
  append(event: PromptEvent): RenderContext;
  /** Adds the visible part of the ledger at the end. */
  includeHistory(scope: HistoryScope): RenderContext;
  withTools(names: readonly string[]): RenderContext;
  withToolChoice(choice: ToolChoice): RenderContext;
}

/** A step of the pipeline that makes the prompt. */
export type Renderer = (context: RenderContext) => RenderContext;
