import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import { withBlobs } from '../ledger/blobs/load-blobs.ts';
import type { Actor, Event } from '../ledger/event.ts';
import { enclosingInvocation, type InvocationRecord } from '../ledger/folds/invocation-fold.ts';
import type { ModelUse } from '../ledger/folds/model-use.ts';
import { pendingRequestOf } from '../ledger/folds/request-fold.ts';
import { visibleValues } from '../ledger/folds/state-fold.ts';
import type { LedgerPorts } from '../ledger/ledger.ts';
import type { RequestDraft } from '../ledger/port.ts';
import { placeIn, pointAt } from './fold-snapshot.ts';
import { type StateSnapshot, snapshotOf } from './time-travel.ts';
import type { InvocationOutline, LedgerPoint } from './time-travel-fold.ts';

/** An invocation that had begun and not ended. */
export interface ActiveInvocation {
  /** Path of the invocation. */
  readonly id: string;
  /** The nearest invocation above it. */
  readonly parent?: string;
  readonly kind: InvocationRecord['kind'];
  readonly name: string;
  /** The nearest agent at or above it. */
  readonly agent?: string;
  readonly status: 'open' | 'yielded';
  /** Sequence number of its `invocation_start`. */
  readonly start: number;
}

/** A key that an event has written. */
export interface ShownChange {
  readonly scope: string;
  readonly key: string;
  /** Value as the writer saw it before; missing when there was none. */
  readonly before?: JsonValue;
  /** Missing when the key was deleted. */
  readonly after?: JsonValue;
  readonly by: Actor;
}

/** A session right after one of its events: what people look at together. */
export interface SessionMoment<Request> {
  readonly at: number;
  /** Sequence number of the last event of the session. */
  readonly last: number;
  /** The event `at`; missing before the first one. */
  readonly event?: Event;
  /** As of `stateAt`, without the tree of the invocations. */
  readonly state: Omit<StateSnapshot, 'invocationTree'>;
  /** Keys that the event has written. */
  readonly changes: readonly ShownChange[];
  /** Requests that waited for an answer, in the order in which they were made. */
  readonly requests: readonly Request[];
  /** Use of the model calls so far; what a fork shares is not counted in it. */
  readonly usage: ModelUse;
  /** Invocations that had begun and not ended, in the order in which they started. */
  readonly invocations: readonly ActiveInvocation[];
}

export interface MomentOptions {
  /** Values of more than 64 KiB: as references, or as they are. @default 'references' */
  readonly values?: 'references' | 'full';
}

/**
 * Returns a stored session as it was right after the event `seq`, without claiming it.
 * @param seq @default the last event
 * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
 */
export async function storedMomentAt(
  ports: Pick<LedgerPorts, 'host' | 'store' | 'scope'>,
  session: string,
  seq: number | undefined,
  { values = 'references' }: MomentOptions,
): Promise<SessionMoment<RequestDraft>> {
  const { at, last } = await placeIn(ports, session, seq);
  const [listing] = await ports.store.list({ id: session, limit: 1 });
  let event: Event | undefined;
  let changes: readonly ShownChange[] = [];
  const point = await pointAt(ports, session, at, (before, recorded) => {
    event = recorded;
    changes = changesOf(before, recorded);
  });
  const { invocationTree: _, ...state } = snapshotOf(point, (value) => value);
  const requests = [...point.requests.values()].map((asked) =>
    pendingRequestOf(asked, session, listing?.user),
  );
  const moment = {
    at,
    last,
    ...defined({ event }),
    state,
    changes,
    requests,
    usage: point.use,
    invocations: activeIn(point),
  };
  return values === 'full' ? withBlobs(moment, ports, session) : moment;
}

function changesOf(before: LedgerPoint, event: Event): readonly ShownChange[] {
  if (event.type !== 'state_change') return [];
  const { scope, by, invocationId } = event;
  const values = new Map<string, JsonValue | undefined>(
    Object.entries(visibleValues(before.state.current, scope, invocationId)),
  );
  return event.changes.map(({ key, newValue: after }) => {
    const change = { scope, key, ...defined({ before: values.get(key), after }), by };
    values.set(key, after);
    return change;
  });
}

function activeIn(point: LedgerPoint): readonly ActiveInvocation[] {
  return [...point.byPath.values()].flatMap((outline) => {
    const { path: id, kind, name, status, startSeq: start } = outline;
    if (status !== 'open' && status !== 'yielded') return [];
    const parent = enclosingInvocation(point.byPath, id);
    const agent = agentOf(point, outline);
    return [
      {
        id,
        ...defined({ parent: parent?.path }),
        kind,
        name,
        ...defined({ agent }),
        status,
        start,
      },
    ];
  });
}

function agentOf(point: LedgerPoint, outline: InvocationOutline): string | undefined {
  let at: InvocationOutline | undefined = outline;
  while (at !== undefined && at.kind !== 'agent') at = enclosingInvocation(point.byPath, at.path);
  return at?.name;
}
