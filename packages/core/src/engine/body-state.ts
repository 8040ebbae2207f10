import { canonicalJson, type JsonValue } from '../base/json.ts';
import { type Actor, type EventDraft, type EventOf, foldEvent, type StateChange } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { SharedWrite } from '../ledger/port.ts';
import type { StateAccess } from '../ledger/scoped-state.ts';
import { emptyLedgerState, type LedgerState, type StateValues, stateFold, visibleValues, withChanges } from '../ledger/state-fold.ts';
import { isBelow, type RunContext } from './run-context.ts';

/** The state of a ledger after its first `seq` events. */
export function stateAfter(ledger: Ledger, seq: number): LedgerState {
  let state = emptyLedgerState;
  for (let i = 0; i < seq; i++) {
    const event = ledger.events[i] as Ledger['events'][number];
    state = foldEvent(stateFold, state, event.type === 'state_change' ? ledger.whole(event) : event);
  }
  return state;
}

type Changed = Record<string, JsonValue | undefined>;

/**
 * The state of a body: what it started from, its own writes, and what its children changed, added when each is returned. So a body that
 * runs again reads what it read the first time. Writes wait here until they land with a child's start or the body's end.
 */
export class BodyState implements StateAccess {
  readonly temp: Record<string, unknown> = {};
  readonly #run: RunContext;
  readonly #path: string;
  readonly #by: Actor;
  /** `undefined`: read what the ledger says now. */
  readonly #base: LedgerState | undefined;
  readonly #own = new Map<string, Changed>();
  #pending = new Map<string, Map<string, StateChange>>();

  constructor(run: RunContext, path: string, by: Actor, base: LedgerState | undefined) {
    this.#run = run;
    this.#path = path;
    this.#by = by;
    this.#base = base;
  }

  get sharedScopes(): readonly string[] {
    return this.#run.session.shared.names;
  }

  read(scope: string): StateValues {
    const values = visibleValues(this.#base ?? this.#run.ledger.state, scope, this.#path);
    const own = this.#own.get(scope);
    return own === undefined ? values : withChanges(values, own);
  }

  write(scope: string, changes: readonly StateChange[]): void {
    const own = this.#own.get(scope) ?? {};
    const pending = this.#pending.get(scope) ?? new Map<string, StateChange>();
    for (const change of changes) {
      own[change.key] = change.newValue;
      const first = pending.get(change.key);
      pending.set(change.key, first?.oldValue === undefined ? change : { ...change, oldValue: first.oldValue });
    }
    this.#own.set(scope, own);
    this.#pending.set(scope, pending);
  }

  /** The writes since the last time, as events; `flush` names the child with whose start they land. */
  take(flush?: string): { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined } {
    if (this.#pending.size === 0) return nothing;
    const drafts: EventDraft[] = [];
    const shared: SharedWrite[] = [];
    for (const [scope, pending] of this.#pending) {
      const changes = [...pending.values()];
      const scopeId = this.#run.session.shared.scopeIds[scope];
      drafts.push({
        type: 'state_change',
        by: this.#by,
        invocationId: this.#path,
        scope,
        ...(scopeId === undefined ? {} : { scopeId }),
        source: 'mutation',
        changes,
        ...(flush === undefined ? {} : { flush }),
      });
      shared.push(...this.#run.session.shared.writes(scope, changes));
    }
    this.#pending = new Map();
    // What has landed is read from the ledger from now on, where children may change it.
    if (this.#base === undefined) this.#own.clear();
    return { drafts, extras: shared.length === 0 ? undefined : { shared } };
  }

  /** Forgets writes that the ledger has already: an earlier execution of the body landed them with the same child. */
  drop(flushed: readonly EventOf<'state_change'>[]): void {
    const { resolve } = this.#run.ledger;
    for (const { scope, changes } of flushed) {
      const pending = this.#pending.get(scope);
      for (const { key, newValue } of changes) {
        // A write that had come later then, as it may in concurrent code, is kept.
        if (pending !== undefined && sameValue(pending.get(key)?.newValue, resolve(newValue))) pending.delete(key);
      }
      if (pending?.size === 0) this.#pending.delete(scope);
    }
  }

  /** Adds what a child changed in the session's state, as far as it is visible outside the child. */
  adopt(child: InvocationRecord): void {
    if (this.#base === undefined) return;
    const { events, invocations } = this.#run.ledger;
    const slot = child.path.replace(/>[^/]*$/, '');
    const first = invocations.byPath.get(slot) ?? child;
    for (let seq = first.start.seq; seq <= (child.end?.seq ?? events.length); seq++) {
      const event = events[seq - 1];
      if (event?.type !== 'state_change' || !isOutsideBranches(event, slot, invocations.byPath)) continue;
      const target = this.#own.get(event.scope) ?? {};
      for (const { key, newValue } of this.#run.ledger.whole(event).changes) target[key] = newValue;
      this.#own.set(event.scope, target);
    }
  }
}

const nothing = Object.freeze({ drafts: [], extras: undefined });

/** Whether an event lies in `slot` and not inside a branch there, whose writes count only from the join on. */
function isOutsideBranches(event: EventOf<'state_change'>, slot: string, byPath: ReadonlyMap<string, InvocationRecord>): boolean {
  const path = event.invocationId;
  if (path === undefined || !isBelow(path, slot)) return false;
  for (let record = byPath.get(path); record !== undefined; record = byPath.get(record.parent ?? '')) {
    if (record.path.replace(/>[^/]*$/, '') === slot) return true;
    if (record.branch) return false;
  }
  return true;
}

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}
