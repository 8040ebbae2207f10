import { defined } from '../../base/defined.ts';
import type { EvalReport, ScoreSummary, TrialReport, VariantReport } from '../report.ts';
import { histogramChart } from './histogram-chart.ts';
import { type IntervalRow, intervalChart } from './interval-chart.ts';
import { type Content, html, type Markup, shortLine } from './markup.ts';
import { costText, countOf, durationText, percentText, scoreText } from './number-text.ts';
import { passAtKChart } from './pass-at-k-chart.ts';
import { scrolledTable } from './scrolled-table.ts';
import { longestName, variantLabel, variantLegend } from './variant-mark.ts';

const shareAxis = { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1] } as const;
/** More scorers than this make a chart that nobody reads. */
const mostScorers = 30;

/** The charts over all trials. */
export function chartSection(report: EvalReport): Markup {
  return html`<section aria-labelledby="charts"><h2 id="charts">Charts</h2><div class="charts">
${passRates(report)}${scores(report)}${passAtK(report)}${failures(report)}
${distribution('Duration of a trial', report, ({ durationMs }) => durationMs, durationText)}
${distribution('Cost of a trial', report, ({ cost }) => cost, costText)}</div></section>`;
}

export function chart(title: string, note: Content, content: Content): Markup {
  const caption = html`<h3>${title}</h3><p class="note">${note}</p>`;
  return html`<figure class="chart"><figcaption>${caption}</figcaption>${content}</figure>`;
}

function passRates({ variants, threshold, confidence }: EvalReport): Markup {
  const rows = variants.map(({ name, summary: { passRate } }, variant): IntervalRow => {
    const range = `${percentText(passRate.low)} to ${percentText(passRate.high)}`;
    return {
      label: variantLabel(variant, name),
      variant,
      interval: passRate,
      value: percentText(passRate.value),
      range,
    };
  });
  const line =
    threshold === undefined ? '' : ` The line is the threshold, ${percentText(threshold)}.`;
  const intervals = `with ${percentText(confidence)} intervals`;
  const note = `Trials in which every scorer passed, ${intervals}.${line}`;
  const axis = {
    ...shareAxis,
    tickText: percentText,
    ...defined({ line: threshold }),
  };
  return chart('Pass rate', note, intervalChart(rows, axis));
}

function scores({ variants, confidence }: EvalReport): Markup | undefined {
  const scorers = [...new Set(variants.flatMap(({ summary }) => Object.keys(summary.scores)))];
  if (scorers.length === 0) return undefined;
  const rows = scorers.slice(0, mostScorers).flatMap((scorer) => {
    const own = variants.flatMap(({ name, summary }, variant) => {
      const score = ownScore(summary.scores, scorer);
      return score === undefined ? [] : [scoreRow(score, variant, name)];
    });
    return own.map((row, index) =>
      index === 0 ? { ...row, heading: html`<bdi>${shortLine(scorer, longestName)}</bdi>` } : row,
    );
  });
  const left = scorers.length - mostScorers;
  return chart(
    'Scores',
    `Mean over the cases, from 0 to 1, with ${percentText(confidence)} intervals.`,
    [
      intervalChart(rows, { ...shareAxis, tickText: scoreText }),
      left > 0 && html`<p class="note">${countOf(left, 'scorer')} more are not drawn.</p>`,
    ],
  );
}

function ownScore(
  scores: VariantReport['summary']['scores'],
  scorer: string,
): ScoreSummary | undefined {
  return Object.hasOwn(scores, scorer) ? scores[scorer] : undefined;
}

function scoreRow({ mean, low, high }: ScoreSummary, variant: number, name: string): IntervalRow {
  return {
    label: variantLabel(variant, name),
    variant,
    interval: { value: mean, low, high },
    value: scoreText(mean),
    range: `${scoreText(low)} to ${scoreText(high)}`,
  };
}

function passAtK({ variants }: EvalReport): Markup | undefined {
  const drawn = passAtKChart(variants);
  if (drawn === undefined) return undefined;
  const note =
    'Chance that at least one of k trials of a case passes (solid), and that all of them ' +
    'do (dashed). The further apart, the less can be relied on.';
  return chart('Pass at k', note, [variantLegend(variants.map(({ name }) => name)), drawn]);
}

/** Which scorers trials fail by, the most frequent first. */
function failures({ variants }: EvalReport): Markup | undefined {
  const counts = variants.map(({ cases }) => failureCounts(cases.flatMap(({ trials }) => trials)));
  const total = (reason: string): number =>
    counts.reduce((sum, count) => sum + (count.get(reason) ?? 0), 0);
  const reasons = [...new Set(counts.flatMap((count) => [...count.keys()]))]
    .toSorted((a, b) => total(b) - total(a))
    .slice(0, mostScorers);
  if (reasons.length === 0) return undefined;
  const rows = reasons.map((reason) => {
    const cells = counts.map((count) => html`<td>${count.get(reason) ?? 0}</td>`);
    return html`<tr><th scope="row"><bdi>${shortLine(reason, longestName)}</bdi></th>${cells}</tr>`;
  });
  const head = variants.map(
    ({ name }, variant) => html`<th scope="col">${variantLabel(variant, name)}</th>`,
  );
  const table = scrolledTable({ label: 'What failed', firstColumn: 'Scorer', head, rows });
  return chart(
    'What failed',
    'Trials in which this scorer did not pass, or which did not come to an end. A trial ' +
      'may fail by several.',
    table,
  );
}

function failureCounts(trials: readonly TrialReport[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const note = (reason: string): unknown => counts.set(reason, (counts.get(reason) ?? 0) + 1);
  for (const { scores, status } of trials) {
    if (status !== 'completed') note(endings[status]);
    for (const { scorer, passed } of scores) if (!passed) note(scorer);
  }
  return counts;
}

const endings = {
  error: 'error',
  timed_out: 'timeout',
  cancelled: 'cancelled',
  waiting: 'waiting',
} as const;

function distribution(
  title: string,
  { variants }: EvalReport,
  measure: (trial: TrialReport) => number | undefined,
  text: (value: number) => string,
): Markup | undefined {
  const series = variants.map(({ name, cases }, variant) => {
    const values = cases
      .flatMap(({ trials }) => trials.map(measure))
      .filter((value) => value !== undefined && Number.isFinite(value) && value >= 0);
    return { variant, name, values: values as number[] };
  });
  const drawn = series.filter(({ values }) => values.length > 0);
  if (!drawn.some(({ values }) => values.some((value) => value > 0))) return undefined;
  return chart(
    title,
    'Trials by size; the lines are the 50th and, dashed, the 95th percentile.',
    histogramChart(drawn, text),
  );
}
