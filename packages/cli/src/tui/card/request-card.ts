import { formatDuration } from '../../output/format.ts';
import { rows } from '../editor/rows.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import { callSpans } from '../screens/call-lines.ts';
import {
  accent,
  contentWidth,
  emptyGutter,
  gutterSign,
  lineSpans,
  type Space,
  spread,
  toned,
} from '../screens/layout.ts';
import type { Card, Screen } from '../screens/live-view.ts';
import { type Line, type Span, textOfLine } from '../text/spans.ts';
import { visibleString } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { hasOwnSummary, requestBody } from './request-body.ts';
import type { RequestFocus } from './request-focus.ts';
import { keysLine, keysOf } from './request-keys.ts';
import { type StandingChoice, standingChoices } from './standing-choices.ts';

/** Returns the card of the request that waits. */
export function requestCard(focus: RequestFocus, now: number, space: Screen): Card | undefined {
  const { request, open, isFocused, top } = focus;
  if (request === undefined) return undefined;
  const title = titleLine(request, { focus, now, place: placeOf(request, open) }, space);
  const body = requestBody(request, space);
  if (focus.reason !== undefined) return { title, ...reasonLines(focus, body, space) };
  if (focus.form !== undefined)
    return { title, ...focus.form.card(space, isFocused && !focus.isDead) };
  if (focus.always !== undefined) return { title, ...alwaysLines(focus.always, body) };
  const always = standingChoices(request).length > 0 ? [{ key: 'a', words: 'always' }] : [];
  const edit = request.details.options.includes('edit') ? [{ key: 'e', words: 'edit' }] : [];
  const others = isFocused ? ['Tab: message'] : ['Tab: answer'];
  const isDim = !isFocused || focus.isDead;
  return {
    title,
    body,
    top,
    keys: keysLine([...keysOf(request), ...edit, ...always], { isDim, others }),
  };
}

function placeOf(request: OpenRequest, open: readonly OpenRequest[]): string[] {
  return open.length === 1 ? [] : [`${open.indexOf(request) + 1}/${open.length}`];
}

interface TitleFacts {
  readonly focus: RequestFocus;
  readonly now: number;
  readonly place: readonly string[];
}

function titleLine(request: OpenRequest, { focus, now, place }: TitleFacts, space: Space): Line {
  const { details, seq, expiresAt } = request;
  const look = focus.isFocused ? { color: accent, bold: true } : toned('attention');
  const left: Line = [gutterSign('asks', look, space), ...questionSpans(request)];
  const time = expiresAt === undefined ? [] : [`${timeLeft(expiresAt - now)} left`];
  const who =
    details.mayDecide === undefined
      ? []
      : [`up to ${visibleString(details.mayDecide.join(', '), 'requestLine')}`];
  const facts = [`#${seq}`, ...who, ...time, ...place];
  // Nothing of the question gives way to them.
  const room = space.columns - 3 - displayWidth(textOfLine(left));
  while (facts.length > 0 && displayWidth(facts.join(' · ')) > room) facts.shift();
  return spread(left, { facts }, space);
}

function questionSpans({ kind, name, args, details }: OpenRequest): Span[] {
  const agent = lineSpans(details.agent, { bold: true }, 'requestLine');
  const summary = lineSpans(details.summary, {}, 'requestLine');
  if (kind === 'input' && !hasOwnSummary(details.summary, name))
    return [...callSpans(name, args), { text: ' needs input' }];
  if (kind !== 'approval') return summary;
  return hasOwnSummary(details.summary, name)
    ? [...agent, { text: ' asks: ' }, ...summary]
    : [...agent, { text: ' wants to call ' }, ...callSpans(name, args)];
}

/** Time as a clock counts it down: `29:48`. */
function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds >= 3_600) return formatDuration(seconds * 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const question = 'Why? ';

/** The body with the reason below it, which is being written. */
function reasonLines(
  { reason }: RequestFocus,
  body: readonly Line[],
  space: Space,
): Omit<Card, 'title'> {
  if (reason === undefined) return { body, top: 0, keys: () => [] };
  const width = contentWidth(space) - question.length;
  const { rows: written, cursor } = rows(reason, width, 1);
  const line: Line = [emptyGutter, { text: question, bold: true }, ...(written[0] ?? [])];
  const column = emptyGutter.text.length + question.length + cursor.column;
  return {
    body: [...body, line],
    top: body.length,
    keys: () => [{ text: 'Enter: no reason · Esc: back', dim: true }],
    cursor: { row: body.length, column },
  };
}

/** The body with the calls below it that may be allowed besides. */
function alwaysLines(
  choices: readonly StandingChoice[],
  body: readonly Line[],
): Omit<Card, 'title'> {
  const lines = choices.map(
    ({ words }, at): Line => [
      emptyGutter,
      { text: `${at + 1}`, bold: true },
      { text: ` ${words}` },
    ],
  );
  const asked: Line = [emptyGutter, { text: 'Allow without asking, in this session:' }];
  return {
    body: [...body, asked, ...lines],
    top: body.length + 1 + lines.length,
    keys: () => [{ text: 'Esc: back', dim: true }],
  };
}
