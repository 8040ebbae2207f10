import type { JsonValue } from '../../base/json.ts';
import { type EventOf, type Fold, unchanged } from '../event.ts';
import { ancestorsOf, belongsTo, isBelow, parentOf, predecessorOf, slotOf } from '../path.ts';

export type StateValues = Readonly<Record<string, JsonValue>>;

/** State of all scopes after some event. Values are immutable; a change makes new ones. */
export interface LedgerState {
  /** Scope name to its values. */
  readonly scopes: Readonly<Record<string, StateValues>>;
  /**
   * Writes of open parallel branches to session state, by branch path; a deleted key is
   * `undefined`.
   */
  readonly overlays: ReadonlyMap<string, Readonly<Record<string, JsonValue | undefined>>>;
  /** Slots of the open dispatched and spawned invocations: they go on when their caller ends. */
  readonly detached: ReadonlySet<string>;
}

export const emptyLedgerState: LedgerState = Object.freeze({
  scopes: Object.freeze({}),
  overlays: new Map(),
  detached: new Set<string>(),
});

const noValues: StateValues = Object.freeze({});

/** Path of the branch whose overlay takes the writes of `path`: the nearest one at or above it. */
function overlayOf(state: LedgerState, path: string | undefined): string | undefined {
  if (path === undefined || state.overlays.size === 0) return undefined;
  for (let branch = path; branch !== ''; branch = parentOf(branch)) {
    if (state.overlays.has(branch)) return branch;
  }
  return undefined;
}

/**
 * The values of a scope as the invocation at `path` sees them. Without a path, the values outside
 * all open branches.
 */
export function visibleValues(state: LedgerState, scope: string, path?: string): StateValues {
  const base = state.scopes[scope] ?? noValues;
  if (scope !== 'session' || path === undefined || state.overlays.size === 0) return base;
  let values = base;
  for (const branch of [...ancestorsOf(path).toReversed(), path]) {
    const overlay = state.overlays.get(branch);
    if (overlay !== undefined) values = withChanges(values, overlay);
  }
  return values;
}

/** Applies changes to values; a key changed to `undefined` is removed. */
export function withChanges(
  values: StateValues,
  changes: Readonly<Record<string, JsonValue | undefined>>,
): StateValues {
  const next: Record<string, JsonValue> = { ...values };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete next[key];
    else next[key] = value;
  }
  return Object.freeze(next);
}

function change(state: LedgerState, event: EventOf<'state_change'>): LedgerState {
  const changes: Record<string, JsonValue | undefined> = {};
  for (const { key, newValue } of event.changes) changes[key] = newValue;
  const branch = event.scope === 'session' ? overlayOf(state, event.invocationId) : undefined;
  if (branch !== undefined) {
    const overlays = new Map(state.overlays).set(
      branch,
      Object.freeze({ ...state.overlays.get(branch), ...changes }),
    );
    return { ...state, overlays };
  }
  const values = withChanges(state.scopes[event.scope] ?? noValues, changes);
  return { ...state, scopes: Object.freeze({ ...state.scopes, [event.scope]: values }) };
}

function begin(state: LedgerState, event: EventOf<'invocation_start'>): LedgerState {
  const { branch, invocationId, mode } = event;
  if (mode === 'dispatch' || mode === 'spawn')
    return { ...state, detached: new Set(state.detached).add(invocationId) };
  if (branch !== true) return state;
  // An invocation that continues a branch after a handoff continues its overlay.
  const predecessor = predecessorOf(invocationId);
  const before = predecessor === undefined ? undefined : state.overlays.get(predecessor);
  return {
    ...state,
    overlays: new Map(state.overlays).set(invocationId, before ?? Object.freeze({})),
  };
}

/**
 * Removes the overlays of the branches inside an invocation that ends. Its join has already decided
 * about their writes. Branches inside detached work below it go on.
 */
function end(state: LedgerState, { invocationId, next }: EventOf<'invocation_end'>): LedgerState {
  const slot = slotOf(invocationId);
  const detached =
    next === undefined && state.detached.has(slot)
      ? new Set([...state.detached].filter((path) => path !== slot))
      : state.detached;
  const goOn = [...detached].filter((path) => isBelow(path, invocationId));
  const kept = [...state.overlays].filter(
    ([path]) => !isBelow(path, invocationId) || goOn.some((owner) => belongsTo(path, owner)),
  );
  const overlays = kept.length === state.overlays.size ? state.overlays : new Map(kept);
  return overlays === state.overlays && detached === state.detached
    ? state
    : { scopes: state.scopes, overlays, detached };
}

/** Folds a ledger into the state of all scopes. It is pure: a state never changes. */
export const stateFold: Fold<LedgerState> = {
  user: unchanged,
  assistant: unchanged,
  thought: unchanged,
  tool_call: unchanged,
  tool_attempt: unchanged,
  tool_result: unchanged,
  tool_yield: unchanged,
  tool_input: unchanged,
  state_change: change,
  invocation_start: begin,
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: end,
  invocation_reopen: unchanged,
  model_start: unchanged,
  model_end: unchanged,
  handoff: unchanged,
  decision: unchanged,
  compaction: unchanged,
  artifact: unchanged,
  plan: unchanged,
  plan_update: unchanged,
  error: unchanged,
  cancel: unchanged,
  memory: unchanged,
};
