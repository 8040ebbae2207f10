import type { JsonValue } from '../base/json.ts';
import { type Actor, type EventDraft, type EventOf, foldEvent, type StateChange } from '../ledger/event.ts';
import type { InvocationRecord } from '../ledger/invocation-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { ChangeValue, StateAccess } from '../ledger/scoped-state.ts';
import { type PendingWrite, sameValue } from '../ledger/shared-state.ts';
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

/** A write that has not landed yet. */
interface Waiting {
  readonly change: StateChange;
  /** Makes it anew on top of another value; missing for a plain value. */
  readonly again: ChangeValue | undefined;
  /** The tool calls whose hooks have written it. */
  readonly calls: readonly string[];
}

/** What became of the writes that were to land with the start of a child or effect. */
export interface Flush {
  readonly landed: readonly EventOf<'state_change'>[];
  /** Shared writes that the store refused, by scope. */
  readonly refused: readonly { readonly scope: string; readonly scopeId: string; readonly keys: readonly string[] }[];
}

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
  #base: LedgerState | undefined;
  readonly #own = new Map<string, Changed>();
  /** What an earlier execution had landed last, by scope and key. */
  readonly #restored = new Map<string, { readonly seq: number; readonly value: JsonValue | undefined }>();
  /** What was last sent on its way to shared scopes, by scope and key. */
  readonly #drafted = new Map<string, JsonValue | undefined>();
  /** Of shared scopes: what the code was shown last, by key. */
  readonly #seen = new Map<string, Map<string, JsonValue | undefined>>();
  #pending = new Map<string, Map<string, Waiting>>();
  /** Facts to be remembered that have not landed yet, by their key or text. */
  #facts = new Map<string, { readonly text: string; readonly key: string | undefined }>();

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

  /** @param call the tool call whose hooks write it */
  write(scope: string, changes: readonly StateChange[], again?: ChangeValue, call?: string): void {
    const own = this.#own.get(scope) ?? {};
    const pending = this.#pending.get(scope) ?? new Map<string, Waiting>();
    for (const change of changes) {
      own[change.key] = change.newValue;
      pending.set(change.key, overwritten(pending.get(change.key), { change, again, calls: call === undefined ? [] : [call] }));
    }
    this.#own.set(scope, own);
    this.#pending.set(scope, pending);
  }

  /**
   * The writes since the last time, as events; `flush` names the child with whose start they land.
   * @param call leaves what only hooks of other tool calls have written: that lands with those
   */
  take(flush?: string, call?: string): { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined } {
    if (this.#pending.size === 0 && this.#facts.size === 0) return nothing;
    const others = call === undefined ? undefined : this.#partOthers(call);
    // Ahead of the state: what landed of that with a child is looked for right before the child.
    const drafts: EventDraft[] = this.#takeFacts();
    const shared: PendingWrite[] = [];
    for (const [scope, pending] of this.#pending) {
      const scopeId = this.#run.session.shared.scopeIds[scope];
      const stale = scopeId === undefined ? new Set<string>() : this.#staleKeys(scope, pending);
      if (stale.size > 0) this.#makeAgain(scope, pending, stale);
      const changes = [...pending.values()].map(({ change }) => change);
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
      if (scopeId === undefined) continue;
      const again = new Map([...pending].flatMap(([key, waiting]) => (waiting.again === undefined ? [] : [[key, waiting.again] as const])));
      shared.push(...this.#run.session.shared.writes({ scope, changes, again, stale }));
      for (const { key, newValue } of changes) this.#drafted.set(`${scope}\n${key}`, newValue);
    }
    this.#pending = others ?? new Map();
    // What has landed is read from the ledger from now on, where children may change it.
    if (this.#base === undefined) this.#own.clear();
    for (const [scope, pending] of this.#pending) {
      this.#own.set(scope, Object.fromEntries([...pending].map(([key, { change }]) => [key, change.newValue])));
    }
    return { drafts, extras: shared.length === 0 ? undefined : { shared } };
  }

  /** Takes what does not land with a tool call out of what waits, and gives it. */
  #partOthers(call: string): Map<string, Map<string, Waiting>> {
    const others = new Map<string, Map<string, Waiting>>();
    for (const [scope, pending] of this.#pending) {
      const left = new Map([...pending].filter(([, { calls }]) => calls.length > 0 && !calls.includes(call)));
      if (left.size === 0) continue;
      others.set(scope, left);
      for (const key of left.keys()) pending.delete(key);
      if (pending.size === 0) this.#pending.delete(scope);
    }
    return others;
  }

  /** Keeps a fact. It lands with the other writes, and not again when a body that runs again finds it out again. */
  remember(text: string, key: string | undefined): void {
    this.#facts.set(key === undefined ? `text ${text}` : `key ${key}`, { text, key });
  }

  #takeFacts(): EventDraft[] {
    if (this.#facts.size === 0) return [];
    const { ledger } = this.#run;
    const recorded = ledger.invocations.byPath.get(this.#path)?.events ?? [];
    const drafts: EventDraft[] = [];
    for (const { text, key } of this.#facts.values()) {
      const last = recorded.findLast(
        (event) => event.type === 'memory' && event.key === key && (key !== undefined || ledger.resolve(event.text) === text),
      );
      if (last?.type === 'memory' && ledger.resolve(last.text) === text) continue;
      drafts.push({ type: 'memory', by: this.#by, invocationId: this.#path, text, ...(key === undefined ? {} : { key }) });
    }
    this.#facts = new Map();
    return drafts;
  }

  /** Keys whose value was another one when the body last looked than what the ledger says now. */
  #staleKeys(scope: string, pending: ReadonlyMap<string, Waiting>): Set<string> {
    const seen = this.#seen.get(scope);
    const stale = new Set<string>();
    for (const [key, { change }] of pending) {
      if (!sameValue(seen?.has(key) ? seen.get(key) : change.oldValue, this.#latest(scope, key))) stale.add(key);
      // What it has written is what it knows from now on.
      seen?.delete(key);
    }
    return stale;
  }

  #latest(scope: string, key: string): JsonValue | undefined {
    return this.#run.session.shared.latest(scope, key, visibleValues(this.#run.ledger.state, scope)[key]);
  }

  /** What code gave as a function of the value is made of the value that there is now. */
  #makeAgain(scope: string, pending: Map<string, Waiting>, stale: Set<string>): void {
    for (const key of [...stale]) {
      const { again, calls } = pending.get(key) as Waiting;
      if (again === undefined) continue;
      const oldValue = this.#latest(scope, key);
      let newValue: JsonValue | undefined;
      try {
        newValue = again(oldValue);
      } catch {
        // It cannot be made of the value that is there now: the write is refused.
        continue;
      }
      pending.set(key, {
        change: { key, ...(oldValue === undefined ? {} : { oldValue }), ...(newValue === undefined ? {} : { newValue }) },
        again,
        calls,
      });
      const own = this.#own.get(scope);
      if (own !== undefined) own[key] = newValue;
      stale.delete(key);
    }
  }

  /**
   * Puts what an earlier execution of the body landed with a child in the place of what this one wrote: that is what the child saw, and it
   * is not written again, even if the code would now write something else. What was refused then is not written either.
   */
  drop({ landed, refused }: Flush): void {
    for (const { scope, keys } of [...landed.map(({ scope, changes }) => ({ scope, keys: changes.map(({ key }) => key) })), ...refused]) {
      const pending = this.#pending.get(scope);
      for (const key of keys) pending?.delete(key);
      if (pending?.size === 0) this.#pending.delete(scope);
    }
    if (this.#base === undefined) return;
    for (const event of landed) this.#restore(event);
    for (const { scope, keys } of refused) for (const key of keys) delete this.#own.get(scope)?.[key];
  }

  /** Shows the body what became of shared values that it wrote, where it still reads its own writes of them. */
  settle({ landed, refused }: Flush): void {
    if (this.#base === undefined) return;
    for (const { scope, keys } of refused) {
      for (const key of keys) if (this.#isDrafted(scope, key)) delete this.#own.get(scope)?.[key];
    }
    for (const event of landed) {
      const own = this.#own.get(event.scope);
      if (own === undefined || event.scopeId === undefined) continue;
      for (const { key, newValue } of this.#run.ledger.whole(event).changes) {
        const isOwn = this.#isDrafted(event.scope, key);
        const later = this.#later(event, key, newValue);
        if (isOwn) own[key] = later;
      }
    }
  }

  /** Whether what the body reads of a key is what it wrote itself and has landed. */
  #isDrafted(scope: string, key: string): boolean {
    const name = `${scope}\n${key}`;
    const value = this.#own.get(scope)?.[key];
    if (this.#isPending(scope, key)) return false;
    return (this.#drafted.has(name) && value === this.#drafted.get(name)) || (this.#restored.has(name) && value === this.#restored.get(name)?.value);
  }

  #isPending(scope: string, key: string): boolean {
    return this.#pending.get(scope)?.has(key) === true;
  }

  /** From now on the body reads of shared scopes what the ledger said after `seq`, and its writes are based on that. */
  refreshed(seq: number): void {
    this.#seen.clear();
    if (this.#base === undefined) return;
    const { ledger } = this.#run;
    const state = seq === ledger.lastSeq ? ledger.state : stateAfter(ledger, seq);
    const scopes = { ...this.#base.scopes };
    for (const scope of this.sharedScopes) {
      scopes[scope] = state.scopes[scope] ?? {};
      const own = this.#own.get(scope) ?? {};
      for (const key of Object.keys(own)) if (!this.#isPending(scope, key)) delete own[key];
    }
    this.#base = { ...this.#base, scopes };
  }

  /** Concurrent code may ask for its children in another order than before: of two recorded writes of a key the later one counts. */
  #restore(event: EventOf<'state_change'>): void {
    const own = this.#own.get(event.scope) ?? {};
    this.#own.set(event.scope, own);
    for (const { key, newValue } of this.#run.ledger.whole(event).changes) own[key] = this.#later(event, key, newValue);
  }

  #later({ scope, seq }: EventOf<'state_change'>, key: string, value: JsonValue | undefined): JsonValue | undefined {
    const name = `${scope}\n${key}`;
    const last = this.#restored.get(name);
    const later = last === undefined || last.seq <= seq ? { seq, value } : last;
    this.#restored.set(name, later);
    return later.value;
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

/** Two writes of one key as one. */
function overwritten(first: Waiting | undefined, { change, again, calls }: Waiting): Waiting {
  if (first === undefined) return { change, again, calls };
  const { key, newValue } = change;
  const { oldValue } = first.change;
  const before = first.again;
  return {
    change: { key, ...(oldValue === undefined ? {} : { oldValue }), ...(newValue === undefined ? {} : { newValue }) },
    again: before === undefined || again === undefined ? undefined : (value) => again(before(value)),
    calls: [...first.calls, ...calls],
  };
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
