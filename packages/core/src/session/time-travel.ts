import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import { SeqOutOfRangeError } from '../ledger/errors.ts';
import { type Event, foldEvent } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/folds/invocation-fold.ts';
import { defaultLane } from '../ledger/folds/lanes.ts';
import { emptyLedgerState, type StateValues, stateFold } from '../ledger/folds/state-fold.ts';
import { type SessionStatus, statusAfter, statusOfLanes } from '../ledger/status.ts';
import {
  foldPoint,
  type InvocationOutline,
  type LedgerPoint,
  laneIn,
  startPoint,
} from './time-travel-fold.ts';

/** Replaces references by their large values; for a session: `session.ledger.resolve`. */
export type ResolveValue = (value: unknown) => unknown;

/** One invocation as it was at some event. */
export interface SnapshotInvocation {
  /** Path of the invocation. */
  readonly invocationId: string;
  readonly kind: InvocationRecord['kind'];
  readonly name: string;
  readonly mode: InvocationRecord['mode'];
  readonly status: InvocationRecord['status'];
  /** Sequence number of its `invocation_start`. */
  readonly startIndex: number;
  /** Sequence number of its `invocation_end`; missing while it is open. */
  readonly endIndex?: number;
  readonly children: readonly SnapshotInvocation[];
}

/**
 * A session as it was right after some event. Each scope that its ledger has by then is there as
 * `<scope>State`.
 */
export interface StateSnapshot {
  readonly seq: number;
  readonly status: SessionStatus;
  /** Name of the agent that had acted last. */
  readonly currentAgentName: string | undefined;
  /** Runs that had begun, with the invocations below them. */
  readonly invocationTree: readonly SnapshotInvocation[];
  /**
   * Writes of open parallel branches to session state so far, by branch path; a deleted key is
   * `undefined`.
   */
  readonly overlays: Readonly<Record<string, Readonly<Record<string, JsonValue | undefined>>>>;
  /** Session state outside all open branches. */
  readonly sessionState: StateValues;
  /** A shared scope as this session knew it then; the store may have had other values. */
  readonly [scopeState: `${string}State`]: StateValues;
}

/** Begin and end of an invocation. */
export interface InvocationBoundary {
  readonly invocationId: string;
  /** Name of the agent or other runnable. */
  readonly agentName: string;
  /** Sequence number of its `invocation_start`. */
  readonly startIndex: number;
  /**
   * Sequence number of its `invocation_end`; missing while it is open, and again after it was
   * reopened.
   */
  readonly endIndex?: number;
}

const asRecorded: ResolveValue = (value) => value;
const noValues: StateValues = Object.freeze({});

/**
 * Checks a sequence number.
 * @throws SeqOutOfRangeError unless `seq` is 0 or the place of one of `last` events
 */
export function checkSeq(seq: number, last: number): void {
  if (!Number.isInteger(seq) || seq < 0 || seq > last) throw new SeqOutOfRangeError({ seq, last });
}

/** The events of a ledger up to and with `seq`. */
function* prefix(events: readonly Event[], seq: number): Generator<Event> {
  checkSeq(seq, events.at(-1)?.seq ?? 0);
  for (const event of events) {
    if (event.seq > seq) return;
    yield event;
  }
}

/**
 * Returns the values of one scope right after the event `seq`; 0 is before the first event.
 * @param events the ledger from its first event on
 * @param scope `'session'`, or the name of a shared scope
 * @throws SeqOutOfRangeError
 */
export function computeStateAtEvent(
  events: readonly Event[],
  seq: number,
  scope: string,
  resolve: ResolveValue = asRecorded,
): StateValues {
  let state = emptyLedgerState;
  for (const event of prefix(events, seq)) state = foldEvent(stateFold, state, event);
  return resolve(state.scopes[scope] ?? noValues) as StateValues;
}

/**
 * Returns the whole state of a session right after the event `seq`; 0 is before the first event.
 * @param events the ledger from its first event on
 * @throws SeqOutOfRangeError
 */
export function snapshotAt(
  events: readonly Event[],
  seq: number,
  resolve: ResolveValue = asRecorded,
): StateSnapshot {
  const point = startPoint();
  for (const event of prefix(events, seq)) foldPoint(point, event);
  return snapshotOf(point, resolve);
}

/** Makes the snapshot of a point for people. */
export function snapshotOf(point: LedgerPoint, resolve: ResolveValue): StateSnapshot {
  const { seq, agent, roots } = point;
  const state = point.state.current;
  const scopes = Object.entries(state.scopes).map(([scope, values]) => [
    `${scope}State`,
    resolve(values),
  ]);
  return {
    sessionState: noValues,
    ...(Object.fromEntries(scopes) as Record<`${string}State`, StateValues>),
    seq,
    status: statusOf(point),
    currentAgentName: agent,
    invocationTree: roots.map(shown),
    overlays: resolve(Object.fromEntries(state.overlays)) as StateSnapshot['overlays'],
  };
}

function statusOf(point: LedgerPoint): SessionStatus {
  const { lastMessageSeq, roots, waits } = point;
  const last = roots.at(-1);
  const own = waits.get(last === undefined ? defaultLane : laneIn(point, last.path)) ?? new Set();
  const status = statusAfter(last, lastMessageSeq, own);
  const lanes = new Map(roots.map((root) => [laneIn(point, root.path), root.status]));
  if (lanes.size < 2) return status;
  const ofLanes = [...lanes].map(([lane, lastStatus]) =>
    statusAfter({ status: lastStatus, endSeq: undefined }, 0, waits.get(lane) ?? new Set()),
  );
  return statusOfLanes(status, ofLanes);
}

function shown({
  path,
  kind,
  name,
  mode,
  status,
  startSeq,
  endSeq,
  children,
}: InvocationOutline): SnapshotInvocation {
  const end = defined({ endIndex: endSeq });
  return {
    invocationId: path,
    kind,
    name,
    mode,
    status,
    startIndex: startSeq,
    ...end,
    children: children.map(shown),
  };
}

/** Sequence number of the event with this id; `undefined` when there is none. */
export function findEventIndex(events: readonly Event[], eventId: string): number | undefined {
  return events.find(({ id }) => id === eventId)?.seq;
}

/** Begin and end of the invocation at `path`; `undefined` when it has not begun. */
export function findInvocationBoundary(
  events: readonly Event[],
  path: string,
): InvocationBoundary | undefined {
  let found: InvocationBoundary | undefined;
  for (const event of events) {
    if (event.invocationId !== path) continue;
    if (event.type === 'invocation_start')
      found = { invocationId: path, agentName: event.name, startIndex: event.seq };
    else if (found !== undefined && event.type === 'invocation_end')
      found = { ...found, endIndex: event.seq };
    else if (found !== undefined && event.type === 'invocation_reopen') {
      const { endIndex: _, ...open } = found;
      found = open;
    }
  }
  return found;
}
