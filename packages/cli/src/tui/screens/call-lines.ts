import { isSuccess, type JsonValue } from 'adjutant';
import { formatDuration, formatSize } from '../../output/format.ts';
import type { CallRecord } from '../feed/call-record.ts';
import { diffSum } from '../requests/diff-lines.ts';
import { type SignName, sign } from '../text/signs.ts';
import { type Line, type Span, textOfLine } from '../text/spans.ts';
import { visibleString } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine, cutLongLine, cutText } from '../text/wrap.ts';
import { changedLines, diffOf } from './diff-lines.ts';
import {
  contentWidth,
  gutterSign,
  lineSpans,
  type RightFacts,
  type Space,
  spread,
  toned,
} from './layout.ts';

/** Columns of a call that stay, however many words follow it. */
const leastCall = 24;
/** Widest text of arguments. */
const longestArgs = 60;
/** Calls of a round from which on they are told in one line. */
const foldedFrom = 4;
/** Lines of a failed call that are shown of its begin, and of its end. */
const shownOfFailure = 2;

/** Returns the calls of a round: a line for each, or one for all that went well. */
export function callsLines(calls: readonly CallRecord[], space: Space): Line[] {
  const plain = calls.filter((call) => isPlain(call));
  if (plain.length < foldedFrom) return calls.flatMap((call) => callLines(call, space));
  const others = calls.filter((call) => !isPlain(call));
  return [foldedLine(plain, space), ...others.flatMap((call) => callLines(call, space))];
}

/** True for a call of which a line says everything: it went well, and nobody was asked. */
function isPlain({ result, answer }: CallRecord): boolean {
  return result !== undefined && isSuccess(result) && answer === undefined;
}

function foldedLine(calls: readonly CallRecord[], space: Space): Line {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  const times = sign('times', space.ascii);
  const names = [...counts].map(([name, count]) => (count > 1 ? `${name} ${times}${count}` : name));
  const begin = Math.min(...calls.map(({ startedAt }) => startedAt));
  const end = Math.max(...calls.map(({ startedAt, durationMs = 0 }) => startedAt + durationMs));
  const seqs = calls.map(({ seq }) => seq);
  const left: Line = [
    gutterSign('done', toned('success'), space),
    { text: `${calls.length} calls  ` },
    ...lineSpans(names.join(' · ')),
  ];
  const facts = [formatDuration(end - begin), `#${Math.min(...seqs)}–${Math.max(...seqs)}`];
  return spread(left, { facts: [facts.join('  ')] }, space);
}

/** Returns a call in one line, and what there is to see of it. */
export function callLines(call: CallRecord, space: Space): Line[] {
  const diff = diffOf(call.args);
  const { name: signName, tone } = outcomeOf(call);
  const words = wordsOf(call);
  const what: Line = [
    gutterSign(signName, toned(tone), space),
    ...callSpans(call.name, call.args),
    ...(diff === undefined ? [] : [{ text: ` ${diffSum(diff, space.ascii)}` }]),
  ];
  const left = [...withRoomFor(what, words, space), ...words];
  const least = words.length === 0 ? undefined : displayWidth(textOfLine(left));
  return [spread(left, { ...factsOf(call), least }, space), ...bodyOf(call, space)];
}

/** The call, cut where the words behind it would have no room. */
function withRoomFor(what: Line, words: Line, { columns, ascii }: Space): Line {
  const room = columns - 1 - displayWidth(textOfLine(words));
  return words.length === 0
    ? what
    : cutLine(what, Math.max(leastCall, room), sign('ellipsis', ascii));
}

interface Outcome {
  readonly name: SignName;
  readonly tone: 'success' | 'failure' | 'attention';
}

function outcomeOf({ result, state }: CallRecord): Outcome {
  if (result === undefined)
    return state === 'settled'
      ? { name: 'failed', tone: 'failure' }
      : { name: 'stopped', tone: 'attention' };
  if (result.status === 'unknown') return { name: 'attention', tone: 'attention' };
  return isSuccess(result)
    ? { name: 'done', tone: 'success' }
    : { name: 'failed', tone: 'failure' };
}

/** The name of a call with the argument that says most. */
export function callSpans(name: string, args: JsonValue): Span[] {
  const text = argsText(args);
  return [...lineSpans(name), ...(text === '' ? [] : [{ text: ' ' }, ...lineSpans(text)])];
}

/** Returns the first argument that is a text or a number, then the others by name. */
export function argsText(args: JsonValue): string {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return shortText(args);
  const scalars = Object.entries(args).filter(
    ([, value]) => value !== undefined && (value === null || typeof value !== 'object'),
  );
  const [first, ...rest] = scalars;
  if (first === undefined) return shortText(args);
  const others = diffOf(args) === undefined ? rest : [];
  const text = [
    shortText(first[1] as JsonValue),
    ...others.map(([key, value]) => `${key}=${shortText(value as JsonValue)}`),
  ].join(' ');
  return cutText(text, longestArgs);
}

function shortText(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === '{}' ? '' : cutText(visibleString(text, 'proseLine'), longestArgs);
}

/** Words behind a call whose outcome is no success by itself. */
function wordsOf({ result, answer }: CallRecord): Span[] {
  if (result === undefined) return [{ text: '  stopped', dim: true }];
  if (result.status === 'unknown') return [{ text: '  outcome unknown: check before repeating' }];
  if (result.errorType === 'rejected' && answer !== undefined) {
    const reason =
      answer.reason === undefined ? [] : [{ text: ': ' }, ...lineSpans(`"${answer.reason}"`)];
    return [{ text: `  refused by ${byWhom(answer.by)}` }, ...reason];
  }
  if (result.errorType === 'loop_blocked') return [{ text: '  not run' }];
  if (result.errorType === 'expired') {
    const after = answer === undefined ? '' : ` after ${formatDuration(answer.waitedMs)}`;
    return [{ text: `  expired${after}` }];
  }
  return [];
}

/** The author of an answer, in words. */
export function byWhom(by: string): string {
  return by === 'user' || by.startsWith('user:') ? 'you' : visibleString(by, 'proseLine');
}

const answerWords: Readonly<Record<string, string>> = {
  approve: 'allowed',
  edit: 'edited',
  succeeded: 'confirmed',
  retry: 'repeated',
  report: 'reported',
};

/** Results of which the words of the call say everything. */
const saidByWords: ReadonlySet<string | undefined> = new Set([
  'rejected',
  'expired',
  'loop_blocked',
]);

function factsOf({ result, answer, durationMs, seq }: CallRecord): RightFacts {
  if (saidByWords.has(result?.errorType)) return { facts: [], seq };
  const facts: string[] = [];
  if (result !== undefined && !isSuccess(result) && result.errorType !== undefined)
    facts.push(visibleString(result.errorType, 'proseLine'));
  if (answer !== undefined) {
    const word = answerWords[answer.decision] ?? 'answered';
    facts.push(`${word} by ${byWhom(answer.by)} after ${formatDuration(answer.waitedMs)}`);
  } else if (result !== undefined) facts.push(...sizeOf(result.content));
  const isDecided = answer?.decision === 'report' || answer?.decision === 'succeeded';
  if (durationMs !== undefined && !isDecided) facts.push(formatDuration(durationMs));
  return { facts, seq };
}

/** The size of a result: its lines, or its bytes when it is long. */
function sizeOf(content: JsonValue): string[] {
  const text = resultText(content);
  const lines = text.split('\n').length;
  if (typeof content === 'string' && lines > 1) return [`${lines} lines`];
  return text.length > 200 ? [formatSize(Buffer.byteLength(text))] : [];
}

/** A result as text. */
function resultText(content: JsonValue): string {
  if (typeof content === 'string') return content;
  return JSON.stringify(content, undefined, 2);
}

/** Lines below that of a call: of a failed one its begin and end, of an edit its diff. */
function bodyOf(call: CallRecord, space: Space): Line[] {
  const { result, args, answer } = call;
  if (result === undefined || saidByWords.has(result.errorType)) return [];
  const diff = diffOf(args);
  if (isSuccess(result))
    return diff === undefined || answer !== undefined ? [] : changedLines(diff, space);
  return cutBody(resultText(result.content), call.seq, space);
}

/** The first and the last lines of a long text, with the way to the rest. */
function cutBody(text: string, seq: number, space: Space): Line[] {
  const bar = sign('output', space.ascii);
  const lines = text.replace(/\n+$/, '').split('\n');
  const shown = (some: readonly string[]): Line[] =>
    some.map((line) => outputLine(line, bar, space));
  if (lines.length <= 2 * shownOfFailure + 1) return shown(lines);
  const hidden = lines.length - 2 * shownOfFailure;
  const more = `${sign('ellipsis', space.ascii)} ${hidden} more lines · ^O whole · /show ${seq}`;
  return [
    ...shown(lines.slice(0, shownOfFailure)),
    [
      { text: `  ${bar} `, dim: true },
      { text: more, dim: true },
    ],
    ...shown(lines.slice(-shownOfFailure)),
  ];
}

/** A line of the output of a tool. */
export function outputLine(text: string, bar: string, space: Space): Line {
  const line = cutLongLine(lineSpans(text, {}, 'outputLine'));
  const width = contentWidth(space) - 2;
  return [{ text: `  ${bar} `, dim: true }, ...cutLine(line, width, sign('ellipsis', space.ascii))];
}
