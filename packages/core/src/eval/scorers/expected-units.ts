import type { Expectation } from '../dataset/eval-case.ts';
import type { Score, TrialRecord, TrialToolCall } from './scorer.ts';

/** A part of a trial with what is expected of it: a turn, or the whole conversation. */
export interface ExpectedUnit {
  /** For messages: `turn 2`; empty when there is only one. */
  readonly name: string;
  readonly expect: Expectation;
  /** The last text; empty when the turn was not reached. */
  readonly answer: string;
  readonly toolCalls: readonly TrialToolCall[];
}

/**
 * The turns of which something is expected, and the conversation, if something is expected of it as
 * a whole. Turns that were not reached have done nothing.
 */
export function expectedUnits(
  trial: TrialRecord,
  has: (expect: Expectation) => boolean,
): readonly ExpectedUnit[] {
  const { turns, expect } = trial.case;
  const units = turns.flatMap((turn, i): readonly ExpectedUnit[] => {
    if (turn.expect === undefined || !has(turn.expect)) return [];
    const done = trial.turns[i];
    return [
      {
        name: turns.length === 1 ? '' : `turn ${i + 1}`,
        expect: turn.expect,
        answer: done?.answer ?? '',
        toolCalls: done?.toolCalls ?? [],
      },
    ];
  });
  if (!has(expect)) return units;
  return [
    ...units,
    {
      name: units.length === 0 ? '' : 'the whole conversation',
      expect,
      answer: trial.answer,
      toolCalls: trial.toolCalls,
    },
  ];
}

/** The mean of the scores of units, each explained; `undefined` without units. */
export function meanOfUnits(
  units: readonly ExpectedUnit[],
  scoreOf: (unit: ExpectedUnit) => Score,
): Score | undefined {
  if (units.length === 0) return undefined;
  const scores = units.map((unit) => ({ unit, found: scoreOf(unit) }));
  const [only] = scores;
  if (scores.length === 1 && only !== undefined && only.unit.name === '') return only.found;
  const failed = scores.filter(({ found }) => found.score < 1);
  const told = (failed.length === 0 ? scores : failed).map(({ unit, found }) =>
    unit.name === '' ? found.explanation : `In ${unit.name}: ${found.explanation}`,
  );
  return {
    score: scores.reduce((sum, { found }) => sum + found.score, 0) / scores.length,
    explanation: failed.length === 0 ? `All ${scores.length} are as expected.` : told.join(' '),
    details: scores.map(({ unit, found }) => ({
      of: unit.name,
      score: found.score,
      explanation: found.explanation,
    })),
  };
}
