import { asJson, type JsonValue } from '../base/json.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import { decisionFold } from '../ledger/decisions/steering.ts';
import { type Event, type EventOf, type Fold, foldEvent, unchanged } from '../ledger/event.ts';
import { enclosingInvocation, type InvocationRecord } from '../ledger/folds/invocation-fold.ts';
import { defaultLane, type LaneWaits, noteWait } from '../ledger/folds/lanes.ts';
import { type ModelUse, noUse, useWith } from '../ledger/folds/model-use.ts';
import { type PendingRequests, requestFold } from '../ledger/folds/request-fold.ts';
import { StateAccumulator } from '../ledger/folds/state-accumulator.ts';
import type { StateValues } from '../ledger/folds/state-fold.ts';
import { rootOf, slotOf } from '../ledger/path.ts';

/** An invocation without its events. */
export interface InvocationOutline {
  readonly path: string;
  readonly kind: InvocationRecord['kind'];
  readonly name: string;
  mode: InvocationRecord['mode'];
  /** Lane of a root that names one. */
  readonly lane?: string | undefined;
  status: InvocationRecord['status'];
  readonly startSeq: number;
  endSeq: number | undefined;
  readonly children: InvocationOutline[];
}

/** State of a ledger at some event, for people. Changed in place by its fold. */
export interface LedgerPoint {
  /** Sequence number of the last folded event. */
  seq: number;
  readonly state: StateAccumulator;
  /** Name of the agent that acted last. */
  agent: string | undefined;
  /** Sequence number of the last message outside all invocations, 0 before the first. */
  lastMessageSeq: number;
  /** Invocations in the order in which they started. */
  readonly byPath: Map<string, InvocationOutline>;
  readonly roots: InvocationOutline[];
  /** Waits of the parts of the run of a lane that yielded since it went on last. */
  readonly waits: LaneWaits;
  readonly requests: PendingRequests;
  /** Use of the model calls since the last fork: what that shares is counted elsewhere. */
  use: ModelUse;
}

export function startPoint(): LedgerPoint {
  return {
    seq: 0,
    state: new StateAccumulator(),
    agent: undefined,
    lastMessageSeq: 0,
    byPath: new Map(),
    roots: [],
    waits: new Map(),
    requests: new Map(),
    use: noUse,
  };
}

function attach(point: LedgerPoint, outline: InvocationOutline): void {
  (enclosingInvocation(point.byPath, outline.path)?.children ?? point.roots).push(outline);
  point.byPath.set(outline.path, outline);
}

function setStatus(
  point: LedgerPoint,
  path: string,
  status: InvocationOutline['status'],
  endSeq?: number,
): LedgerPoint {
  const outline = point.byPath.get(path);
  if (outline !== undefined) {
    outline.status = status;
    outline.endSeq = endSeq;
  }
  return point;
}

/** The lane of the run that a path belongs to. */
export function laneIn({ byPath }: LedgerPoint, path: string): string {
  return byPath.get(rootOf(path))?.lane ?? defaultLane;
}

function onStart(
  point: LedgerPoint,
  { invocationId: path, kind, name, mode, lane, seq }: EventOf<'invocation_start'>,
): LedgerPoint {
  if (mode === 'root') point.waits.delete(lane ?? defaultLane);
  attach(point, {
    path,
    kind,
    name,
    mode,
    lane,
    status: 'open',
    startSeq: seq,
    endSeq: undefined,
    children: [],
  });
  if (kind === 'agent') point.agent = name;
  return point;
}

function onActing(point: LedgerPoint, event: { readonly agent: string }): LedgerPoint {
  point.agent = event.agent;
  return point;
}

const steer = decisionFold<'invocations', LedgerPoint>({
  'spawn.detach': ({ byPath }, { data }) => {
    const detached = byPath.get(data?.path ?? '');
    if (detached?.mode === 'spawn') detached.mode = 'dispatch';
  },
});

const pointFold: Fold<LedgerPoint> = {
  user: (point, event) => {
    if (event.invocationId === undefined || !point.byPath.has(event.invocationId))
      point.lastMessageSeq = event.seq;
    return point;
  },
  assistant: onActing,
  thought: onActing,
  tool_call: onActing,
  tool_attempt: unchanged,
  tool_result: unchanged,
  tool_yield: unchanged,
  tool_input: unchanged,
  state_change: unchanged,
  invocation_start: onStart,
  invocation_yield: (point, event) => {
    noteWait(point.waits, laneIn(point, event.invocationId), event.reason);
    return setStatus(point, event.invocationId, 'yielded');
  },
  invocation_resume: (point, event) => {
    point.waits.delete(laneIn(point, event.invocationId));
    return setStatus(point, event.invocationId, 'open');
  },
  invocation_end: (point, event) => setStatus(point, event.invocationId, event.status, event.seq),
  invocation_reopen: (point, event) => setStatus(point, event.invocationId, 'open'),
  model_start: onActing,
  model_end: (point, event) => {
    if (event.substitutedBy === undefined) point.use = useWith(point.use, event);
    return point;
  },
  handoff: unchanged,
  decision: (point, event) => {
    steer(point, event);
    if (isDecision(event, 'fork')) point.use = noUse;
    return point;
  },
  compaction: unchanged,
  artifact: unchanged,
  plan: unchanged,
  plan_update: unchanged,
  error: unchanged,
  cancel: unchanged,
  memory: unchanged,
};

/** Folds one event into a point. Large values stay references. */
export function foldPoint(point: LedgerPoint, event: Event): LedgerPoint {
  foldEvent(pointFold, point, event);
  foldEvent(requestFold, point.requests, event);
  point.state.add(event);
  point.seq = event.seq;
  return point;
}

/**
 * Version of the results of `foldPoint` and of the form below. It rises with every change of these,
 * and older stored points are then folded anew.
 */
export const pointFoldVersion = 4;

type StoredOutline = readonly [
  path: string,
  kind: string,
  name: string,
  mode: string,
  status: string,
  startSeq: number,
  endSeq: number,
  lane?: string,
];

type WaitReason = EventOf<'invocation_yield'>['reason'];

interface StoredPoint {
  readonly scopes: Readonly<Record<string, StateValues>>;
  /** Values that branches set, and keys that they deleted, by path. */
  readonly overlays: Readonly<
    Record<string, { readonly set: StateValues; readonly deleted: readonly string[] }>
  >;
  readonly agent: string | null;
  readonly lastMessageSeq: number;
  readonly waits: readonly WaitReason[];
  /** The same of the lanes that have a name; missing when there are none. */
  readonly laneWaits?: readonly (readonly [lane: string, reasons: readonly WaitReason[]])[];
  readonly invocations: readonly StoredOutline[];
  readonly requests: readonly EventOf<'tool_yield'>[];
  readonly use: ModelUse;
}

/** Returns a point as JSON, without its `seq`. */
export function pointToJson(point: LedgerPoint): JsonValue {
  const { agent, lastMessageSeq, byPath, waits } = point;
  const named = [...waits]
    .filter(([lane]) => lane !== defaultLane)
    .map(([lane, reasons]) => [lane, [...reasons]] as const);
  const state = point.state.current;
  const overlays = [...state.overlays].map(([path, changes]) => {
    const entries = Object.entries(changes);
    const deleted = entries.flatMap(([key, value]) => (value === undefined ? [key] : []));
    return [
      path,
      {
        set: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as StateValues,
        deleted,
      },
    ] as const;
  });
  const stored: StoredPoint = {
    scopes: state.scopes,
    overlays: Object.fromEntries(overlays),
    agent: agent ?? null,
    lastMessageSeq,
    waits: [...(waits.get(defaultLane) ?? [])],
    ...(named.length === 0 ? {} : { laneWaits: named }),
    invocations: [...byPath.values()].map((one) => [
      one.path,
      one.kind,
      one.name,
      one.mode,
      one.status,
      one.startSeq,
      one.endSeq ?? 0,
      ...(one.lane === undefined ? ([] as const) : ([one.lane] as const)),
    ]),
    requests: [...point.requests.values()],
    use: point.use,
  };
  return asJson(stored);
}

/** Makes a point from the JSON of `pointToJson`. */
export function pointFromJson(json: JsonValue, seq: number): LedgerPoint {
  const {
    scopes,
    overlays,
    agent,
    lastMessageSeq,
    waits,
    laneWaits = [],
    invocations,
    requests,
    use,
  } = json as unknown as StoredPoint;
  const opened = Object.entries(overlays).map(([path, { set, deleted }]) => {
    return [
      path,
      Object.freeze({ ...set, ...Object.fromEntries(deleted.map((key) => [key, undefined])) }),
    ] as const;
  });
  const modes = new Map(invocations.map(([path, , , mode]) => [path, mode]));
  const detached = invocations.flatMap(([path, , , , , , endSeq]) => {
    const slot = slotOf(path);
    const mode = modes.get(slot);
    return endSeq === 0 && (mode === 'dispatch' || mode === 'spawn') ? [slot] : [];
  });
  const state = new StateAccumulator({
    scopes,
    overlays: new Map(opened),
    detached: new Set(detached),
  });
  const point: LedgerPoint = {
    ...startPoint(),
    seq,
    state,
    agent: agent ?? undefined,
    lastMessageSeq,
    waits: new Map([
      ...(waits.length === 0 ? [] : [[defaultLane, new Set(waits)] as const]),
      ...laneWaits.map(([lane, reasons]) => [lane, new Set(reasons)] as const),
    ]),
    requests: new Map(requests.map((event) => [event.requestId, event])),
    use,
  };
  for (const [path, kind, name, mode, status, startSeq, endSeq, lane] of invocations) {
    const outline = {
      path,
      kind,
      name,
      mode,
      status,
      startSeq,
      endSeq: endSeq === 0 ? undefined : endSeq,
      lane,
      children: [],
    };
    attach(point, outline as InvocationOutline);
  }
  return point;
}
