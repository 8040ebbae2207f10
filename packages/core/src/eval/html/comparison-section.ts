import type { Comparison, Difference, EvalReport } from '../report.ts';
import type { CaseOverview } from './case-overview.ts';
import { chart } from './chart-section.ts';
import { type IntervalRow, intervalChart, roundSteps } from './interval-chart.ts';
import { type Content, html, type Markup, shortLine } from './markup.ts';
import {
  costText,
  countOf,
  countText,
  durationText,
  percentText,
  pointsText,
  signedScoreText,
  signedText,
} from './number-text.ts';
import { scrolledTable } from './scrolled-table.ts';
import { longestName, variantLabel } from './variant-mark.ts';

const mostLinks = 60;

/** Each later variant against the first one, case by case. */
export function comparisonSection(
  report: EvalReport,
  cases: readonly CaseOverview[],
): Markup | undefined {
  const { comparisons } = report;
  if (comparisons.length === 0) return undefined;
  return html`<section aria-labelledby="comparison"><h2 id="comparison">Comparison</h2>
${comparisons.map((comparison) => comparisonOf(comparison, report, cases))}</section>`;
}

function comparisonOf(
  comparison: Comparison,
  { variants, confidence }: EvalReport,
  cases: readonly CaseOverview[],
): Markup {
  const place = (name: string): number =>
    Math.max(
      0,
      variants.findIndex((variant) => variant.name === name),
    );
  const [baseline, candidate] = [place(comparison.baseline), place(comparison.candidate)];
  const compared = countOf(comparison.cases, 'case');
  const note =
    `Difference paired over ${compared}, with ${percentText(confidence)} intervals. ` +
    'Right of the line the candidate is better. An interval that crosses the line may be chance.';
  const later = variantLabel(candidate, comparison.candidate);
  const earlier = variantLabel(baseline, comparison.baseline);
  const changed = [
    changedCases('Regressed', 'regressed', comparison.regressed, cases),
    changedCases('Improved', 'improved', comparison.improved, cases),
  ];
  return html`<div class="comparison"><h3 class="versus">${later} against ${earlier}</h3>
<p>${conclusion(comparison)}</p>
<div class="charts">${chart('Pass rate and scores', note, differenceChart(comparison, candidate))}
${chart('Time, calls and cost', 'Mean of a trial. Less is better.', measureTable(comparison))}
${changed}</div></div>`;
}

function conclusion({ passRate, improved, regressed, cases }: Comparison): Content {
  const unchanged = cases - improved.length - regressed.length;
  const moved =
    `${countOf(improved.length, 'case')} improved, ${countText(regressed.length)} regressed, ` +
    `${countText(unchanged)} as before.`;
  const [before, now] = [percentText(passRate.baseline), percentText(passRate.candidate)];
  const difference = html`<strong>${pointsText(passRate.value)}</strong>`;
  const rates = html`${difference} pass rate: ${before} before, ${now} now.`;
  const doubt = passRate.significant
    ? 'The difference is larger than chance explains.'
    : 'The difference may be chance.';
  return html`${rates} ${moved} ${doubt}`;
}

function differenceChart(comparison: Comparison, variant: number): Markup {
  const scorers = Object.entries(comparison.scores);
  const rows = [
    differenceRow('Pass rate', comparison.passRate, variant, pointsText),
    ...scorers.map(([scorer, difference]) =>
      differenceRow(scorer, difference, variant, signedScoreText),
    ),
  ];
  const most = Math.max(
    ...rows
      .flatMap(({ interval }) => [
        Math.abs(interval.low),
        Math.abs(interval.high),
        Math.abs(interval.value),
      ])
      .filter(Number.isFinite),
  );
  const reach = roundSteps(Math.max(most, 0.05), 2).at(-1) ?? 1;
  const axis = { from: -reach, to: reach, ticks: [-reach, -reach / 2, 0, reach / 2, reach] };
  return intervalChart(rows, { ...axis, tickText: tickTextOf, line: 0, lineKind: 'zero' });
}

function tickTextOf(at: number): string {
  const rounded = Math.round(at * 1000) / 1000;
  return rounded === 0 ? '0' : `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)}`;
}

function differenceRow(
  name: string,
  difference: Difference,
  variant: number,
  text: (value: number) => string,
): IntervalRow {
  return {
    label: html`<bdi>${shortLine(name, longestName)}</bdi>`,
    variant,
    interval: difference,
    value: text(difference.value),
    range: `${text(difference.low)} to ${text(difference.high)}`,
    note: changeNote(difference, true),
  };
}

function changeNote({ significant, value }: Difference, isMoreBetter: boolean): Markup | undefined {
  if (!significant || value === 0) return undefined;
  const isBetter = value > 0 === isMoreBetter;
  return isBetter
    ? html` <span class="change better">▲ better</span>`
    : html` <span class="change worse">▼ worse</span>`;
}

function measureTable({
  measures: { durationMs, steps, tokens, cost },
  baseline,
  candidate,
}: Comparison): Markup {
  const rows = [
    measureRow('Duration', durationMs, durationText),
    measureRow('Model calls', steps, countText),
    measureRow('Tokens', tokens, countText),
    cost !== undefined && measureRow('Cost', cost, costText),
  ];
  const columns = [shortLine(baseline, longestName), shortLine(candidate, longestName)].map(
    (name) => html`<th scope="col"><bdi>${name}</bdi></th>`,
  );
  const head = [columns, html`<th scope="col">difference</th>`];
  return scrolledTable({ label: 'Time, calls and cost', firstColumn: 'Measure', head, rows });
}

function measureRow(name: string, difference: Difference, text: (value: number) => string): Markup {
  const signed = (value: number): string => signedText(value, text);
  const isSame = difference.low === 0 && difference.high === 0;
  const { low, high } = difference;
  const range = !isSame && html` <span class="range">${signed(low)} to ${signed(high)}</span>`;
  return html`<tr><th scope="row">${name}</th>${[
    html`<td>${text(difference.baseline)}</td><td>${text(difference.candidate)}</td>`,
    html`<td>${signed(difference.value)}${range}${changeNote(difference, false)}</td>`,
  ]}</tr>`;
}

/** The cases that went up or down, as links to them. */
function changedCases(
  title: string,
  name: 'improved' | 'regressed',
  ids: readonly string[],
  cases: readonly CaseOverview[],
): Markup | undefined {
  if (ids.length === 0) return undefined;
  const places = new Map(cases.map(({ id, index }) => [id, index]));
  const links = ids.slice(0, mostLinks).map((id) => {
    const index = places.get(id);
    const text = html`<bdi>${shortLine(id, longestName)}</bdi>`;
    const link = index === undefined ? text : html`<a href="#case-${index}">${text}</a>`;
    return html`<li>${link}</li>`;
  });
  const left = ids.length - mostLinks;
  const count = html`<span class="count ${name}">${countText(ids.length)}</span>`;
  return html`<figure class="chart"><figcaption><h3>${title} ${count}</h3></figcaption>${[
    html`<ul class="case-links">${links}</ul>`,
    left > 0 && html`<p class="note">And ${countText(left)} more: see the filters below.</p>`,
  ]}</figure>`;
}
