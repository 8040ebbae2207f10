import type { JsonObject, JsonValue } from '../base/json.ts';
import { promptOf } from '../context/recipe.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import type { AnySession } from '../session/session.ts';
import { comparableOf, kindOf } from './comparable.ts';
import type { Divergence } from './divergence.ts';
import { capital, nameOf } from './event-name.ts';
import { isSameJson, jsonDifferences } from './json-difference.ts';
import { promptDivergence } from './prompt-difference.ts';
import { withoutProviderIds } from './provider-ids.ts';
import { ledgerOf, type RecordedLedger, resolverOf } from './recorded-ledger.ts';
import { isMark, streamOf } from './streams.ts';

/** A difference of two ledgers. `seq`, `path` and `recorded` are those of the first one. */
export interface LedgerDifference extends Divergence {
  /** The event of the second ledger; missing when it has none there. */
  readonly otherSeq?: number;
}

/**
 * A ledger as it is compared. Calls that a stopped process left unfinished are left out, and runs
 * are named by their number.
 */
interface Side {
  readonly events: readonly Event[];
  readonly streams: ReadonlyMap<string, readonly Event[]>;
  readonly resolve: (value: unknown) => unknown;
  readonly comparable: (event: Event) => JsonValue;
}

/**
 * Finds the first place at which two ledgers differ: two runs of the same code, or a fork and its
 * origin. Compares the same members as `replay`, separately for each invocation and each call. Ids,
 * times and the number of stops of a run do not count.
 * @returns `undefined` when they say the same
 * @throws InvalidOptionError for a value that is neither a session nor a recorded ledger
 */
export function diffLedgers(
  first: AnySession | RecordedLedger,
  second: AnySession | RecordedLedger,
): LedgerDifference | undefined {
  const a = sideOf(first);
  const b = sideOf(second);
  let found: { readonly difference: LedgerDifference; readonly order: number } | undefined;
  for (const stream of new Set([...a.streams.keys(), ...b.streams.keys()])) {
    const difference = streamDifference(a, b, stream);
    if (difference === undefined) continue;
    const { seq, otherSeq = seq, recorded } = difference;
    const order = recorded === undefined ? otherSeq : Math.min(seq, otherSeq);
    if (found === undefined || order < found.order) found = { difference, order };
  }
  return found?.difference;
}

function sideOf(source: AnySession | RecordedLedger): Side {
  const { events, blobs } = ledgerOf('diffLedgers', source);
  const resolve = resolverOf(blobs);
  const rename = runNames(events);
  const streams = new Map<string, Event[]>();
  for (const event of withoutRemnants(events)) {
    // That a session is a fork says nothing of what was done in it.
    if (isMark(event) || isDecision(event, 'fork')) continue;
    const stream = rename(streamOf(event)) as string;
    const list = streams.get(stream) ?? [];
    streams.set(stream, list);
    list.push(event);
  }
  const comparable = (event: Event): JsonValue =>
    rename(resolve(withoutAttempt(comparableOf(event)))) as JsonValue;
  return { events, streams, resolve, comparable };
}

/** Replaces the ids of runs by the numbers of their order, wherever the ids occur in paths. */
function runNames(events: readonly Event[]): (value: unknown) => unknown {
  const roots = events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode === 'root' ? [event.invocationId] : [],
  );
  if (roots.length === 0) return (value) => value;
  const names = new Map(roots.map((name, at) => [name, `run ${at + 1}`]));
  const pattern = new RegExp(`(?<![\\w-])(?:${roots.map(escaped).join('|')})(?![\\w-])`, 'g');
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(pattern, (name) => names.get(name) ?? name);
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, rename(part)]));
  };
  return rename;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Leaves out model calls and attempts that the end of their process cut off: another attempt has
 * their outcome.
 */
function withoutRemnants(events: readonly Event[]): readonly Event[] {
  const cut = new Set<string>();
  for (const event of events) {
    if (event.type === 'model_end' && event.status === 'interrupted') cut.add(attemptName(event));
    if (event.type === 'tool_result' && !event.settled && event.result.errorType === 'interrupted')
      cut.add(attemptName(event));
  }
  return cut.size === 0
    ? events
    : events.filter(
        (event) =>
          !('attempt' in event) || event.type === 'tool_yield' || !cut.has(attemptName(event)),
      );
}

type Attempted =
  | EventOf<'model_start'>
  | EventOf<'model_end'>
  | EventOf<'tool_attempt'>
  | EventOf<'tool_result'>;

function attemptName(event: Event): string {
  const attempted = event as Attempted;
  return 'callId' in attempted
    ? `${attempted.callId} ${attempted.attempt}`
    : `${attempted.invocationId} ${attempted.round} ${attempted.attempt}`;
}

/**
 * Removes the number of the attempt: the attempts that a stopped run needed say nothing of its
 * work.
 */
function withoutAttempt({ attempt: _attempt, ...rest }: JsonObject): JsonObject {
  return rest;
}

function streamDifference(a: Side, b: Side, stream: string): LedgerDifference | undefined {
  const before = a.streams.get(stream) ?? [];
  const now = b.streams.get(stream) ?? [];
  for (let at = 0; at < Math.max(before.length, now.length); at++) {
    const difference = eventDifference(a, b, before[at], now[at]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function eventDifference(
  a: Side,
  b: Side,
  before: Event | undefined,
  now: Event | undefined,
): LedgerDifference | undefined {
  if (before === undefined || now === undefined) return onlyOnOneSide(a, b, before, now);
  const recorded = a.comparable(before);
  const replayed = b.comparable(now);
  const place = { seq: before.seq, otherSeq: now.seq, path: before.invocationId ?? '' };
  if (before.type === 'model_start' && now.type === 'model_start') {
    const prompts = { before: promptOn(a, before), now: promptOn(b, now) };
    if (isSameJson(recorded, replayed) && isSameJson(prompts.before, prompts.now)) return undefined;
    return { ...place, ...promptDivergence({ ...prompts, recorded: before, draft: now }) };
  }
  if (isSameJson(recorded, replayed)) return undefined;
  const isOther = before.type !== now.type;
  const differences = jsonDifferences(recorded, replayed);
  const subject = isOther
    ? `Where the first has ${nameOf(before)}, the other has ${nameOf(now)}`
    : `${capital(nameOf(before))} differs`;
  return {
    ...place,
    kind: isOther ? 'control_flow' : kindOf(before.type),
    subject,
    recorded,
    replayed,
    differences,
  };
}

function onlyOnOneSide(
  a: Side,
  b: Side,
  before: Event | undefined,
  now: Event | undefined,
): LedgerDifference | undefined {
  if (before !== undefined) {
    const subject = `${capital(nameOf(before))} is missing in the other`;
    return {
      seq: before.seq,
      path: before.invocationId ?? '',
      kind: 'control_flow',
      subject,
      recorded: a.comparable(before),
      differences: [],
    };
  }
  if (now === undefined) return undefined;
  const subject = `${capital(nameOf(now))} is only in the other`;
  const seq = Math.min(now.seq, a.events.length);
  return {
    seq,
    otherSeq: now.seq,
    path: now.invocationId ?? '',
    kind: 'control_flow',
    subject,
    replayed: b.comparable(now),
    differences: [],
  };
}

function promptOn({ events, resolve }: Side, { seq }: Event): JsonObject {
  return withoutProviderIds(promptOf(events, seq, resolve) as unknown as JsonValue) as JsonObject;
}
