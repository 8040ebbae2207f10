import type { OpenRequest, SettledRequest } from '../feed/call-record.ts';
import { argsText, byWhom } from '../screens/call-lines.ts';
import { diffOf } from '../screens/diff-lines.ts';
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
import { type Line, textOfLine } from '../text/spans.ts';
import { visibleString } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { cutText } from '../text/wrap.ts';
import { hasOwnSummary } from './question.ts';
import { requestBody } from './request-body.ts';

/** A request in the list. */
export interface ListedRequest {
  readonly request: OpenRequest;
  /** Answer that it has. `undefined`: it waits. */
  readonly settled?: Omit<SettledRequest, 'request'>;
}

/** Widest name of a call in the list. */
const longestName = 16;
/** Columns of a row: its facts stand near its words. */
const widestRow = 100;

const outcomes: Readonly<Record<string, string>> = {
  approve: 'allowed',
  edit: 'edited',
  reject: 'refused',
  expire: 'expired',
  cancel: 'cancelled',
  succeeded: 'it happened',
  retry: 'runs again',
  report: 'unknown',
  continue: 'goes on',
};

/** Returns the open requests and those with an answer, in the order in which they were asked. */
export function listedRequests(
  open: readonly OpenRequest[],
  settled: readonly SettledRequest[],
  sent: ReadonlySet<string>,
): readonly ListedRequest[] {
  const rows = [
    ...open.map(
      (request): ListedRequest =>
        sent.has(request.requestId)
          ? { request, settled: { decision: 'sent', by: 'user' } }
          : { request },
    ),
    ...settled.map(({ request, ...answer }): ListedRequest => ({ request, settled: answer })),
  ];
  return rows.sort((a, b) => a.request.seq - b.request.seq);
}

/** The requests that a person here may allow. */
export function allowable(open: readonly OpenRequest[]): readonly OpenRequest[] {
  return open.filter(
    (request) => request.details.options.includes('approve') && !isOfOthers(request),
  );
}

/** True when only others may answer. */
function isOfOthers({ details: { mayDecide } }: OpenRequest): boolean {
  return mayDecide !== undefined && !mayDecide.includes('user');
}

/** Returns the lines of the list, a line for each request. */
export function requestRows(
  rows: readonly ListedRequest[],
  marked: OpenRequest | undefined,
  space: Space,
): Line[] {
  const words = rows.map((row) => outcomeOf(row));
  const room = { ...space, columns: Math.min(space.columns, widestRow) };
  const widest = {
    name: Math.min(longestName, Math.max(...rows.map(({ request }) => displayWidth(request.name)))),
    outcome: Math.max(...words.map((text) => displayWidth(text))),
    seq: Math.max(...rows.map(({ request }) => `#${request.seq}`.length)),
  };
  return rows.map(({ request, settled }, at) => {
    const isMarked = settled === undefined && request.requestId === marked?.requestId;
    const look = settled === undefined ? {} : { dim: true };
    const name = cutText(visibleString(request.name, 'requestLine'), widest.name);
    const left: Line = [
      isMarked ? gutterSign('user', { color: accent, bold: true }, space) : emptyGutter,
      { ...look, text: `${at + 1}  ` },
      { ...look, text: `${name}${' '.repeat(widest.name - displayWidth(name))}  ` },
      ...lineSpans(rowText(request), look, 'requestLine'),
    ];
    const outcome = words[at] ?? '';
    const blanks = ' '.repeat(widest.outcome - displayWidth(outcome));
    const right = `#${request.seq}`.padEnd(widest.seq) + (widest.outcome > 0 ? '  ' : '');
    return spread(left, { facts: [`${right}${outcome}${blanks}`] }, room);
  });
}

/** The request in words: those of its tool, else the arguments of the call. */
function rowText({ kind, name, args, details }: OpenRequest): string {
  if (hasOwnSummary(details.summary, name)) return details.summary;
  const text = argsText(args);
  return kind === 'input' ? `${text}${text === '' ? '' : ' '}needs input` : text;
}

function outcomeOf({ request, settled }: ListedRequest): string {
  if (settled === undefined)
    return isOfOthers(request)
      ? `${(request.details.mayDecide ?? []).map(nameOf).join(', ')} decides`
      : '';
  const word = outcomes[settled.decision] ?? (settled.decision === 'sent' ? 'sent' : 'answered');
  const who = byWhom(settled.by) === 'you' ? 'you' : nameOf(settled.by);
  const isByPerson = settled.decision !== 'expire' && settled.decision !== 'cancel';
  return isByPerson && who !== 'you' ? `${word} by ${who}` : word;
}

/** The name of an actor without its kind. */
function nameOf(actor: string): string {
  return visibleString(actor.replace(/^[a-z]+:(?=.)/, ''), 'requestLine');
}

/** Number of lines of a request that its row in the list does not show. */
export function unseenLines(request: OpenRequest, row: Line, space: Space): number {
  const { args, details, name } = request;
  const isFlat =
    args !== null &&
    typeof args === 'object' &&
    diffOf(args) === undefined &&
    Object.values(args).every((value) => value === null || typeof value !== 'object');
  const text = textOfLine(row);
  const whole = visibleString(rowText(request), 'requestLine');
  const isShown = isFlat && !hasOwnSummary(details.summary, name) && text.includes(whole);
  const isCut = whole.endsWith('…') || displayWidth(whole) > contentWidth(space);
  return isShown && !isCut && details.details === undefined
    ? 0
    : requestBody(request, space).length;
}

/** Words above the list: how many requests wait, and for how long the first of them does. */
export function listTitle(open: readonly OpenRequest[], isFocused: boolean, space: Space): Line {
  const isOfCalls = open.every(({ kind, isQuestion }) => kind !== 'limit' && !isQuestion);
  const noun = isOfCalls ? 'call' : 'request';
  const words = open.length === 1 ? `1 ${noun} waits` : `${open.length} ${noun}s wait`;
  const look = isFocused ? { color: accent, bold: true } : toned('attention');
  return [gutterSign('asks', look, space), { text: `${words} for you` }];
}
