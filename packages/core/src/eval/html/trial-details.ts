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
  const open = isOpen && html` open`;
  const facts = html`<span class="range">${trialFacts(trial)}</span>`;
  const summary = html`<summary>${passMark(trial.passed)} Trial ${trial.trial} ${facts}</summary>`;
  return html`<details class="trial"${open}>${summary}
${isShort ? noRoom : trialBody(trial)}
<p class="session"><code>${shortened(command, longestText)}</code></p></details>`;
}

const noRoom = html`<p class="note">There is no room for more on this page: see the session.</p>`;

function trialBody(trial: TrialReport): Markup {
  const { scores, turns } = trial;
  return html`${errorBox(trial)}
${
  scores.length > 0 && [
    html`<ul class="scores">${scores.slice(0, mostScores).map(scoreItem)}</ul>`,
    leftOut(scores.length - mostScores, 'score'),
  ]
}
${
  turns.length > 0 && [
    html`<ol class="turns">${turns.slice(0, mostTurns).map(turnItem)}</ol>`,
    leftOut(turns.length - mostTurns, 'turn'),
  ]
}`;
}

function passMark(passed: boolean): Markup {
  const [name, sign, text] = passed ? ['passed', '✓', 'Passed'] : ['failed', '✗', 'Failed'];
  const mark = html`<span class="mark ${name}" aria-hidden="true">${sign}</span>`;
  return html`${mark}<span class="unseen">${text}:</span>`;
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
  if (error !== undefined) return errorText(error);
  if (passed || status === 'completed' || scores.some((score) => !score.passed)) return undefined;
  return html`<p class="trial-error">${failureReason(trial)}</p>`;
}

function errorText({ code, message: text }: NonNullable<TrialReport['error']>): Markup {
  const name = html`<code>${shortLine(code, longestName)}</code>`;
  return html`<p class="trial-error" dir="auto">${name} ${shortened(text, longestText)}</p>`;
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
  const name = html`<strong><bdi>${shortLine(scorer, longestName)}</bdi></strong>`;
  const result = `${scoreText(score)}, needs ${scoreText(threshold)}`;
  return html`<li>${passMark(passed)} <div><p>${name} <span class="range">${result}</span></p>
<p class="text" dir="auto">${shortened(explanation, longestText)}</p>
${error !== undefined && errorText(error)}
${details !== undefined && scoreDetails(details)}</div></li>`;
}

function scoreDetails(details: JsonValue): Markup {
  const text = html`<pre tabindex="0">${jsonText(details, longestText)}</pre>`;
  return html`<details class="inner"><summary>Details</summary>${text}</details>`;
}

function turnItem({ user, assistant, toolCalls }: TurnReport): Markup {
  const calls = toolCalls.length > 0 && [
    html`<ul class="calls">${toolCalls.slice(0, mostCalls).map(callItem)}</ul>`,
    leftOut(toolCalls.length - mostCalls, 'call'),
  ];
  const answer =
    assistant === undefined
      ? html`<p class="message none">No answer.</p>`
      : message('assistant', 'Assistant', assistant);
  return html`<li>${message('user', 'User', user)}${calls}${answer}</li>`;
}

function message(role: 'user' | 'assistant', name: string, text: string): Markup {
  const content = html`<p class="text" dir="auto">${shortened(text, longestText)}</p>`;
  return html`<div class="message ${role}"><span class="role">${name}</span>${content}</div>`;
}

function callItem({ name, args, status }: ToolCallReport): Markup {
  const isGood = status === 'success' || status === 'partial';
  const quality = isGood ? 'good' : 'bad';
  const mark = html`<span class="status ${quality}">${status ?? 'no result'}</span>`;
  const tool = html`<bdi>${shortLine(name, longestName)}</bdi>`;
  return html`<li>${mark} <code>${tool}(${jsonText(args, longestArguments, 0)})</code></li>`;
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
