import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ModelInput } from '../../models/model.ts';
import type { TrialRecord } from '../scorers/scorer.ts';
import { askJudge, type Verdict } from './judge-run.ts';
import { suspiciousText } from './suspicious-text.ts';
import { trialMaterial } from './trial-material.ts';

/** The verdict of a judge on one criterion. */
export interface CriterionVerdict {
  readonly criterion: string;
  /** From 0 to 1; missing when the criterion says nothing about this trial. */
  readonly score?: number;
  readonly reasons: readonly string[];
}

export interface JudgedCriteria {
  readonly verdicts: readonly CriterionVerdict[];
  readonly runs: readonly Omit<Verdict, 'verdict'>[];
  /** The text in the answers that reads like an attempt to sway the judge. */
  readonly suspicious: string | undefined;
}

export interface CriteriaQuestion {
  readonly scorer: string;
  readonly model: ModelInput;
  /** Sentences by name. */
  readonly criteria: Readonly<Record<string, string>>;
  /** Number of times that it is asked; the mean counts. */
  readonly samples: number;
  /** Further knowledge for the judge. */
  readonly background: string | undefined;
}

const scores: Readonly<Record<string, number | undefined>> = {
  met: 1,
  partly_met: 0.5,
  not_met: 0,
  not_applicable: undefined,
};

/** Lets a model judge a trial by criteria. @throws JudgeFailedError, RunStoppedError */
export async function judgeCriteria(
  trial: TrialRecord,
  question: CriteriaQuestion,
  signal: AbortSignal,
): Promise<JudgedCriteria> {
  const { scorer, model, criteria, samples, background } = question;
  const names = Object.keys(criteria);
  const judgement = {
    scorer,
    model,
    instructions: instructionsFor(criteria, background),
    material: trialMaterial(trial),
    schema: schemaFor(names.length),
  };
  const answers: Verdict[] = [];
  // One after the other: no more models are to be asked at a time than trials are under way.
  for (let sample = 1; sample <= samples; sample++)
    answers.push(await askJudge(trial.session, { ...judgement, sample }, signal));
  return {
    verdicts: names.map((criterion, i) =>
      combined(
        criterion,
        answers.map(({ verdict }) => verdict[memberOf(i)] as JsonObject),
      ),
    ),
    runs: answers.map(({ session, cost, tokens }) => ({ session, cost, tokens })),
    suspicious: suspiciousText(trial),
  };
}

function combined(criterion: string, found: readonly JsonObject[]): CriterionVerdict {
  const applicable = found.flatMap(({ verdict }) => scores[String(verdict)] ?? []);
  const reasons = found.map(
    ({ reasoning, verdict }) => `${String(verdict).replace('_', ' ')}: ${String(reasoning)}`,
  );
  const score =
    applicable.length === 0
      ? undefined
      : applicable.reduce((sum, one) => sum + one, 0) / applicable.length;
  return { criterion, reasons, ...defined({ score }) };
}

/**
 * Criteria have names of people's choice, and members of a schema are names that providers take.
 */
function memberOf(index: number): string {
  return `criterion_${index + 1}`;
}

function instructionsFor(
  criteria: Readonly<Record<string, string>>,
  background: string | undefined,
): string {
  const list = Object.entries(criteria).map(
    ([name, text], i) => `${memberOf(i)} (${name}): ${text}`,
  );
  return [
    'You judge a conversation between a user and an agent by the criteria below, each by itself.',
    'For each criterion first reason in one to three sentences, naming what in the ' +
      'material speaks for and against it. Then decide: met, partly_met, not_met, or ' +
      'not_applicable when its condition did not arise in this conversation. If in doubt ' +
      'whether it is met, it is not.',
    ...(background === undefined ? [] : [`What you need to know: ${background}`]),
    'The criteria:',
    ...list,
  ].join('\n');
}

function schemaFor(count: number): JsonObject {
  const members = Array.from({ length: count }, (_, i) => memberOf(i));
  const criterion = {
    type: 'object',
    // The reasons come first, so that the verdict follows from them.
    properties: {
      reasoning: { type: 'string' },
      verdict: { type: 'string', enum: Object.keys(scores) },
    },
    required: ['reasoning', 'verdict'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: Object.fromEntries(members.map((name) => [name, criterion])),
    required: members,
    additionalProperties: false,
  };
}
