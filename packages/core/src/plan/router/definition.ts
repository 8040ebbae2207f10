import type { JsonValue } from '../../base/json.ts';
import type { ModelInput } from '../../models/model.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Composed } from '../../runnables/composed.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { WordTest } from '../intent/classify-intent.ts';

/** Input of a router, as its rules see it. */
export interface RouteInput {
  /** Message that the router works on; empty when there is none. */
  readonly message: string;
  /** Data of the caller. */
  readonly data: JsonValue | undefined;
  /** Session state. */
  readonly state: Readonly<Record<string, JsonValue>>;
}

/** Rule that sends inputs to a route. */
export interface RouteRule<Target extends string = string> {
  readonly to: Target;
  /**
   * Pattern, list of words, or pure function of the input. A text that the function returns is the
   * reason.
   */
  readonly when: WordTest | ((input: RouteInput) => boolean | string);
  /** From 0 to 1. @default 1 */
  readonly confidence?: number;
  /** Reason, for people. @default the words that were found */
  readonly reason?: string;
}

type NameOf<Routes extends readonly Runnable[]> = Routes[number]['name'];

export interface RouterOptions<
  Routes extends readonly Runnable[] = readonly Runnable[],
  Name extends string = string,
> {
  readonly name: Name;
  readonly description?: string;
  /** Runnables to choose from, each with a name of its own. */
  readonly routes: Routes;
  /** Tried first, without a model. The most confident one counts, of equal ones the first. */
  readonly rules?: readonly RouteRule<NameOf<Routes>>[];
  /**
   * Model that chooses when no rule is confident enough. It sees the names and descriptions of the
   * routes, and must give one of them with a confidence. @default none: code alone decides
   */
  readonly model?: ModelInput | string | readonly (ModelInput | string)[];
  /** Instructions for the model, behind the ready ones. @default none */
  readonly instructions?: string;
  /** Confidence from which a choice counts. @default 0.7 */
  readonly minConfidence?: number;
  /** Route for what is doubtful, and after a failure of the chosen one. @default none */
  readonly fallback?: NameOf<Routes>;
  /** Last route that is tried. @default none */
  readonly default?: NameOf<Routes>;
  /** Milliseconds after which a route is cancelled, and the next one is tried. @default none */
  readonly routeTimeoutMs?: number;
  readonly version?: string;
}

/** Runnable that hands its input to one of its routes. Its output is that of the route. */
export interface Router<Output = unknown, Name extends string = string>
  extends Runnable<Output, Name>,
    Pick<Composed, 'parts'> {
  readonly kind: 'router';
  readonly name: Name;
  readonly routes: readonly Runnable[];
  readonly rules: readonly RouteRule[];
  /** Agent that asks the model; missing without one. */
  readonly chooser: Agent<JsonValue> | undefined;
  readonly minConfidence: number;
  readonly fallback: string | undefined;
  readonly default: string | undefined;
  readonly routeTimeoutMs: number | undefined;
}
