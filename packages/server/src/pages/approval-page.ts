import type { JsonValue, RequestEntry, TokenView } from 'adjutant';
import { visibleLine, visibleText } from 'adjutant/text';
import { html } from 'hono/html';
import { shownActor } from '../access/actor.ts';
import { type PagePart, page } from './page.ts';

type Decision = TokenView['decisions'][number];

/** Characters of a reason. */
export const longestReason = 2_000;

/** Decisions that have a button: those that need no input. */
const choices: Partial<
  Record<Decision, { readonly label: string; readonly look: string; readonly said: string }>
> = {
  approve: { label: 'Approve', look: 'yes', said: 'You approved it.' },
  reject: { label: 'Reject', look: 'no', said: 'You rejected it.' },
  continue: { label: 'Continue', look: 'yes', said: 'You let it continue.' },
  succeeded: {
    label: 'It has taken effect',
    look: 'yes',
    said: 'You said that it has taken effect.',
  },
  retry: { label: 'Try again', look: '', said: 'You let it be tried again.' },
  report: {
    label: 'Nobody knows',
    look: '',
    said: 'You said that nobody knows what became of it.',
  },
};

const questions: Readonly<Record<RequestEntry['kind'], string>> = {
  approval: 'May this be done?',
  repeat: 'May this be done once more? It may have taken effect already.',
  recovery: 'What became of this?',
  limit: 'May this go beyond its limit?',
  input: 'This waits for input.',
  result: 'This waits for a result.',
};

export function hasChoice(decisions: readonly Decision[]): boolean {
  return decisions.some((decision) => choices[decision] !== undefined);
}

/** Shows what is asked, with a button for each decision that the link is for. */
export function askingPage({ request, decisions, expiresAt, by }: TokenView): Promise<Response> {
  const { kind, summary, details } = request;
  return page(
    200,
    questions[kind],
    html`<p class="kind">${questions[kind]}</p>
<h1 tabindex="0">${visibleLine(summary)}</h1>
${aboutPart(request, expiresAt, by)}
${
  details === undefined
    ? ''
    : html`<h2 id="details">What will be done</h2>
<pre aria-labelledby="details" tabindex="0">${asText(details)}</pre>`
}
<form method="post">
<label for="reason">Reason <span>(optional)</span></label>
<textarea id="reason" name="reason" maxlength="${longestReason}"></textarea>
<div class="choices">
${decisions.map(buttonPart)}
</div>
</form>`,
  );
}

function aboutPart(
  { agent, name, user, session, createdAt, expiresAt }: RequestEntry,
  linkExpiresAt: number,
  by: string | undefined,
): PagePart {
  const end = Math.min(linkExpiresAt, expiresAt ?? Number.POSITIVE_INFINITY);
  return html`<dl>
<dt>Agent</dt><dd>${visibleLine(agent)}</dd>
<dt>Action</dt><dd>${visibleLine(name)}</dd>
${user === undefined ? '' : html`<dt>For</dt><dd>${visibleLine(user)}</dd>`}
<dt>Session</dt><dd>${visibleLine(session)}</dd>
<dt>Asked</dt><dd>${timePart(createdAt)}</dd>
<dt>Answer by</dt><dd>${timePart(end)}</dd>
${by === undefined ? '' : html`<dt>You decide as</dt><dd>${visibleLine(shownActor(by))}</dd>`}
</dl>`;
}

const timeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** The last moment that a date can name. */
const lastTime = 8_640_000_000_000_000;

function asText(details: JsonValue): string {
  return visibleText(JSON.stringify(details, undefined, 2));
}

function timePart(at: number): PagePart {
  const date = new Date(Math.min(at, lastTime));
  return html`<time datetime="${date.toISOString()}">${timeFormat.format(date)} UTC</time>`;
}

function buttonPart(decision: Decision): PagePart | '' {
  const choice = choices[decision];
  if (choice === undefined) return '';
  const { look, label } = choice;
  return html`<button class="${look}" name="decision" value="${decision}">${label}</button>`;
}

/** Says that the decision counts. */
export function decidedPage(decision: Decision, summary: string): Promise<Response> {
  return page(
    200,
    'Thank you',
    html`<p class="kind">Thank you</p>
<h1 role="status">${choices[decision]?.said ?? 'You answered.'}</h1>
<p>${visibleLine(summary)}</p>
<p>You can close this page. The link cannot be used again.</p>`,
  );
}

/** Says why nothing was decided. */
export function refusedPage(status: number, title: string, what: string): Promise<Response> {
  return page(
    status,
    title,
    html`<h1 role="alert">${title}</h1>
<p>${what}</p>`,
  );
}

/** Says that something else kept the page from doing its work. It can be opened again. */
export function failedPage(
  status: number,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const title =
    status === 429
      ? 'Too many requests'
      : status >= 500
        ? 'Something went wrong'
        : 'This cannot be shown';
  return page(
    status,
    title,
    html`<h1 role="alert">${title}</h1>
<p>Open the link again in a minute.</p>`,
    headers,
  );
}
