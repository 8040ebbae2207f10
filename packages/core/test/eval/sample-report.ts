import type {
  CaseReport,
  Comparison,
  Difference,
  EvalReport,
  Interval,
  ScoreReport,
  TrialReport,
  VariantReport,
} from 'adjutant/eval';

export interface SampleSize {
  readonly cases: number;
  readonly trials: number;
  readonly variants?: readonly string[];
  /** Text behind each text of a trial. */
  readonly padding?: string;
}

/**
 * A report as an eval makes it, with outcomes that look like chance and are the same every time.
 * For pages that show reports.
 */
export function sampleReport({
  cases,
  trials,
  variants = ['gpt-5-mini', 'gpt-5-mini, short prompt'],
  padding = '',
}: SampleSize): EvalReport {
  const reports = variants.map((name, variant) =>
    variantReport(name, variant, { cases, trials, padding }),
  );
  const [baseline, ...candidates] = reports;
  return {
    format: 'adjutant-eval-report',
    v: 1,
    name: 'Customer support: refunds and orders',
    runId: 'evr_2f8c1d90',
    startedAt: Date.UTC(2026, 10, 22, 7, 30),
    finishedAt: Date.UTC(2026, 10, 22, 7, 41, 12),
    total: cases * trials * variants.length,
    done: cases * trials * variants.length,
    variants: reports,
    comparisons:
      baseline === undefined ? [] : candidates.map((candidate) => compare(baseline, candidate)),
    threshold: 0.8,
    passed: reports.every(({ summary }) => summary.passRate.value >= 0.8),
    confidence: 0.95,
    methods:
      'Pass rates have Wilson intervals, widened for trials of the same case; means and ' +
      'differences have intervals of Student over cases.',
  };
}

/** From 0 to 1, always the same for the same numbers. */
function chance(...seeds: readonly number[]): number {
  let state = 2166136261;
  for (const seed of seeds) state = Math.imul(state ^ (seed + 0x9e37), 16777619);
  state = Math.imul(state ^ (state >>> 15), 2246822519);
  return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
}

const topics = [
  'refund',
  'order-status',
  'address-change',
  'cancel-order',
  'invoice-copy',
  'delivery-late',
];

function variantReport(
  name: string,
  variant: number,
  { cases, trials, padding }: Required<Omit<SampleSize, 'variants'>>,
): VariantReport {
  const reports = Array.from({ length: cases }, (_, index): CaseReport => {
    const ease = Math.min(
      1,
      0.55 + chance(index, 7) * 0.62 + (variant === 1 ? (chance(index, 31) - 0.4) * 0.3 : 0),
    );
    const all = Array.from({ length: trials }, (_, trial) =>
      trialReport({ variant, index, trial: trial + 1, ease, padding }),
    );
    const topic = topics[index % topics.length] ?? 'refund';
    return {
      id: `${topic}-${String(index + 1).padStart(3, '0')}`,
      ...(index % 3 === 0
        ? {
            description:
              'The customer has the wrong order number at hand and corrects it when asked.',
          }
        : {}),
      tags: index % 4 === 0 ? [topic, 'multi-turn'] : [topic],
      trials: all,
      passRate: share(all),
    };
  });
  const all = reports.flatMap((one) => one.trials);
  const durations = all.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
  const cost = all.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  const ks = Array.from({ length: trials }, (_, index) => index + 1);
  return {
    name,
    summary: {
      cases,
      trials: all.length,
      passed: all.filter(({ passed }) => passed).length,
      passRate: wilson(share(all), all.length),
      passAtK: ks.map((k) => ({
        k,
        value: average(reports.map(({ passRate }) => 1 - (1 - passRate) ** k)),
      })),
      passAllK: ks.map((k) => ({
        k,
        value: average(reports.map(({ passRate }) => passRate ** k)),
      })),
      scores: Object.fromEntries(
        ['tool_trajectory', 'response_match', 'groundedness'].map((scorer, place) => {
          const values = all.map(({ scores }) => scores[place]?.score ?? 0);
          const { value, low, high } = wilson(average(values), reports.length);
          return [
            scorer,
            {
              mean: value,
              low,
              high,
              trials: all.length,
              passed: all.filter(({ scores }) => scores[place]?.passed).length,
            },
          ];
        }),
      ),
      durationMs: {
        mean: average(durations),
        p50: durations[Math.floor(durations.length / 2)] ?? 0,
        p95: durations[Math.floor(durations.length * 0.95)] ?? 0,
      },
      cost: { total: cost, mean: all.length === 0 ? 0 : cost / all.length },
      usage: { inputTokens: all.length * 1_840, outputTokens: all.length * 212 },
      steps: { mean: average(all.map(({ steps }) => steps)) },
    },
    cases: reports,
  };
}

interface TrialSeed {
  readonly variant: number;
  readonly index: number;
  readonly trial: number;
  readonly ease: number;
  readonly padding: string;
}

function trialReport({ variant, index, trial, ease, padding }: TrialSeed): TrialReport {
  const luck = chance(variant, index, trial);
  const isBroken = luck > 0.985;
  const passed = luck < ease && !isBroken;
  const order = 48_000 + index;
  const durationMs = Math.round(
    900 +
      2_400 * chance(index, trial, 3) ** 2 * (variant === 1 ? 0.7 : 1) +
      (luck > 0.97 ? 14_000 * luck : 0),
  );
  return {
    trial,
    session: `eval/evr_2f8c1d90/${variant}/${index}/${trial}`,
    status: isBroken ? 'error' : 'completed',
    passed,
    scores: isBroken ? [] : scores(luck, passed, order),
    durationMs,
    cost: Math.round((0.0008 + 0.004 * chance(index, trial, 11)) * 1e6) / 1e6,
    usage: { inputTokens: 1_840, outputTokens: 212 },
    steps: 2 + Math.floor(chance(index, trial, 5) * 3),
    ...(isBroken
      ? {
          error: {
            name: 'ModelError',
            code: 'model_failed',
            message: 'The model answered with status 529 four times in a row.',
          },
        }
      : {}),
    turns: [
      {
        user:
          `Hi, where is my order ${order}? I want my money back if it is not here ` +
          `tomorrow.${padding}`,
        ...(isBroken
          ? {}
          : {
              assistant:
                `Order ${order} left our warehouse yesterday and should arrive tomorrow ` +
                `before noon.${padding}`,
            }),
        toolCalls: [
          { name: 'findOrder', args: { orderId: String(order) }, status: 'success' },
          {
            name: 'trackParcel',
            args: { carrier: 'postal', parcel: `P-${order}-${trial}` },
            status: luck > 0.9 ? 'error_transient' : 'success',
          },
        ],
      },
    ],
  };
}

function scores(luck: number, passed: boolean, order: number): ScoreReport[] {
  const missed = !passed && luck > 0.8;
  return [
    {
      scorer: 'tool_trajectory',
      score: missed ? 0.5 : 1,
      passed: !missed,
      threshold: 1,
      explanation: missed
        ? 'Expected findOrder, trackParcel, refund in this order; refund was never called.'
        : 'All expected calls were made in this order.',
      details: {
        expected: ['findOrder', 'trackParcel', 'refund'],
        missing: missed ? ['refund'] : [],
      },
    },
    {
      scorer: 'response_match',
      score: passed ? 0.95 : 0.42,
      passed: passed || missed,
      threshold: 0.7,
      explanation: passed
        ? 'The answer has all expected words.'
        : `The answer does not name the delivery day of order ${order}.`,
    },
    {
      scorer: 'groundedness',
      score: 0.9,
      passed: true,
      threshold: 0.6,
      explanation: 'Every number of the answer stands in a tool result.',
    },
  ];
}

function compare(baseline: VariantReport, candidate: VariantReport): Comparison {
  const pairs = baseline.cases.map((one, index) => [one, candidate.cases[index] ?? one] as const);
  const by = (measure: (one: TrialReport) => number): Difference =>
    difference(
      pairs.map(
        ([a, b]) => [average(a.trials.map(measure)), average(b.trials.map(measure))] as const,
      ),
    );
  const scorers = Object.keys(baseline.summary.scores);
  return {
    baseline: baseline.name,
    candidate: candidate.name,
    cases: pairs.length,
    passRate: difference(pairs.map(([a, b]) => [a.passRate, b.passRate] as const)),
    scores: Object.fromEntries(
      scorers.map((scorer, place) => [scorer, by(({ scores }) => scores[place]?.score ?? 0)]),
    ),
    measures: {
      durationMs: by((one) => one.durationMs),
      steps: by((one) => one.steps),
      tokens: by(() => 2_052),
      cost: by(({ cost = 0 }) => cost),
    },
    improved: pairs.flatMap(([a, b]) => (b.passRate > a.passRate ? [a.id] : [])),
    regressed: pairs.flatMap(([a, b]) => (b.passRate < a.passRate ? [a.id] : [])),
  };
}

function difference(pairs: readonly (readonly [number, number])[]): Difference {
  const values = pairs.map(([a, b]) => b - a);
  const value = average(values);
  const spread =
    Math.sqrt(average(values.map((one) => (one - value) ** 2)) / Math.max(1, values.length - 1)) *
    1.96;
  const [low, high] = [value - spread, value + spread];
  return {
    value,
    low,
    high,
    baseline: average(pairs.map(([a]) => a)),
    candidate: average(pairs.map(([, b]) => b)),
    pValue: 0.03,
    significant: low > 0 || high < 0,
  };
}

function share(trials: readonly TrialReport[]): number {
  return average(trials.map(({ passed }) => (passed ? 1 : 0)));
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function wilson(value: number, n: number): Interval {
  if (n === 0) return { value: 0, low: 0, high: 1 };
  const z = 1.96;
  const centre = (value + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half =
    (z / (1 + (z * z) / n)) * Math.sqrt((value * (1 - value)) / n + (z * z) / (4 * n * n));
  return { value, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

const attack =
  '</script><script>window.hacked = 1</script><img src=x ' +
  `onerror="window.hacked=1">"'\`\${1}<!--`;
const disguised = '\u202eevil\u2066\u0000\u0007\u009b31m\ud800 مرحبا בדיקה';

/**
 * A report whose every text tries something: tags, control characters, other directions of writing,
 * lengths that nobody reads.
 */
export function hostileReport(): EvalReport {
  const text = `${attack} ${disguised}`;
  const long = `${text}${'wide'.repeat(2_500_000)}`;
  const [first] = sampleReport({ cases: 1, trials: 1 }).variants;
  const trial: TrialReport = {
    trial: 1,
    session: text,
    status: 'error',
    passed: false,
    scores: [
      {
        scorer: text,
        score: Number.NaN,
        passed: false,
        threshold: 0.5,
        explanation: long,
        details: { [text]: [text, long] },
      },
    ],
    durationMs: -1,
    cost: Number.POSITIVE_INFINITY,
    usage: { inputTokens: 0, outputTokens: 0 },
    steps: 0,
    error: { name: text, code: text, message: long },
    turns: [
      { user: long, assistant: text, toolCalls: [{ name: long, args: { [text]: long } }] },
      { user: disguised, toolCalls: [] },
    ],
  };
  const interval = { value: Number.NaN, low: -3, high: 7 };
  const difference = { ...interval, baseline: 0, candidate: 0, pValue: 0, significant: true };
  const cases: CaseReport[] = [text, `__proto__`, long, ''].map((id) => ({
    id,
    description: long,
    tags: [text, long, ''],
    trials: [trial, trial],
    passRate: 0,
  }));
  const variant = (name: string): VariantReport => ({
    name,
    summary: {
      ...(first as VariantReport).summary,
      passRate: interval,
      passAtK: [
        { k: 1, value: Number.NaN },
        { k: 2, value: 9 },
      ],
      passAllK: [],
      scores: {
        [text]: { mean: Number.NaN, low: 0, high: 0, trials: 1, passed: 0 },
        ['constructor']: { mean: 9, low: -9, high: 99, trials: 1, passed: 0 },
      },
    },
    cases,
  });
  const variants = [variant(text), variant(long)];
  const comparison: Comparison = {
    baseline: text,
    candidate: long,
    cases: 4,
    passRate: difference,
    scores: { [text]: difference },
    measures: { durationMs: difference, steps: difference, tokens: difference },
    improved: [text, 'unknown', '__proto__'],
    regressed: [long],
  };
  return {
    ...sampleReport({ cases: 0, trials: 0, variants: [] }),
    name: long,
    runId: text,
    startedAt: Number.NaN,
    total: 16,
    done: 16,
    variants,
    comparisons: [comparison],
    passed: false,
    methods: text,
  };
}
