import type { JsonValue } from '../../base/json.ts';
import { describeValue } from '../../base/options.ts';
import { finderOf, type WordTest } from '../intent/classify-intent.ts';
import type { RouteInput, RouteRule, Router } from './definition.ts';

/** Source of a choice. */
export type RoutedBy = 'rule' | 'model' | 'fallback' | 'default';

/** A chosen route with the ones that are tried after it. */
export interface Routing {
  readonly target: string;
  /** Missing for a route that nothing chose: the fallback and the default. */
  readonly confidence?: number;
  readonly by: RoutedBy;
  readonly reason: string;
  /** Routes to try when this one fails, in order. */
  readonly next: readonly string[];
}

interface Match {
  readonly to: string;
  readonly confidence: number;
  readonly reason: string;
}

/** Answer of the model that chooses. */
export interface ModelChoice {
  readonly target: string;
  readonly confidence: number;
  readonly reason: string;
  readonly fallback: string | null;
}

/** Returns the matches of all rules, the most confident first. */
export function matchesOf(rules: readonly RouteRule[], input: RouteInput): readonly Match[] {
  return rules
    .flatMap(({ to, when, confidence = 1, reason }): Match[] => {
      const sign = signOf(when, input);
      return sign === undefined ? [] : [{ to, confidence, reason: reason ?? sign }];
    })
    .toSorted((a, b) => b.confidence - a.confidence);
}

function signOf(when: RouteRule['when'], input: RouteInput): string | undefined {
  if (typeof when !== 'function') return finderOf(when as WordTest)(input.message);
  const found = when(input);
  if (typeof found === 'string') return found;
  if (typeof found === 'boolean') return found ? 'its rule matches' : undefined;
  // A promise would be taken for true.
  throw new TypeError(
    `A rule must give true, false or a text at once, not ${describeValue(found)}`,
  );
}

/** Returns the route that rules choose; `undefined` when none of them is confident enough. */
export function byRules(router: Router, matches: readonly Match[]): Routing | undefined {
  const sure = matches.filter(({ confidence }) => confidence >= router.minConfidence);
  const [best, ...others] = sure;
  if (best === undefined) return undefined;
  return {
    target: best.to,
    confidence: best.confidence,
    by: 'rule',
    reason: best.reason,
    next: without(best.to, [...others.map(({ to }) => to), ...lastRoutes(router)]),
  };
}

/** Returns the route that a model chooses, or the fallback when it is not sure. */
export function byModel(router: Router, choice: ModelChoice): Routing | undefined {
  const { target, confidence, reason, fallback } = choice;
  const others = [...(fallback === null ? [] : [fallback]), ...lastRoutes(router)];
  if (confidence >= router.minConfidence)
    return { target, confidence, by: 'model', reason, next: without(target, others) };
  const said = `The model is sure of "${target}" to ${confidence} only: ${reason}`;
  return withoutChoice(router, said, fallback ?? undefined);
}

/** Returns the route for an input that nothing chose a route for. */
export function withoutChoice(
  router: Router,
  reason: string,
  fallback: string | undefined = undefined,
): Routing | undefined {
  const named = fallback ?? router.fallback;
  const target = named ?? router.default;
  if (target === undefined) return undefined;
  const by = named === undefined ? 'default' : 'fallback';
  return { target, by, reason, next: without(target, lastRoutes(router)) };
}

/** Reads the answer of the model, which its schema has checked. */
export function choiceOf(answer: JsonValue): ModelChoice {
  return answer as unknown as ModelChoice;
}

function lastRoutes(router: Router): readonly string[] {
  return [router.fallback, router.default].filter((name) => name !== undefined);
}

function without(first: string, names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== first);
}
