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
  /** What an earlier execution had landed last, by scope and key. */
  readonly #restored = new Map<string, { readonly seq: number; readonly value: JsonValue | undefined }>();
  /** Of shared scopes: what the code was shown last, by key. */
  readonly #seen = new Map<string, Map<string, JsonValue | undefined>>();
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

  /** Remembers what code that reads the ledger as it grows was shown of a shared scope: what it writes is based on that. */
  read(scope: string, key?: string): StateValues {
    const values = this.peek(scope);
    if (this.#base !== undefined || scope === 'session') return values;
    const seen = this.#seen.get(scope) ?? new Map<string, JsonValue | undefined>();
    for (const name of key === undefined ? Object.keys(values) : [key]) seen.set(name, values[name]);
    this.#seen.set(scope, seen);
    return values;
  }

  peek(scope: string): StateValues {
    const values = visibleValues(this.#base ?? this.#run.ledger.state, scope, this.#path);
    const own = this.#own.get(scope);
    return own === undefined ? values : withChanges(values, own);
  }

  write(scope: string, changes: readonly StateChange[]): void {
    const own = this.#own.get(scope) ?? {};
    const pending = this.#pending.get(scope) ?? new Map<string, StateChange>();
    for (const change of changes) {
      own[change.key] = change.newValue;
      pending.set(change.key, overwritten(pending.get(change.key), change));
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
      if (scopeId !== undefined) shared.push(...this.#run.session.shared.writes(scope, changes, this.#staleKeys(scope, changes)));
    }
    this.#pending = new Map();
    // What has landed is read from the ledger from now on, where children may change it.
    if (this.#base === undefined) this.#own.clear();
    return { drafts, extras: shared.length === 0 ? undefined : { shared } };
  }

  /** Keys whose value was another one when the body last looked than what the ledger says now. */
  #staleKeys(scope: string, changes: readonly StateChange[]): ReadonlySet<string> {
    const now = visibleValues(this.#run.ledger.state, scope);
    const seen = this.#seen.get(scope);
    const stale = new Set<string>();
    for (const { key, oldValue } of changes) {
      if (!sameValue(seen?.has(key) ? seen.get(key) : oldValue, now[key])) stale.add(key);
      // What it has written is what it knows from now on.
      seen?.delete(key);
    }
    return stale;
  }

  /**
   * Puts what an earlier execution of the body landed with a child in the place of what this one wrote: that is what the child saw, and it
   * is not written again, even if the code would now write something else.
   */
  drop(flushed: readonly EventOf<'state_change'>[]): void {
    for (const event of flushed) {
      const pending = this.#pending.get(event.scope);
      for (const { key } of event.changes) pending?.delete(key);
      if (pending?.size === 0) this.#pending.delete(event.scope);
      if (this.#base !== undefined) this.#restore(event);
    }
  }

  /** Concurrent code may ask for its children in another order than before: of two recorded writes of a key the later one counts. */
  #restore(event: EventOf<'state_change'>): void {
    const own = this.#own.get(event.scope) ?? {};
    this.#own.set(event.scope, own);
    for (const { key, newValue } of this.#run.ledger.whole(event).changes) {
      const name = `${event.scope}\n${key}`;
      const last = this.#restored.get(name);
      const later = last === undefined || last.seq <= event.seq ? { seq: event.seq, value: newValue } : last;
      this.#restored.set(name, later);
      own[key] = later.value;
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
      if (event?.type !== 'state_change' || !isBelow(event.invocationId, slot) || !this.#isOpenTo(event, slot)) continue;
      const target = this.#own.get(event.scope) ?? {};
      for (const { key, newValue } of this.#run.ledger.whole(event).changes) target[key] = newValue;
      this.#own.set(event.scope, target);
    }
  }

  /** Branches keep what they write to the session's state until their join; what is shared is everybody's at once. */
  #isOpenTo(event: EventOf<'state_change'>, slot: string): boolean {
    return event.scope !== 'session' || isOutsideBranches(event, slot, this.#run.ledger.invocations.byPath);
  }
}

/** Two changes of one key as one. */
function overwritten(first: StateChange | undefined, { key, oldValue, newValue }: StateChange): StateChange {
  const old = first === undefined ? oldValue : first.oldValue;
  return { key, ...(old === undefined ? {} : { oldValue: old }), ...(newValue === undefined ? {} : { newValue }) };
}

function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}

const nothing = Object.freeze({ drafts: [], extras: undefined });

/** Whether an event lies in `slot` and not inside a branch there, whose writes count only from the join on. */
function isOutsideBranches(event: EventOf<'state_change'>, slot: string, byPath: ReadonlyMap<string, InvocationRecord>): boolean {
  const path = event.invocationId;
  for (let record = byPath.get(path ?? ''); record !== undefined; record = byPath.get(record.parent ?? '')) {
    if (record.path.replace(/>[^/]*$/, '') === slot) return true;
    if (record.branch) return false;
  }
  return true;
}
