import type { EvalReport, VariantReport } from '../report.ts';
import { type Content, html, type Markup, shortLine } from './markup.ts';
import {
  costText,
  countOf,
  countText,
  durationText,
  percentText,
  timeText,
} from './number-text.ts';
import { longestName, variantLabel } from './variant-mark.ts';

const longestTitle = 200;

/** Renders the eval and its result, then a card for each variant. */
export function summarySection(report: EvalReport): Markup {
  const title = report.variants.length === 1 ? 'Result' : 'Variants';
  const cards = report.variants.map((variant, index) => variantCard(variant, index, report));
  return html`<header class="page-head"><p class="overline">Eval report</p>
<h1 dir="auto">${titleOf(report)}</h1>
${verdict(report)}
<dl class="facts">${factsOf(report)}</dl>
</header>
<section aria-labelledby="variants"><h2 id="variants">${title}</h2>
<div class="cards">${cards}</div></section>`;
}

function factsOf(report: EvalReport): readonly Content[] {
  const { total, startedAt, finishedAt, runId } = report;
  return [
    fact('Cases', countText(casesOf(report))),
    fact('Trials', countText(total)),
    fact('Started', timeText(startedAt)),
    finishedAt !== undefined && fact('Took', durationText(finishedAt - startedAt)),
    fact('Run', html`<code>${shortLine(runId, longestName)}</code>`),
  ];
}

/** The name of an eval, fit for a title. */
export function titleOf({ name }: EvalReport): string {
  return shortLine(name, longestTitle) || 'Without a name';
}

function casesOf({ variants }: EvalReport): number {
  return new Set(variants.flatMap(({ cases }) => cases.map(({ id }) => id))).size;
}

function verdict(report: EvalReport): Markup {
  if (report.finishedAt === undefined) {
    const done = `${countText(report.done)} of ${countOf(report.total, 'trial')}`;
    return html`<p class="verdict unfinished"><span class="badge">Unfinished</span> ${[
      `Stopped after ${done}. What follows is what was done until then; `,
      'the same eval with the run id below goes on from there.',
    ]}</p>`;
  }
  const required = report.threshold ?? 1;
  const below = report.variants.filter(
    ({ summary }) => summary.trials === 0 || summary.passRate.value < required,
  );
  if (report.passed) {
    const subject = report.variants.length === 1 ? 'The pass rate' : 'Every variant';
    const text = `${subject} reaches the required ${percentText(required)}.`;
    return html`<p class="verdict passed"><span class="badge">Passed</span> ${text}</p>`;
  }
  const reasons = below.map(({ name, summary }) => {
    const reached = summary.trials === 0 ? 'no trials' : percentText(summary.passRate.value);
    return html` <bdi>${shortLine(name, longestName)}</bdi> has ${reached}.`;
  });
  const text = [`${percentText(required)} of the trials must pass.`, reasons];
  return html`<p class="verdict failed"><span class="badge">Not passed</span> ${text}</p>`;
}

function fact(name: string, value: string | Markup): Markup {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function variantCard({ name, summary }: VariantReport, index: number, report: EvalReport): Markup {
  const { passRate, usage, durationMs, cost } = summary;
  const tokens = usage.inputTokens + usage.outputTokens;
  const isBaseline = index === 0 && report.variants.length > 1;
  const tag = isBaseline && html` <span class="tag">baseline</span>`;
  const rate = summary.trials === 0 ? '–' : percentText(passRate.value);
  const passed = `${countText(summary.passed)} of ${countOf(summary.trials, 'trial')} passed`;
  const range = `${percentText(passRate.low)} to ${percentText(passRate.high)}`;
  const facts = [
    fact('Duration p50', durationText(durationMs.p50)),
    fact('Duration p95', durationText(durationMs.p95)),
    cost !== undefined && [
      fact('Cost of a trial', costText(cost.mean)),
      fact('Cost in all', costText(cost.total)),
    ],
    fact('Model calls', countText(summary.steps.mean)),
    fact('Tokens in all', countText(tokens)),
  ];
  return html`<article class="card"><h3>${variantLabel(index, name)}${tag}</h3>
<p class="rate"><strong>${rate}</strong> ${passed}<br>
<span class="range">${percentText(report.confidence)} interval ${range}</span></p>
<dl class="facts">${facts}</dl></article>`;
}
