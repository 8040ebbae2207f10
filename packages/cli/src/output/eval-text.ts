import type {
  CaseReport,
  Comparison,
  EvalReport,
  Interval,
  TrialReport,
  VariantReport,
} from 'adjutant/eval';
import { formatCost, formatCount, formatDuration, shorten } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';
import { tableLines } from './table.ts';

/** Number of cases that are named in a terminal; the HTML report has all. */
const mostCases = 20;
const longestTitle = 120;
const longestName = 40;
const longestReason = 200;

export interface EvalTextOptions {
  readonly style: Style;
  /** Returns the command that shows the session of a trial. */
  readonly sessionCommand: (session: string, variant: string) => string;
}

/** Returns the report of an eval as lines for people. */
export function evalLines(report: EvalReport, options: EvalTextOptions): string[] {
  const { style } = options;
  const took =
    report.finishedAt === undefined
      ? ''
      : ` in ${formatDuration(report.finishedAt - report.startedAt)}`;
  return [
    `${style.bold(shorten(plainLine(report.name), longestTitle))} ` +
      `${style.dim(`${formatCount(report.done, 'trial')}${took}, run ${plainLine(report.runId)}`)}`,
    '',
    ...variantTable(report),
    ...block(scoreTable(report)),
    ...block(passAtKTable(report)),
    ...block(report.comparisons.map((comparison) => comparisonLine(comparison, style))),
    ...block(caseLines(report, options)),
    ...block(unscoredLines(report, style)),
    '',
    verdictLine(report, style),
  ];
}

function block(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function nameOf(text: string): string {
  return shorten(plainLine(text), longestName);
}

function variantTable({ variants }: EvalReport): string[] {
  const hasCost = variants.some(({ summary }) => summary.cost !== undefined);
  const head = [
    'VARIANT',
    'CASES',
    'TRIALS',
    'PASSED',
    'PASS RATE',
    'P50',
    'P95',
    'CALLS',
    ...(hasCost ? ['COST'] : []),
  ];
  const rows = variants.map(({ name, summary }) => {
    const { cases, trials, passed, passRate, durationMs, steps, cost } = summary;
    const numbers = [cases, trials, passed].map(String);
    const rate = trials === 0 ? '–' : rangeText(passRate, percent);
    const times = [
      formatDuration(durationMs.p50),
      formatDuration(durationMs.p95),
      decimal(steps.mean),
    ];
    return [
      nameOf(name),
      ...numbers,
      rate,
      ...times,
      ...(hasCost ? [cost === undefined ? '–' : formatCost(cost.total)] : []),
    ];
  });
  return tableLines(head, rows, { right: [1, 2, 3, 5, 6, 7, 8] });
}

function scoreTable({ variants }: EvalReport): string[] {
  const scorers = [...new Set(variants.flatMap(({ summary }) => Object.keys(summary.scores)))];
  if (scorers.length === 0) return [];
  const rows = scorers.map((scorer) => [
    nameOf(scorer),
    ...variants.map(({ summary: { scores } }) => {
      const score = Object.hasOwn(scores, scorer) ? scores[scorer] : undefined;
      return score === undefined
        ? '–'
        : rangeText({ value: score.mean, low: score.low, high: score.high }, (value) =>
            value.toFixed(2),
          );
    }),
  ]);
  return tableLines(['SCORE', ...variants.map(({ name }) => nameOf(name))], rows);
}

/**
 * Table of pass@k and pass^k, for the numbers of trials that were made. It is empty for a single
 * trial, where both equal the pass rate.
 */
function passAtKTable({ variants }: EvalReport): string[] {
  const ks = [
    ...new Set(variants.flatMap(({ summary }) => summary.passAtK.map(({ k }) => k))),
  ].toSorted((a, b) => a - b);
  if (ks.every((k) => k === 1)) return [];
  const rows = variants.flatMap(({ name, summary: { passAtK, passAllK } }) =>
    [passAtK, passAllK].map((values, index) => [
      nameOf(name),
      index === 0 ? 'at least one (pass@k)' : 'all of them (pass^k)',
      ...ks.map((k) => percent(values.find((one) => one.k === k)?.value ?? Number.NaN)),
    ]),
  );
  return tableLines(['OF k TRIALS', 'PASS', ...ks.map((k) => `k=${k}`)], rows, {
    right: ks.map((_, index) => index + 2),
  });
}

function comparisonLine(
  { baseline, candidate, passRate, improved, regressed }: Comparison,
  style: Style,
): string {
  const points = [passRate.value, passRate.low, passRate.high].map((value) => signed(value * 100));
  const sure = passRate.significant ? 'more than chance explains' : 'may be chance';
  const cases = `${formatCount(improved.length, 'case')} improved, ${regressed.length} regressed`;
  return (
    `${style.bold(nameOf(candidate))} against ${nameOf(baseline)}: ${points[0]} points of ` +
    `pass rate (${points[1]} to ${points[2]}, ${sure}); ${cases}`
  );
}

/**
 * Lines for the cases that a variant did not always pass. Each has the reason of its first failed
 * trial.
 */
function caseLines(report: EvalReport, options: EvalTextOptions): string[] {
  const found = report.variants.flatMap((variant) =>
    variant.cases
      .filter(({ trials }) => trials.some(({ passed }) => !passed))
      .map((one) => ({ variant, one })),
  );
  const worstFirst = found.toSorted((a, b) => a.one.passRate - b.one.passRate);
  const left = found.length - mostCases;
  const more =
    left > 0
      ? [options.style.dim(`… and ${left} more; --html writes a page with all of them`)]
      : [];
  return [
    ...worstFirst
      .slice(0, mostCases)
      .flatMap(({ variant, one }) => caseText(one, variant, report.variants.length > 1, options)),
    ...more,
  ];
}

function caseText(
  one: CaseReport,
  variant: VariantReport,
  namesVariant: boolean,
  { style, sessionCommand }: EvalTextOptions,
): string[] {
  const failed = one.trials.find(({ passed }) => !passed);
  if (failed === undefined) return [];
  const passed = one.trials.filter((trial) => trial.passed).length;
  const mark = passed === 0 ? style.red('✗') : style.yellow('~');
  const where = namesVariant ? ` ${style.dim(`with ${nameOf(variant.name)}`)}` : '';
  return [
    `${mark} ${style.bold(nameOf(one.id))}${where} ${passed} of ` +
      `${formatCount(one.trials.length, 'trial')} passed`,
    `    ${shorten(plainLine(reasonOf(failed)), longestReason)}`,
    `    ${style.dim(plainLine(sessionCommand(failed.session, variant.name)))}`,
  ];
}

/**
 * Warning about cases that passed although no scorer applied to them. They would pass with any
 * answer.
 */
function unscoredLines({ variants }: EvalReport, style: Style): string[] {
  const cases = variants.flatMap((variant) => variant.cases);
  const isUnscored = ({ trials }: CaseReport): boolean =>
    trials.length > 0 && trials.every(({ passed, scores }) => passed && scores.length === 0);
  const names = [...new Set(cases.filter(isUnscored).map(({ id }) => id))];
  if (names.length === 0) return [];
  const shown = names.slice(0, 3).map(nameOf).join(', ');
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return [
    style.yellow(
      `No scorer had anything to judge in ${formatCount(names.length, 'case')} ` +
        `(${shown}${more}): give them \`expect\`, or a scorer that needs none.`,
    ),
  ];
}

const endings: Readonly<Record<TrialReport['status'], string>> = {
  completed: 'It did not pass.',
  error: 'It ended with an error.',
  timed_out: 'It took longer than a trial may.',
  cancelled: 'It was cancelled.',
  waiting: 'It waited for an answer that nobody gave.',
};

function reasonOf({ error, scores, status }: TrialReport): string {
  if (error !== undefined) return error.message;
  const failed = scores.find(({ passed }) => !passed);
  return failed === undefined ? endings[status] : `${failed.scorer}: ${failed.explanation}`;
}

/** Line with the verdict of the eval, and with the variants that failed it. */
export function verdictLine(report: EvalReport, style: Style): string {
  const required = report.threshold ?? 1;
  if (report.finishedAt === undefined)
    return style.yellow(`Stopped after ${report.done} of ${formatCount(report.total, 'trial')}.`);
  if (report.passed)
    return style.green(`Passed: at least ${percent(required)} of the trials had to pass.`);
  const below = report.variants
    .filter(({ summary }) => summary.trials === 0 || summary.passRate.value < required)
    .map(
      ({ name, summary }) =>
        `${nameOf(name)} has ` +
        `${summary.trials === 0 ? 'no trials' : percent(summary.passRate.value)}`,
    );
  return style.red(
    `Not passed: at least ${percent(required)} of the trials had to pass. ${below.join(', ')}.`,
  );
}

function rangeText({ value, low, high }: Interval, text: (value: number) => string): string {
  return `${text(value)} (${text(low)} to ${text(high)})`;
}

/**
 * Returns a share as a percentage. A share below 1 is never rounded up to 100%, and one above 0
 * never down to 0%.
 */
function percent(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const value = share * 100;
  if (value > 99.5 && value < 100) return `${Math.floor(value * 10) / 10}%`;
  if (value > 0 && value < 0.5) return `${Math.ceil(value * 10) / 10}%`;
  return `${Math.round(value)}%`;
}

function signed(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return `${rounded > 0 ? '+' : ''}${rounded}`;
}

function decimal(value: number): string {
  return Number.isFinite(value) ? String(Math.round(value * 10) / 10) : '–';
}
