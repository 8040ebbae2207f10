import { defined } from '../../base/defined.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import type { JsonValue } from '../../base/json.ts';
import { isCount, isNonEmptyText, isText, type OptionChecks } from '../../base/options.ts';
import type { ModelInput } from '../../models/model.ts';
import { assertNames, isNamedModel, modelOf } from '../../models/named-model.ts';
import { judgeCriteria } from '../judge/judged-criteria.ts';
import { fullScore, isShare, type LooseScore } from './own-scorer.ts';
import type { Score, Scorer, ScorerContext, TrialRecord } from './scorer.ts';

/** A criterion: a sentence for the judge, or code. */
export type Criterion =
  | string
  | ((trial: TrialRecord, context: ScorerContext) => LooseScore | Promise<LooseScore>);

export interface RubricOptions {
  /** @default 'rubric' */
  readonly name?: string;
  /** By their names. */
  readonly criteria: Readonly<Record<string, Criterion>>;
  /** The model that judges by the criteria that are sentences, or its name. */
  readonly model?: ModelInput | string;
  /** Number of times that the model is asked about a trial; the mean counts. @default 1 */
  readonly samples?: number;
  /**
   * Knowledge for the judge besides the conversation, such as the rules that the agent has to keep.
   */
  readonly background?: string;
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
}

const checks: OptionChecks<RubricOptions> = {
  name: isNonEmptyText,
  criteria: (value) => {
    const isRecord =
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.keys(value).length > 0;
    const fits =
      isRecord &&
      Object.values(value).every(
        (one) => typeof one === 'function' || (typeof one === 'string' && one.trim() !== ''),
      );
    return fits ? undefined : 'an object that gives each criterion a sentence or a function';
  },
  model: isNamedModel,
  samples: isCount,
  background: isText,
  threshold: isShare,
};

interface Found {
  readonly criterion: string;
  /** Missing when the criterion says nothing about the trial. */
  readonly score?: number;
  readonly reasons: readonly string[];
}

/**
 * Judges trials by criteria. Those that are sentences are judged by a model, all at once, with a
 * structured verdict: met, partly met, not met, or not applicable; its runs are recorded beside the
 * trial, so that it is never asked the same twice. Those that are functions are code. The score is
 * the mean over the criteria that apply.
 * @throws InvalidOptionError
 */
export function rubric(options: RubricOptions): Scorer {
  checkOptions(
    'rubric',
    typeof options === 'object' && options !== null
      ? { ...options, criteria: options.criteria ?? null }
      : options,
    checks,
  );
  const { name = 'rubric', criteria, samples = 1, background, threshold = 1 } = options;
  assertNames({ function: 'rubric', option: 'model' }, options.model);
  const model = options.model === undefined ? undefined : modelOf(options.model);
  const sentences = Object.fromEntries(
    Object.entries(criteria).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
  const [judged] = Object.keys(sentences);
  if (judged !== undefined && model === undefined) {
    throw new InvalidOptionError({
      function: 'rubric',
      reason: `\`model\` is missing, which judges the criterion "${judged}"`,
    });
  }
  const score = async (trial: TrialRecord, context: ScorerContext): Promise<Score | undefined> => {
    const byCode = await Promise.all(
      Object.entries(criteria).flatMap(([key, one]) =>
        typeof one === 'function' ? [checkByCode(name, key, one, trial, context)] : [],
      ),
    );
    if (model === undefined || judged === undefined) return scoreOf(byCode, {});
    const { verdicts, runs, suspicious } = await judgeCriteria(
      trial,
      { scorer: name, model, criteria: sentences, samples, background },
      context.signal,
    );
    const sessions = runs.map(({ session, cost, tokens }) => ({
      session,
      tokens,
      ...defined({ cost }),
    }));
    return scoreOf([...byCode, ...verdicts], {
      judge: sessions,
      ...defined({ suspicious }),
    });
  };
  return Object.freeze({ name, threshold, score });
}

async function checkByCode(
  name: string,
  criterion: string,
  check: Exclude<Criterion, string>,
  trial: TrialRecord,
  context: ScorerContext,
): Promise<Found> {
  const found = fullScore(name, await check(trial, context));
  return found === undefined
    ? { criterion, reasons: [] }
    : { criterion, score: found.score, reasons: [found.explanation] };
}

function scoreOf(
  found: readonly Found[],
  more: { readonly judge?: JsonValue; readonly suspicious?: string },
): Score | undefined {
  const applied = found.flatMap((one) =>
    one.score === undefined ? [] : [{ ...one, score: one.score }],
  );
  if (applied.length === 0) return undefined;
  const failed = applied.filter(({ score }) => score < 1);
  const explanation =
    failed.length === 0
      ? 'All criteria are met.'
      : failed.map(({ criterion, reasons }) => `${criterion}: ${reasons.join(' / ')}`).join(' ');
  const warning =
    more.suspicious === undefined
      ? ''
      : ' The answer has text that reads like instructions to the judge ' +
        `(${more.suspicious}): look at this verdict yourself.`;
  return {
    score: applied.reduce((sum, { score }) => sum + score, 0) / applied.length,
    explanation: explanation + warning,
    details: {
      criteria: found.map(({ criterion, score, reasons }) => ({
        criterion,
        ...defined({ score }),
        reasons,
      })),
      ...more,
    },
  };
}

export interface JudgedGroundednessOptions extends Omit<RubricOptions, 'criteria' | 'model'> {
  /** The model that judges, or its name. */
  readonly model: ModelInput | string;
}

/**
 * As `groundedness`, judged by a model: whether every statement of fact in the answers follows from
 * tool results or from what the user said. It understands sums and other words for the same, and
 * can err like every model.
 * @throws InvalidOptionError
 */
export function judgedGroundedness(options: JudgedGroundednessOptions): Scorer {
  return rubric({
    name: 'judged_groundedness',
    ...options,
    criteria: {
      supported:
        'Every statement of fact in the answers of the agent follows from the results of ' +
        'tools or from what the user said before it. Results that follow by calculation, ' +
        'conversion or rewording count as supported; greetings, questions and offers are ' +
        'no statements of fact.',
      faithful:
        'No answer of the agent contradicts the result of a tool, or leaves out of it what ' +
        'changes its meaning, such as a failure or a condition.',
    },
  });
}
