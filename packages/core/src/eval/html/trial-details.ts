import type { JsonValue } from '../../base/json.ts';
import type { ScoreReport, ToolCallReport, TrialReport, TurnReport } from '../report.ts';
import { failureReason, statusTexts } from './case-overview.ts';
import { html, type Markup, shortened, shortLine } from './markup.ts';
import { costText, countOf, countText, durationText, scoreText } from './number-text.ts';
import { longestName } from './variant-mark.ts';

/** The greatest length of a text on the page. Longer texts are in the session. */
const longestText = 4_000;
const longestArguments = 1_000;
const mostTurns = 40;
const mostCalls = 40;
const mostScores = 60;

export interface TrialDetailsOptions {
  readonly isOpen: boolean;
  /** Only how it ended and where its session is. */
  readonly isShort: boolean;
}

/**
 * One trial: its scores with their reasons, what was said and called, and the command that shows
 * the rest.
 */
export function trialDetails(
  trial: TrialReport,
  command: string,
  { isOpen, isShort }: TrialDetailsOptions,
): Markup {
  return html`<details class="trial"${isOpen && html` open`}><summary>${passMark(trial.passed)} Trial ${trial.trial} <span class="range">${trialFacts(trial)}</span></summary>
${isShort ? html`<p class="note">There is no room for more on this page: see the session.</p>` : trialBody(trial)}
<p class="session"><code>${shortened(command, longestText)}</code></p></details>`;
}

function trialBody(trial: TrialReport): Markup {
  return html`${errorBox(trial)}
${trial.scores.length > 0 && html`<ul class="scores">${trial.scores.slice(0, mostScores).map(scoreItem)}</ul>${leftOut(trial.scores.length - mostScores, 'score')}`}
${trial.turns.length > 0 && html`<ol class="turns">${trial.turns.slice(0, mostTurns).map(turnItem)}</ol>${leftOut(trial.turns.length - mostTurns, 'turn')}`}`;
}

function passMark(passed: boolean): Markup {
  return passed
    ? html`<span class="mark passed" aria-hidden="true">✓</span><span class="unseen">Passed:</span>`
    : html`<span class="mark failed" aria-hidden="true">✗</span><span class="unseen">Failed:</span>`;
}

function trialFacts({ status, durationMs, cost, steps, usage }: TrialReport): string {
  const facts = [
    status === 'completed' ? undefined : statusTexts[status],
    durationText(durationMs),
    cost === undefined ? undefined : costText(cost),
    countOf(steps, 'model call'),
    `${countText(usage.inputTokens + usage.outputTokens)} tokens`,
  ];
  return facts.filter((fact) => fact !== undefined).join(' · ');
}

function errorBox(trial: TrialReport): Markup | undefined {
  const { error, status, passed, scores } = trial;
  if (error !== undefined) {
    return html`<p class="trial-error" dir="auto"><code>${shortLine(error.code, longestName)}</code> ${shortened(error.message, longestText)}</p>`;
  }
  if (passed || status === 'completed' || scores.some((score) => !score.passed)) return undefined;
  return html`<p class="trial-error">${failureReason(trial)}</p>`;
}

function scoreItem({
  scorer,
  score,
  passed,
  threshold,
  explanation,
  details,
  error,
}: ScoreReport): Markup {
  return html`<li>${passMark(passed)} <div><p><strong><bdi>${shortLine(scorer, longestName)}</bdi></strong> <span class="range">${scoreText(score)}, needs ${scoreText(threshold)}</span></p>
<p class="text" dir="auto">${shortened(explanation, longestText)}</p>
${error !== undefined && html`<p class="trial-error" dir="auto"><code>${shortLine(error.code, longestName)}</code> ${shortened(error.message, longestText)}</p>`}
${details !== undefined && html`<details class="inner"><summary>Details</summary><pre tabindex="0">${jsonText(details, longestText)}</pre></details>`}</div></li>`;
}

function turnItem({ user, assistant, toolCalls }: TurnReport): Markup {
  return html`<li>${message('user', 'User', user)}${toolCalls.length > 0 && html`<ul class="calls">${toolCalls.slice(0, mostCalls).map(callItem)}</ul>${leftOut(toolCalls.length - mostCalls, 'call')}`}${assistant === undefined ? html`<p class="message none">No answer.</p>` : message('assistant', 'Assistant', assistant)}</li>`;
}

function message(role: 'user' | 'assistant', name: string, text: string): Markup {
  return html`<div class="message ${role}"><span class="role">${name}</span><p class="text" dir="auto">${shortened(text, longestText)}</p></div>`;
}

function callItem({ name, args, status }: ToolCallReport): Markup {
  const isGood = status === 'success' || status === 'partial';
  return html`<li><span class="status ${isGood ? 'good' : 'bad'}">${status ?? 'no result'}</span> <code><bdi>${shortLine(name, longestName)}</bdi>(${jsonText(args, longestArguments, 0)})</code></li>`;
}

/**
 * A value as JSON, cut where it is too long; its texts before that, so that megabytes are not
 * written only to be cut. What is no JSON is named.
 */
function jsonText(value: JsonValue, length: number, indent = 2): string {
  const short = (_: string, part: unknown): unknown =>
    typeof part === 'string' ? shortened(part, length) : part;
  try {
    return shortened(JSON.stringify(value, short, indent) ?? 'nothing', length);
  } catch {
    return 'a value that is not JSON';
  }
}

function leftOut(count: number, noun: string): Markup | undefined {
  return count > 0
    ? html`<p class="note">${countOf(count, noun)} more: see the session.</p>`
    : undefined;
}
