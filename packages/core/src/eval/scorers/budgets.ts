import { checkOptions } from '../../base/invalid-option.ts';
import {
  isCount,
  isNonEmptyText,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { isShare } from './own-scorer.ts';
import type { Score, Scorer, TrialRecord } from './scorer.ts';

export interface BudgetOptions {
  /** The amount that a trial may use. */
  readonly budget: number;
  /** @default the name of the function */
  readonly name?: string;
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
}

interface Measure {
  readonly name: string;
  readonly budget: OptionCheck;
  /** `undefined`: it is not known. */
  readonly of: (trial: TrialRecord) => number | undefined;
  readonly text: (value: number) => string;
  readonly unknown?: string;
}

/**
 * 1 within the budget; beyond it the share of the budget in what was used, so that twice the budget
 * gives 0.5.
 */
function budgetScorer(measure: Measure, options: BudgetOptions): Scorer {
  const checks: OptionChecks<BudgetOptions> = {
    budget: measure.budget,
    name: isNonEmptyText,
    threshold: isShare,
  };
  checkOptions(
    measure.name,
    { ...options, budget: options?.budget ?? null } as BudgetOptions,
    checks,
  );
  const { budget, name = measure.name, threshold = 1 } = options;
  const score = (trial: TrialRecord): Score => {
    const used = measure.of(trial);
    if (used === undefined) return { score: 0, explanation: measure.unknown ?? 'It is not known.' };
    const isWithin = used <= budget;
    return {
      score: isWithin ? 1 : budget / used,
      explanation:
        `It took ${measure.text(used)}, which is ${isWithin ? 'within' : 'over'} the budget ` +
        `of ${measure.text(budget)}.`,
      details: { used, budget },
    };
  };
  return Object.freeze({ name, threshold, score });
}

const rounded = (value: number): string => String(Number(value.toPrecision(4)));

/** Milliseconds of a trial, over all its turns. @throws InvalidOptionError */
export function latency(options: BudgetOptions): Scorer {
  return budgetScorer(
    {
      name: 'latency',
      budget: isPositive,
      of: ({ durationMs }) => durationMs,
      text: (ms) => `${rounded(ms)} ms`,
    },
    options,
  );
}

/**
 * US dollars of a trial. A trial whose cost is not known does not pass. @throws InvalidOptionError
 */
export function cost(options: BudgetOptions): Scorer {
  return budgetScorer(
    {
      name: 'cost',
      budget: isPositive,
      // A trial that called no model costs nothing.
      of: (trial) =>
        trial.cost ?? (trial.usage.inputTokens + trial.usage.outputTokens === 0 ? 0 : undefined),
      text: (dollars) => `$${rounded(dollars)}`,
      unknown:
        'The price of the model is not known, so the budget cannot be checked. Give it in ' +
        '`prices` of the runtime.',
    },
    options,
  );
}

/** Answered model calls of a trial. @throws InvalidOptionError */
export function steps(options: BudgetOptions): Scorer {
  return budgetScorer(
    {
      name: 'steps',
      budget: isCount,
      of: (trial) => trial.steps,
      text: (count) => `${count} model ${count === 1 ? 'call' : 'calls'}`,
    },
    options,
  );
}

/** Input and output tokens of a trial. @throws InvalidOptionError */
export function tokens(options: BudgetOptions): Scorer {
  return budgetScorer(
    {
      name: 'tokens',
      budget: isCount,
      of: ({ usage }) => usage.inputTokens + usage.outputTokens,
      text: (count) => `${count} tokens`,
    },
    options,
  );
}
