import { formatCount, formatDuration } from '../../output/format.ts';
import { rows } from '../editor/rows.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import {
  accent,
  contentWidth,
  emptyGutter,
  gutterSign,
  type Space,
  spread,
  toned,
} from '../screens/layout.ts';
import type { Card, Screen } from '../screens/live-view.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { visibleString } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { questionSpans } from './question.ts';
import { requestBody } from './request-body.ts';
import type { RequestFocus } from './request-focus.ts';
import { keysLine, keysOf, listKeys, type ShownKey } from './request-keys.ts';
import { allowable, listTitle, requestRows, unseenLines } from './request-rows.ts';
import { type StandingChoice, standingChoices } from './standing-choices.ts';

/** Returns the card of the requests that wait: of one, or the list of several. */
export function requestCard(focus: RequestFocus, now: number, space: Screen): Card | undefined {
  const { request, all, isList } = focus;
  if (request === undefined) return undefined;
  const isAsked = focus.reason !== undefined || focus.form !== undefined || focus.always;
  if (all !== undefined) return allCard(focus, all, now, space);
  return isList && !isAsked ? listCard(focus, now, space) : oneCard(request, focus, now, space);
}

function oneCard(request: OpenRequest, focus: RequestFocus, now: number, space: Screen): Card {
  const { open, isFocused, top } = focus;
  const title = titleLine(request, { focus, now, place: placeOf(request, open) }, space);
  const body = requestBody(request, space);
  if (focus.reason !== undefined) return { title, ...reasonLines(focus, body, space) };
  if (focus.form !== undefined)
    return { title, ...focus.form.card(space, isFocused && !focus.isDead) };
  if (focus.always !== undefined) return { title, ...alwaysLines(focus.always, body) };
  const others = isFocused
    ? [...(focus.isDetail ? ['Esc list'] : []), '^O whole', 'Tab: message']
    : ['Tab: answer'];
  const isDim = !isFocused || focus.isDead;
  return {
    title,
    body,
    top,
    wasSeen: focus.wasSeen(request),
    onShown: (part) => focus.shows(part, request),
    keys: keysLine(lettersOf(request), {
      ...{ isDim, others, keepsOthers: !isFocused, width: contentWidth(space) },
    }),
  };
}

/** The keys of a request: those that answer it, and those that ask further. */
function lettersOf(request: OpenRequest): readonly ShownKey[] {
  const edit = request.details.options.includes('edit') ? [{ key: 'e', words: 'edit' }] : [];
  const always = standingChoices(request).length > 0 ? [{ key: 'a', words: 'always' }] : [];
  return [...keysOf(request), ...edit, ...always];
}

function listCard(focus: RequestFocus, now: number, space: Screen): Card {
  const { open, rows, request, isFocused, top } = focus;
  const ends = open.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt]));
  const facts = ends.length === 0 ? [] : [`earliest ${timeLeft(Math.min(...ends) - now)} left`];
  const body = requestRows(rows, request, space);
  const at = rows.findIndex((row) => row.request === request);
  const isSeen = request === undefined || focus.wasSeen(request);
  const unseen = isSeen ? 0 : unseenLines(request, body[at] ?? [], space);
  return {
    title: spread(listTitle(open, isFocused, space), { facts }, space),
    body,
    top,
    marked: Math.max(0, at),
    keys: () =>
      isFocused
        ? listKeys(request === undefined ? [] : lettersOf(request), {
            ...{ isDim: focus.isDead, unseen, width: contentWidth(space) },
            hasAll: allowable(open).length > 1,
          })
        : [{ text: 'Tab: answer', dim: true }],
  };
}

/** All calls that may be allowed, whole: nobody agrees to what was not shown. */
function allCard(
  focus: RequestFocus,
  all: readonly OpenRequest[],
  now: number,
  space: Screen,
): Card {
  const calls = formatCount(all.length, 'call');
  const title: Line = [
    gutterSign('asks', { color: accent, bold: true }, space),
    { text: `Allow ${all.length === 1 ? 'this call' : `these ${calls}`}?` },
  ];
  const body = all.flatMap((request): Line[] => [
    spread([emptyGutter, ...questionSpans(request, now)], { facts: [], seq: request.seq }, space),
    ...requestBody(request, space).map((line) => [emptyGutter, ...line]),
  ]);
  const key = { key: 'y', words: `allow ${calls}`, decision: 'approve' as const };
  return {
    title,
    body,
    top: focus.top,
    wasSeen: focus.wasSeen(...all),
    onShown: (part) => focus.shows(part, ...all),
    keys: keysLine([key], {
      ...{ isDim: focus.isDead, others: ['Esc back'], width: contentWidth(space) },
    }),
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
  const left: Line = [gutterSign('asks', look, space), ...questionSpans(request, now)];
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

const daySeconds = 86_400;

/** Time as a clock counts it down: `29:48`. */
function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds >= 2 * daySeconds) return `${Math.round(seconds / daySeconds)} days`;
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
