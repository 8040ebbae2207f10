import { defined } from '../base/defined.ts';
import type { ModelErrorKind } from './error-kind.ts';
import { contextWindowOf } from './measures/window.ts';
import { type Model, modelName } from './model.ts';

/** One way to call a model: the model, the key and the effort of reasoning. */
export interface FallbackLevel {
  readonly model: Model;
  /**
   * Name for people: `openai:gpt-5, key 2, low effort`. Keys have numbers, from 1; they are never
   * shown.
   */
  readonly label: string;
  /** The model's place in the list of models, from 0. */
  readonly modelIndex: number;
  /** Index of the effort, from 0, the model's own effort. */
  readonly effortIndex: number;
  /** Number of the key, from 1. */
  readonly key: number;
}

/** The facts about a failed call that `nextFallbackLevel` needs; a `ModelError` has them. */
export interface LevelFailure {
  readonly kind: ModelErrorKind;
  /** `false` for a quota that is spent: less reasoning would not help. */
  readonly retryable?: boolean;
}

/**
 * Returns all ways to call these models, in the order of trial: the keys of a model, then its lower
 * efforts, each with every key, then the next model. The first way is the first model itself. The
 * number of keys is read from the environment now.
 */
export function fallbackLevels(models: readonly Model[]): readonly FallbackLevel[] {
  return models.flatMap((model, modelIndex) => levelsOf(model, modelIndex));
}

function levelsOf(model: Model, modelIndex: number): FallbackLevel[] {
  const { variants } = model;
  if (variants === undefined)
    return [{ model, label: modelName(model), modelIndex, effortIndex: 0, key: 1 }];
  const keys = Math.max(1, variants.countKeys());
  return [undefined, ...variants.efforts].flatMap((effort, effortIndex) =>
    Array.from({ length: keys }, (_, index): FallbackLevel => {
      const key = index + 1;
      const keyLabel = key === 1 ? '' : `, key ${key}`;
      const effortLabel = effort === undefined ? '' : `, ${effort}`;
      const label = `${modelName(model)}${keyLabel}${effortLabel}`;
      const isOwn = key === 1 && effort === undefined;
      const made = isOwn ? model : variants.make({ key, ...defined({ effort }) });
      return { model: made, label, modelIndex, effortIndex, key };
    }),
  );
}

type Way = 'key' | 'effort' | 'model' | 'window';

const otherModel: readonly Way[] = ['model'];
const lessWork: readonly Way[] = ['effort', 'model'];

/**
 * Steps after a failure of this kind, in order. Total by kind, so that a new kind needs a decision.
 */
const ways: { readonly [Kind in ModelErrorKind]: readonly Way[] } = {
  auth: ['key', 'model'],
  rate_limit: ['key', 'effort', 'model'],
  timeout: lessWork,
  overloaded: lessWork,
  output_limit: lessWork,
  server: otherModel,
  connection: otherModel,
  malformed: otherModel,
  content_filter: otherModel,
  refusal: otherModel,
  model_not_found: otherModel,
  invalid_request: otherModel,
  missing_key: otherModel,
  missing_package: otherModel,
  unknown: otherModel,
  context_overflow: ['window'],
  aborted: [],
};

/**
 * Returns the next fallback level after a call failed for good, with its retries used up;
 * `undefined` when there is none. It is always a later one, so that the levels come to an end. For
 * `context_overflow`, ask only after the context guards have given up: the next level is then a
 * later model with a larger window.
 */
export function nextFallbackLevel(
  levels: readonly FallbackLevel[],
  level: number,
  failure: LevelFailure,
): number | undefined {
  const from = levels[level];
  if (from === undefined) return undefined;
  const spent = failure.kind === 'rate_limit' && failure.retryable === false;
  for (const way of ways[failure.kind]) {
    if (spent && way === 'effort') continue;
    const found = levels.findIndex((to, index) => index > level && leads[way](from, to));
    if (found !== -1) return found;
  }
  return undefined;
}

const leads: { readonly [Key in Way]: (from: FallbackLevel, to: FallbackLevel) => boolean } = {
  key: (from, to) =>
    to.modelIndex === from.modelIndex && to.effortIndex === from.effortIndex && to.key > from.key,
  effort: (from, to) =>
    to.modelIndex === from.modelIndex && to.effortIndex > from.effortIndex && to.key === from.key,
  model: (from, to) => to.modelIndex > from.modelIndex,
  window: (from, to) =>
    to.modelIndex > from.modelIndex && contextWindowOf(to.model) > contextWindowOf(from.model),
};
