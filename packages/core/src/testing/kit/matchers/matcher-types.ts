import type { Event, EventOf, EventType, InvocationStatus } from '../../../ledger/event.ts';
import type { SessionStatus } from '../../../ledger/status.ts';
import type { DecisionComponent } from '../../../views/decision-words.ts';
import type { StoryOptions } from './story.ts';

/** Statuses of the results of runs, and of sessions. */
export type KnownStatus = Exclude<InvocationStatus, 'transferred'> | 'yielded' | SessionStatus;

type Members<Type extends EventType> = {
  readonly [Member in Exclude<keyof EventOf<Type>, 'type'>]?: unknown;
};
type AnyMember = Event extends infer One ? (One extends Event ? keyof One : never) : never;

/**
 * A part of an event. The given members must be equal, at every depth. Asymmetric matchers such as
 * `expect.any(String)` may stand anywhere.
 */
export type EventPattern =
  | { readonly [Type in EventType]: { readonly type: Type } & Members<Type> }[EventType]
  | ({ readonly type?: never } & { readonly [Member in Exclude<AnyMember, 'type'>]?: unknown });

/** A part of a decision, as `explain` gives it; `reasoning` is another name of `why`. */
export interface DecisionPattern {
  /** The component that decided: `loop_detector`, `error_router`, `request`, … */
  readonly component?: DecisionComponent | (string & {}) | object;
  readonly decision?: unknown;
  readonly why?: unknown;
  readonly reasoning?: unknown;
  readonly what?: unknown;
  readonly alternatives?: unknown;
  readonly data?: unknown;
  readonly by?: unknown;
  /** Name of the agent, and path of the invocation, that the decision is about. */
  readonly agent?: unknown;
  readonly path?: unknown;
  readonly run?: unknown;
  readonly seq?: unknown;
}

/**
 * One entry of an expected story: the whole line, an expression that fits it, or a part of the
 * event.
 */
export type StoryPattern = string | RegExp | EventPattern;

export interface ToolOrderOptions {
  /**
   * True when there must be no calls but these. Otherwise others may lie before, between and after
   * them.
   * @default false
   */
  readonly exact?: boolean;
}

export interface MatchLedgerOptions extends Pick<StoryOptions, 'all' | 'order' | 'longest'> {
  /**
   * True when the story must have no lines but these. Otherwise others may lie before, between and
   * after them.
   * @default true
   */
  readonly exact?: boolean;
}

/**
 * The matchers that `setupMatchers` adds to `expect`. Each takes a session, `session.events`, the
 * result of a run or of `runTest`, or a recorded ledger.
 */
export interface LedgerMatchers<Result> {
  /** Checks that an assistant said a text that contains `text`, or that the expression fits. */
  toHaveAssistantText(text: string | RegExp | object): Result;
  /**
   * Checks that a model asked for this call. With `args`, the call has these arguments and no
   * others; asymmetric matchers may stand in them.
   */
  toHaveToolCall(name: string, args?: unknown): Result;
  /** Checks that the tools were asked for in this order. */
  toHaveToolOrder(names: readonly string[], options?: ToolOrderOptions): Result;
  /**
   * Checks that the state has this value under the key: any value when none is given, and none when
   * it is `undefined`.
   */
  toHaveState(scope: string, key: string, value?: unknown): Result;
  /** Checks that there is an event with these members. */
  toHaveEvent(event: EventPattern): Result;
  /** Checks that a run ended with this status, or that a session has it. */
  toHaveStatus(status: KnownStatus): Result;
  /** Checks that a decision of this kind was made: by supervision, by people or by the runtime. */
  toHaveDecision(decision: DecisionPattern): Result;
  /**
   * Checks that the ledger gives this story: the lines of `ledgerStory` as one text, or a list of
   * lines, expressions and parts of events. Without a story it fails, with the story to put there.
   */
  toMatchLedger(story?: string | readonly StoryPattern[], options?: MatchLedgerOptions): Result;
}
