import type { EvalReport, TrialReport } from '../report.ts';
import {
  type CaseOverview,
  firstReason,
  type Outcome,
  type VariantOfCase,
  worstOutcome,
} from './case-overview.ts';
import { type Content, html, type Markup, shortened, shortLine } from './markup.ts';
import { costText, countOf, countText, durationText } from './number-text.ts';
import { trialDetails } from './trial-details.ts';
import { longestName, variantLabel, variantSign } from './variant-mark.ts';

/** The command that shows the session of a trial, for a shell. */
export type SessionCommand = (session: string, variant: string) => string;

const longestReason = 180;
const longestDescription = 400;
const mostMarks = 20;
const mostTags = 8;
/**
 * The greatest number of cases that a browser handles. Further cases are counted only; failed cases
 * come first.
 */
const mostCases = 5_000;
/**
 * Characters of HTML that trials may take in all. Cases that did not pass come first; trials for
 * which no room is left are named with their sessions.
 */
const mostDetails = 24_000_000;
const mostTrials = 100;
/** A choice of more tags than this is no choice. */
const mostTagChoices = 100;

const outcomeTexts: Readonly<Record<Outcome, string>> = {
  passed: 'Passed',
  flaky: 'Flaky',
  failed: 'Failed',
  none: 'Not run',
};
const severity: Readonly<Record<Outcome, number>> = { failed: 0, flaky: 1, none: 2, passed: 3 };

/** All cases: what each came to with each variant, and behind that its trials. */
export function caseSection(
  report: EvalReport,
  cases: readonly CaseOverview[],
  command: SessionCommand,
): Markup {
  const worstFirst = cases.toSorted(
    (a, b) => severity[worstOutcome(a)] - severity[worstOutcome(b)] || a.index - b.index,
  );
  const shown = worstFirst.slice(0, mostCases);
  const details = detailsOf(shown, report, command);
  const rows = shown
    .toSorted((a, b) => a.index - b.index)
    .map((one) => caseRow(one, report, details.get(one.index)));
  const left = cases.length - shown.length;
  const baseline = shortLine(report.variants[0]?.name ?? '', longestName);
  const meanings = [
    'Failed: no trial passed with a variant. Flaky: some did.',
    report.comparisons.length > 0 && ` Regressed and improved: against ${baseline}.`,
  ];
  const leftOut = left > 0 && `; ${countText(left)} more are in the report but not on this page`;
  const reset = html`<button type="button" id="reset">Show all cases</button>`;
  return html`<section aria-labelledby="cases"><h2 id="cases">Cases</h2>
<p class="note section-note">${meanings}</p>
${toolbar(report, cases)}
<p class="note" id="shown" role="status">${countOf(shown.length, 'case')}${leftOut}</p>
<p class="empty" id="none-shown" hidden>No case is left by these filters. ${reset}</p>
<ol class="cases" id="case-list">${rows}</ol></section>`;
}

type Filter = readonly [name: string, text: string, count: number];

function toolbar({ variants, comparisons }: EvalReport, cases: readonly CaseOverview[]): Markup {
  const count = (filter: (one: VariantOfCase) => boolean): number =>
    cases.filter((one) => one.variants.some(filter)).length;
  const changes: readonly Filter[] = [
    ['regressed', 'Regressed', count(({ change }) => change === 'regressed')],
    ['improved', 'Improved', count(({ change }) => change === 'improved')],
  ];
  const filters: readonly Filter[] = [
    ['all', 'All', cases.length],
    ['failed', 'Failed', count(({ outcome }) => outcome === 'failed')],
    ['flaky', 'Flaky', count(({ outcome }) => outcome === 'flaky')],
    ...(comparisons.length === 0 ? [] : changes),
    ['error', 'Errors', cases.filter(({ hasError }) => hasError).length],
    ['passed', 'Passed', cases.filter((one) => worstOutcome(one) === 'passed').length],
  ];
  const buttons = filters.map(filterButton);
  const group = html`class="filters" role="group" aria-label="Filter by result"`;
  return html`<div class="toolbar" id="toolbar" hidden><div ${group}>${buttons}</div>
<div class="controls">${searchField}
${variantChoice(variants)}
${tagChoice(cases)}
${select('order', 'Order', [
  ['', 'as in the dataset'],
  ['worst', 'worst first'],
  ['slow', 'slowest first'],
  ['cost', 'most expensive first'],
])}
${openButtons}</div></div>`;
}

const searchHint = html`placeholder="Search names, reasons, tags" autocomplete="off"`;
const searchInput = html`<input type="search" id="search" ${searchHint}>`;
const searchLabel = html`<span class="unseen">Search</span>`;
const searchField = html`<label class="search">${searchLabel}${searchInput}</label>`;
const openButtons = [
  html`<button type="button" id="open-all">Open all</button>`,
  html`<button type="button" id="close-all">Close all</button>`,
];

function filterButton([name, text, many]: Filter): Markup {
  const isPressed = name === 'all' ? 'true' : 'false';
  const attributes = html`class="filter" data-filter="${name}" aria-pressed="${isPressed}"`;
  const disabled = many === 0 && html` disabled`;
  const count = html`<span class="count">${countText(many)}</span>`;
  return html`<button type="button" ${attributes}${disabled}>${text} ${count}</button>`;
}

function select(
  id: string,
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
): Markup {
  const options = choices.map(([value, text]) => html`<option value="${value}">${text}</option>`);
  return html`<label>${label} <select id="${id}">${options}</select></label>`;
}

function variantChoice(variants: EvalReport['variants']): Markup | undefined {
  if (variants.length < 2) return undefined;
  return select('variant', 'With', [
    ['', 'any variant'],
    ...variants.map(({ name }, index) => [String(index), shortLine(name, longestName)] as const),
  ]);
}

function tagChoice(cases: readonly CaseOverview[]): Markup | undefined {
  const tags = [...new Set(cases.flatMap((one) => one.tags))].toSorted().slice(0, mostTagChoices);
  if (tags.length === 0) return undefined;
  return select('tag', 'Tag', [
    ['', 'any'],
    ...tags.map((tag) => [tagValue(tag), shortLine(tag, longestName)] as const),
  ]);
}

/** A tag as a row lists it: separated by lines, which a tag cannot have then. */
function tagValue(tag: string): string {
  return shortLine(tag, longestName);
}

/**
 * Details are in a `noscript`: where scripts run it is text until the case is opened, because all
 * details at once are half a million elements, and where none run it is what it says.
 */
function caseRow(one: CaseOverview, { variants }: EvalReport, details: Content): Markup {
  const worst = worstOutcome(one);
  const trials = one.variants.flatMap(({ report }) => report?.trials ?? []);
  const duration = durationText(mean(trials.map(({ durationMs }) => durationMs)));
  const cells = one.variants.map((variant, index) =>
    variantCell(variant, index, variants[index]?.name ?? ''),
  );
  const outcome = html`<span class="outcome ${worst}">${outcomeTexts[worst]}</span>`;
  const body = html`<div class="case-body">${descriptionOf(one)}${details}</div>`;
  const attributes = html`class="case" id="case-${one.index}" ${dataOf(one, trials)}`;
  return html`<li ${attributes}><details><summary>${outcome}
<span class="case-name">${caseName(one)}</span>
<span class="case-variants${one.variants.length > 3 && html` many`}">${cells}</span>
<span class="case-numbers">${duration}${meanCost(trials)}</span></summary>
<noscript>${body}</noscript></details></li>`;
}

/** Returns the name of a case with its tags, its changes and the reason of its first failure. */
function caseName(one: CaseOverview): Content {
  const reason = firstReason(one);
  return [
    html`<bdi class="case-id">${shortLine(one.id, longestName * 2)}</bdi>`,
    one.tags
      .slice(0, mostTags)
      .map((tag) => html` <span class="tag"><bdi>${shortLine(tag, longestName)}</bdi></span>`),
    changeTags(one),
    reason !== undefined &&
      html`<span class="reason" dir="auto">${shortLine(reason, longestReason)}</span>`,
  ];
}

function descriptionOf({ description }: CaseOverview): Content {
  if (description === undefined) return undefined;
  return html`<p class="text" dir="auto">${shortened(description, longestDescription)}</p>`;
}

/** Returns the attributes that the filters of the page read. */
function dataOf(one: CaseOverview, trials: readonly TrialReport[]): Markup {
  const { variants, tags, hasError, index } = one;
  const passed = variants.reduce((sum, variant) => sum + variant.passed, 0);
  return html`data-index="${index}"
    data-outcomes="${variants.map(({ outcome }) => outcome).join(' ')}"
    data-changes="${variants.map(({ change }) => change).join(' ')}"
    data-error="${hasError ? 'true' : 'false'}"
    data-rate="${trials.length === 0 ? 1 : Math.round((passed / trials.length) * 10_000) / 10_000}"
    data-duration="${Math.round(mean(trials.map(({ durationMs }) => durationMs)))}"
    data-cost="${mean(trials.map(({ cost = 0 }) => cost)).toPrecision(6)}"
    data-tags="${tags.map(tagValue).join('\n')}"`;
}

function changeTags({ variants }: CaseOverview): Content {
  const changes = new Set(variants.map(({ change }) => change));
  return [
    changes.has('regressed') && html` <span class="change worse">▼ regressed</span>`,
    changes.has('improved') && html` <span class="change better">▲ improved</span>`,
  ];
}

function variantCell(
  { report, passed, trials }: VariantOfCase,
  variant: number,
  name: string,
): Markup {
  const label = html`<span class="unseen"><bdi>${shortLine(name, longestName)}</bdi>:</span>`;
  const sign = html`${variantSign(variant)}${label}`;
  if (report === undefined || trials === 0)
    return html`<span class="variant-cell">${sign} <span class="range">not run</span></span>`;
  const marks = [report.trials.slice(0, mostMarks).map(trialMark), trials > mostMarks && '…'];
  const fraction = html`<span class="fraction">${passed}/${trials}</span>`;
  const meaning = html`<span class="unseen"> passed</span>`;
  const drawing = html`<span class="marks" aria-hidden="true">${marks}</span>`;
  return html`<span class="variant-cell">${sign} ${fraction}${meaning} ${drawing}</span>`;
}

function trialMark({ passed, status }: TrialReport): Markup {
  if (passed) return html`<span class="mark passed">✓</span>`;
  return html`<span class="mark failed">${status === 'completed' ? '✗' : '!'}</span>`;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function meanCost(trials: readonly TrialReport[]): Content {
  const costs = trials.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return costs.length > 0 && html`<span class="range">${costText(mean(costs))}</span>`;
}

/** The details of the cases, in the order given until there is no more room. */
function detailsOf(
  cases: readonly CaseOverview[],
  report: EvalReport,
  command: SessionCommand,
): ReadonlyMap<number, Content> {
  const room = { left: mostDetails };
  return new Map(cases.map((one) => [one.index, caseDetails(one, report, command, room)]));
}

function caseDetails(
  { variants }: CaseOverview,
  report: EvalReport,
  command: SessionCommand,
  room: { left: number },
): Markup {
  const columns = variants.map(({ report: one }, index) => {
    const trials = one?.trials ?? [];
    const opened =
      trials.find(({ passed }) => !passed) ?? (trials.length === 1 ? trials[0] : undefined);
    const name = report.variants[index]?.name ?? '';
    const shown = trials.slice(0, mostTrials).map((trial) => {
      const details = trialDetails(trial, command(trial.session, name), {
        isOpen: trial === opened,
        isShort: room.left <= 0,
      });
      room.left -= details.toString().length;
      return details;
    });
    const left = trials.length - mostTrials;
    return html`<section class="variant-trials"><h3>${variantLabel(index, name)}</h3>${[
      shown.length > 0 ? shown : html`<p class="note">It has no trials here.</p>`,
      left > 0 && html`<p class="note">${countOf(left, 'trial')} more are in the report.</p>`,
    ]}</section>`;
  });
  return html`<div class="case-columns">${columns}</div>`;
}
