import { PassThrough } from 'node:stream';
import type { CaseReport, EvalReport, TrialReport, VariantReport } from 'adjutant/eval';
import { expect, test } from 'vitest';
import { evalLines, verdictLine } from '../../src/output/eval-text.ts';
import { styleFor } from '../../src/output/style.ts';

const style = styleFor(new PassThrough());
const sessionCommand = (session: string, variant: string): string =>
  `adjutant show ${session} --app ${variant.slice(0, 20)}`;

function trial(number: number, of: Partial<TrialReport> = {}): TrialReport {
  const words = { scorer: 'words', threshold: 0.8 };
  const scores = [
    of.passed === false
      ? { ...words, score: 0.2, passed: false, explanation: 'The order is not named.' }
      : { ...words, score: 1, passed: true, explanation: 'All are there.' },
  ];
  return {
    ...{
      trial: number,
      session: `s${number}`,
      status: 'completed',
      passed: true,
      scores,
      durationMs: 1_000,
    },
    ...{ usage: { inputTokens: 1, outputTokens: 1 }, steps: 1, turns: [] },
    ...of,
  };
}

function variant(
  name: string,
  cases: readonly CaseReport[],
  of: Partial<VariantReport['summary']> = {},
): VariantReport {
  const trials = cases.flatMap((one) => one.trials);
  const passed = trials.filter((one) => one.passed).length;
  const value = trials.length === 0 ? 0 : passed / trials.length;
  const summary = {
    ...{
      cases: cases.length,
      trials: trials.length,
      passed,
      passRate: { value, low: 0, high: 1 },
      passAtK: [{ k: 1, value }],
      passAllK: [{ k: 1, value }],
    },
    ...{
      scores: {},
      durationMs: { mean: 0, p50: 1_000, p95: 2_500 },
      usage: { inputTokens: 0, outputTokens: 0 },
      steps: { mean: 1.25 },
    },
    ...of,
  };
  return { name, summary, cases };
}

function report(variants: readonly VariantReport[], of: Partial<EvalReport> = {}): EvalReport {
  const total = variants.reduce((sum, { summary }) => sum + summary.trials, 0);
  return {
    ...{
      format: 'adjutant-eval-report',
      v: 1,
      name: 'Refunds',
      runId: 'r1',
      startedAt: 0,
      finishedAt: 61_000,
      total,
      done: total,
      variants,
    },
    ...{ comparisons: [], passed: false, confidence: 0.95, methods: '' },
    ...of,
  };
}

function text(given: EvalReport): string {
  return evalLines(given, { style, sessionCommand }).join('\n');
}

function one(id: string, ...trials: readonly TrialReport[]): CaseReport {
  return {
    id,
    tags: [],
    trials,
    passRate: trials.filter(({ passed }) => passed).length / Math.max(1, trials.length),
  };
}

test('one variant without prices, scores or repetitions is a short table', () => {
  expect(
    text(report([variant('app', [one('a', trial(1)), one('b', trial(2))])], { passed: true })),
  ).toBe(
    [
      'Refunds 2 trials in 1 min 01 s, run r1',
      '',
      'VARIANT  CASES  TRIALS  PASSED  PASS RATE            P50    P95  CALLS',
      'app          2       2       2  100% (0% to 100%)  1.0 s  2.5 s    1.3',
      '',
      'Passed: at least 100% of the trials had to pass.',
    ].join('\n'),
  );
});

test('cases that passed without being judged are named', () => {
  const unjudged = trial(1, { scores: [] });
  const shown = text(
    report(
      [
        variant('app', [
          one('a', trial(1)),
          ...['b', 'c', 'd', 'e'].map((id) => one(id, unjudged)),
        ]),
      ],
      { passed: true },
    ),
  );
  expect(shown).toContain(
    'No scorer had anything to judge in 4 cases (b, c, d and 1 more): give them `expect`, ' +
      'or a scorer that needs none.',
  );
  const failed = trial(1, {
    passed: false,
    scores: [],
    status: 'error',
    error: { name: 'Error', code: 'error', message: 'Broken.' },
  });
  expect(text(report([variant('app', [one('a', trial(1)), one('b', failed)])]))).not.toContain(
    'No scorer',
  );
});

test('cases that did not always pass come with the reason and the session, the worst first', () => {
  const cases = [
    one('sometimes', trial(1), trial(2, { passed: false })),
    one(
      'never',
      trial(3, {
        passed: false,
        status: 'error',
        error: { name: 'E', code: 'model_failed', message: 'No answer.' },
      }),
    ),
    one('late', trial(4, { passed: false, status: 'timed_out', scores: [] })),
    one('always', trial(5)),
  ];
  const lines = text(
    report([variant('app', cases, { cost: { total: 0.02, mean: 0.005 } })], { threshold: 0.9 }),
  ).split('\n');
  expect(lines.slice(5, 14)).toEqual([
    '✗ never 0 of 1 trial passed',
    '    No answer.',
    '    adjutant show s3 --app app',
    '✗ late 0 of 1 trial passed',
    '    It took longer than a trial may.',
    '    adjutant show s4 --app app',
    '~ sometimes 1 of 2 trials passed',
    '    words: The order is not named.',
    '    adjutant show s2 --app app',
  ]);
  expect(lines[3]).toMatch(/COST$|\$0\.02$/);
  expect(lines.at(-1)).toBe('Not passed: at least 90% of the trials had to pass. app has 40%.');
});

test('of many cases the page has all', () => {
  const cases = Array.from({ length: 45 }, (_, index) =>
    one(`case ${index}`, trial(index, { passed: false })),
  );
  const said = text(report([variant('app', cases)]));
  expect(said.match(/✗ case/g)).toHaveLength(20);
  expect(said).toContain('… and 25 more; --html writes a page with all of them');
});

test('what was stopped has no verdict, and what has no trials no rate', () => {
  const { finishedAt: _, ...stopped } = report([variant('app', [])], { total: 12, done: 0 });
  expect(text(stopped)).toContain('app          0       0       0  –');
  expect(verdictLine(stopped, style)).toBe('Stopped after 0 of 12 trials.');
  expect(verdictLine(report([variant('app', [])]), style)).toBe(
    'Not passed: at least 100% of the trials had to pass. app has no trials.',
  );
});

test('a rate that is not all is never 100%', () => {
  const summary = { passRate: { value: 0.999, low: 0.001, high: 0.9999 } };
  expect(text(report([variant('app', [one('a', trial(1))], summary)]))).toContain(
    '99.9% (0.1% to 99.9%)',
  );
});

test('no text of a report moves the cursor or takes more than its line', () => {
  const hostile = `x\x1b[2J\r\n${'wide '.repeat(100)}`;
  const scores = [{ scorer: hostile, score: 0, passed: false, threshold: 1, explanation: hostile }];
  const cases = [one(hostile, trial(1, { passed: false, scores }))];
  const variants = [
    variant(hostile, cases, {
      scores: { [hostile]: { mean: 0, low: 0, high: 0, trials: 1, passed: 0 } },
    }),
    variant('constructor', cases),
  ];
  const said = text(report(variants, { name: hostile, runId: 'r1' }));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there
  expect(said).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(
    Math.max(
      ...said
        .split('\n')

        .map((line) => line.length),
    ),
  ).toBeLessThan(240);
});
