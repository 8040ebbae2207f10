import type { JsonValue } from '../../base/json.ts';
import { sameValue } from '../../base/json.ts';
import { StateOrderError } from '../../ledger/errors.ts';
import {
  type Actor,
  type EventDraft,
  type EventOf,
  foldEvent,
  type StateChange,
} from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import {
  emptyLedgerState,
  type LedgerState,
  type StateValues,
  stateFold,
  visibleValues,
  withChanges,
} from '../../ledger/folds/state-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { PendingWrite } from '../../ledger/pending-write.ts';
import { composedLate } from '../../ledger/writer/late-changes.ts';
import type { StateAccess, StateUpdate } from '../../session/scoped-state.ts';
import { InvalidKeyError } from '../frame/errors.ts';
import type { RunContext } from '../frame/run-context.ts';
import { applied } from './key-writes.ts';
import { changeOf, type Given, type Landing, madeOf, namesOf, type Waiting } from './landing.ts';
import {
  isOutsideBranches,
  isWithoutKinds,
  keyName,
  placeOf,
  seqOf,
  slotOf,
  WriteRecord,
} from './write-record.ts';

/** Returns the state of a ledger after its first `seq` events. */
export function stateAfter(ledger: Ledger, seq: number): LedgerState {
  let state = emptyLedgerState;
  for (let i = 0; i < seq; i++) {
    const event = ledger.events[i] as Ledger['events'][number];
    state = foldEvent(
      stateFold,
      state,
      event.type === 'state_change' ? ledger.whole(event) : event,
    );
  }
  return state;
}

/** State that a body starts from. */
export interface StateBase {
  readonly state: LedgerState;
  /** `seq` of the last event that the state includes. */
  readonly seq: number;
}

/** Recorded fate of the writes that were to land with the start of a child or effect. */
export interface Flush {
  /** Writes of the first version of `state_change`. */
  readonly landed: readonly EventOf<'state_change'>[];
  /** Shared writes that the store refused, by scope. */
  readonly refused: readonly RefusedWrites[];
}

export interface RefusedWrites {
  readonly scope: string;
  readonly scopeId: string;
  readonly keys: readonly string[];
  /** Refused changes; missing in decisions of older builds. */
  readonly changes?: readonly StateChange[];
}

/** Place of a body in the ledger, and where its state begins. */
export interface BodyStatePlace {
  readonly path: string;
  readonly childRoot: string;
  readonly by: Actor;
  /** Call id, for the body of a tool. */
  readonly callId?: string | undefined;
  /** `seq` of the last event before this execution of the body. */
  readonly startedAt: number;
  /** State that the body starts from. Without it the body reads the present state of the ledger. */
  readonly base?: StateBase | undefined;
}

interface TakeOptions {
  readonly call?: string;
  readonly isLast?: boolean;
  readonly of?: ReadonlySet<Waiting> | undefined;
}

type Taken = { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined };

/**
 * State of a body: its starting state, its own writes, and the changes of its children. A child's
 * changes are added when its result is returned. Writes stay here until they land with a child's
 * start or the body's end. Each is an operation with an identity of its own (`KeyWrites`). So a
 * body that runs again repeats the recorded ones and lands only new ones.
 */
export class BodyState implements StateAccess {
  readonly recordsUpdates = true;
  readonly temp: Record<string, unknown> = {};
  readonly #run: RunContext;
  readonly #place: BodyStatePlace;
  /** Starting state; `undefined`: the body reads the present state of the ledger. */
  #base: StateBase | undefined;
  /** State at the first write, for a body that reads the ledger as it grows. */
  #firstWrite: StateBase | undefined;
  /** Record of the body's writes; `undefined` as long as the body reads the ledger as it grows. */
  #record: WriteRecord | undefined;
  /** Writes of the present synchronous stretch. */
  #fresh: Waiting[] = [];
  #pending: Waiting[] = [];
  #disorder: StateOrderError | undefined;
  /** Values of shared scopes that the code was shown last, by scope and key. */
  readonly #seen = new Map<string, JsonValue | undefined>();
  /** Facts to be remembered that have not landed yet, by their key or text. */
  #facts = new Map<string, { readonly text: string; readonly key: string | undefined }>();

  constructor(run: RunContext, place: BodyStatePlace) {
    this.#run = run;
    this.#place = place;
    if (place.base !== undefined) this.#startFrom(place.base);
  }

  #startFrom(base: StateBase): void {
    const { path, childRoot, by, callId, startedAt } = this.#place;
    this.#base = base;
    this.#record = new WriteRecord(
      this.#run,
      { path, childRoot, by, callId },
      {
        from: base.seq,
        startedAt,
        valueAtStart: (scope, key) => visibleValues(this.#baseState(), scope, path)[key],
      },
    );
  }

  #baseState(): LedgerState {
    return this.#base?.state ?? this.#run.ledger.state;
  }

  /**
   * Fixes the starting state before the body of a tool begins something that is recorded. From then
   * on the tool is continued by running it again, and must read the same. It reads the state as of
   * its first write, its own writes, and the changes of its children.
   */
  settleBase(): void {
    if (this.#base !== undefined) return;
    const { ledger } = this.#run;
    const waiting = this.#pending.splice(0);
    this.#startFrom(this.#firstWrite ?? { state: ledger.state, seq: ledger.lastSeq });
    this.#fresh = [...waiting, ...this.#fresh];
  }

  get sharedScopes(): readonly string[] {
    return this.#run.session.shared.names;
  }

  /**
   * Returns the values of a scope. Remembers those of a shared scope when the code reads the ledger
   * as it grows: its writes are based on them.
   */
  read(scope: string, key?: string): StateValues {
    const values = this.peek(scope);
    if (this.#base !== undefined || scope === 'session') return values;
    for (const name of key === undefined ? Object.keys(values) : [key])
      this.#seen.set(keyName(scope, name), values[name]);
    return values;
  }

  peek(scope: string): StateValues {
    const values = visibleValues(this.#baseState(), scope, this.#place.path);
    const own: Record<string, JsonValue | undefined> = {};
    let isChanged = false;
    for (const [key, writes] of this.#record?.keysOf(scope) ?? []) {
      own[key] = writes.value;
      isChanged = true;
    }
    for (const waiting of this.#record === undefined
      ? [...this.#pending, ...this.#fresh]
      : this.#fresh) {
      if (waiting.scope !== scope) continue;
      const before = Object.hasOwn(own, waiting.key) ? own[waiting.key] : values[waiting.key];
      own[waiting.key] = applied(waiting, before);
      isChanged = true;
    }
    return isChanged ? withChanges(values, own) : values;
  }

  /**
   * Adds writes to a scope.
   * @param call the tool call whose hooks write it
   * @throws InvalidKeyError when an update has the id of another one
   */
  write(scope: string, changes: readonly StateChange[], update?: StateUpdate, call?: string): void {
    const isShared = scope !== 'session';
    this.#firstWrite ??= { state: this.#run.ledger.state, seq: this.#run.ledger.lastSeq };
    for (const { key, oldValue, newValue } of changes) {
      const name = keyName(scope, key);
      const waiting: Waiting = {
        scope,
        key,
        kind: update === undefined ? 'set' : 'update',
        value: newValue,
        apply: update?.apply,
        id: update?.id,
        source: update?.source,
        saw: isShared && this.#seen.has(name) ? this.#seen.get(name) : oldValue,
        after: this.#record?.of(scope, key).lastForeign ?? 0,
        calls: call === undefined ? [] : [call],
      };
      this.#assertFreeId(waiting);
      this.#add(waiting);
    }
  }

  /**
   * Adds a write. Two plain values that are written to one key in one synchronous stretch are one
   * write.
   */
  #add(waiting: Waiting): void {
    const { scope, key, kind, calls } = waiting;
    if (this.#fresh.length === 0) queueMicrotask(() => this.#seal());
    const at =
      kind === 'set'
        ? this.#fresh.findLastIndex((other) => other.scope === scope && other.key === key)
        : -1;
    const before = this.#fresh[at];
    if (before?.kind !== 'set') this.#fresh.push(waiting);
    else this.#fresh[at] = { ...waiting, saw: before.saw, calls: [...before.calls, ...calls] };
  }

  #assertFreeId({ scope, key, id }: Waiting): void {
    if (id === undefined) return;
    const isUsed =
      this.#record?.of(scope, key).hasId(id) === true ||
      [...this.#pending, ...this.#fresh].some(
        (other) => other.id === id && other.scope === scope && other.key === key,
      );
    if (isUsed)
      throw new InvalidKeyError({
        key: id,
        reason: `it names another update of "${key}" of the same body already`,
      });
  }

  /** Ends a synchronous stretch: its writes are matched with the recorded ones. */
  #seal(): void {
    if (this.#fresh.length === 0) return;
    const fresh = this.#fresh.splice(0);
    if (this.#record === undefined) return void this.#pending.push(...fresh);
    this.#record.update();
    for (const waiting of fresh) {
      const placed = this.#record.of(waiting.scope, waiting.key).write(waiting);
      if (placed === 'out_of_order') this.#disordered(waiting.scope, waiting.key);
      else if (placed === 'new') this.#pending.push(waiting);
    }
  }

  #disordered(scope: string, key: string): void {
    this.#disorder ??= new StateOrderError({
      path: this.#place.childRoot,
      scope,
      key,
      reason: 'order',
    });
  }

  /**
   * Matches the new writes with the recorded ones.
   * @throws StateOrderError when the body cannot go on from the recorded writes
   */
  assertInOrder(): void {
    this.#seal();
    if (this.#disorder !== undefined) throw this.#disorder;
  }

  /**
   * Called when the body asks for a recorded child or effect: its earlier writes have landed by
   * then.
   * @throws StateOrderError
   */
  reached(): void {
    this.assertInOrder();
    this.#settle('session');
  }

  #settle(which: 'session' | 'shared', isDue: (seq: number) => boolean = () => true): void {
    if (this.#record === undefined) return;
    this.#record.update();
    for (const { scope, writes } of this.#record.all()) {
      if ((scope === 'session') === (which === 'session'))
        writes.settle(({ place }) => isDue(seqOf(place)));
    }
  }

  /**
   * Returns the writes since the last time, as events. `flush` names the child or effect that they
   * land with.
   * @param call leaves the writes that only hooks of other tool calls made: those land with these
   * calls
   * @param isLast whether the body ends with them
   * @param of leaves the writes that are not among these, as they are newer
   * @throws StateOrderError when they cannot land on the recorded writes
   */
  take(flush?: string, { call, isLast = false, of }: TakeOptions = {}): Taken {
    this.assertInOrder();
    const isNothing = this.#pending.length === 0 && this.#facts.size === 0;
    if (isNothing && this.#record?.hasKeys !== true) return nothingTaken;
    this.#settle('session');
    const isLeft = (waiting: Waiting): boolean =>
      (of !== undefined && !of.has(waiting)) ||
      (call !== undefined && waiting.calls.length > 0 && !waiting.calls.includes(call));
    const taken = this.#pending.filter((waiting) => !isLeft(waiting));
    this.#pending = this.#pending.filter(isLeft);
    // Facts come before the state changes: `flushedWith` searches for the changes right before the
    // child.
    const drafts: EventDraft[] = this.#takeFacts();
    const shared: PendingWrite[] = [];
    for (const scope of this.#scopesOf(taken)) {
      const waiting = taken.filter((candidate) => candidate.scope === scope);
      const landing = this.#landing(scope, waiting, isLast);
      if (landing.length > 0)
        drafts.push(this.#draftOf(scope, { waiting, landing, isLast, flush }, shared));
    }
    return { drafts, extras: shared.length === 0 ? undefined : { shared } };
  }

  /**
   * Returns the writes that have been made and not been taken. A held back child begins with these,
   * whatever others write until then.
   */
  waiting(): ReadonlySet<Waiting> {
    this.#seal();
    return new Set(this.#pending);
  }

  /** Returns the scopes in the order of their writes, then those that may need a correction. */
  #scopesOf(taken: readonly Waiting[]): Set<string> {
    return new Set([...taken.map(({ scope }) => scope), ...(this.#record?.scopes ?? [])]);
  }

  /**
   * Returns the changes of a scope to record now. They are the writes in order, applied to the
   * present values, then the corrections.
   */
  #landing(
    scope: string,
    taken: readonly Waiting[],
    isLast: boolean,
    before?: readonly Landing[],
  ): readonly Landing[] {
    const list: Landing[] = [];
    const values = new Map<string, JsonValue | undefined>();
    const valueBefore = (key: string): JsonValue | undefined =>
      values.has(key) ? values.get(key) : this.#valueNow(scope, key);
    taken.forEach((waiting, i) => {
      const { key, kind, apply } = waiting;
      const latest = valueBefore(key);
      const isStale = scope !== 'session' && !sameValue(waiting.saw, latest);
      // A plain value that is based on another one is refused. Its `oldValue` is the one that the
      // code knew.
      const oldValue = isStale && kind === 'set' ? waiting.saw : latest;
      const made =
        kind === 'set' || apply === undefined
          ? { value: waiting.value }
          : madeOf(waiting, oldValue, before?.[i] ?? scope !== 'session');
      const newValue = made === undefined ? waiting.value : made.value;
      values.set(key, newValue);
      // After writing a key the body no longer depends on what it read.
      this.#seen.delete(keyName(scope, key));
      list.push({
        ...waiting,
        oldValue,
        newValue,
        isStale: made === undefined || (isStale && kind === 'set'),
      });
    });
    for (const [key, writes] of this.#record?.keysOf(scope) ?? []) {
      // A write that was left, or made since, lands later, and then records the final value.
      if (this.#isUnlanded(scope, key)) continue;
      const oldValue = valueBefore(key);
      const correction = writes.correction(oldValue, isLast);
      if (correction === undefined) continue;
      const { value } = correction;
      list.push({
        key,
        kind: 'set',
        value,
        oldValue,
        newValue: value,
        isStale: false,
        after: writes.lastForeign,
      });
    }
    return list;
  }

  #isUnlanded(scope: string, key: string): boolean {
    return [...this.#pending, ...this.#fresh].some(
      (waiting) => waiting.scope === scope && waiting.key === key,
    );
  }

  #valueNow(scope: string, key: string): JsonValue | undefined {
    const value = visibleValues(this.#run.ledger.state, scope, this.#place.path)[key];
    return scope === 'session' ? value : this.#run.session.shared.latest(scope, key, value);
  }

  #draftOf(
    scope: string,
    { waiting, landing, isLast, flush }: Given,
    shared: PendingWrite[],
  ): EventDraft {
    const { path, by, callId } = this.#place;
    const scopeId = this.#run.session.shared.scopeIds[scope];
    const sent = this.#record?.sent(namesOf(scope, landing));
    let changes: readonly StateChange[] = landing.map(changeOf);
    if (scope === 'session') {
      changes = composedLate(changes, () => {
        this.#record?.update();
        const now = this.#landing(scope, waiting, isLast, landing);
        sent?.replace(namesOf(scope, now));
        return now.map(changeOf);
      });
    }
    if (scopeId !== undefined) {
      const { session } = this.#run;
      const stale = new Set(landing.flatMap(({ isStale }, i) => (isStale ? [i] : [])));
      shared.push(
        ...session.shared.writes({
          scope,
          changes,
          again: landing.map(({ apply }) => apply),
          stale,
        }),
      );
    }
    return {
      type: 'state_change',
      by,
      invocationId: path,
      scope,
      ...(scopeId === undefined ? {} : { scopeId }),
      source: 'mutation',
      changes,
      ...(flush === undefined ? {} : { flush }),
      ...(callId === undefined ? {} : { callId }),
      ...(callId === undefined || flush === undefined || this.#base === undefined
        ? {}
        : { base: this.#base.seq }),
    };
  }

  /**
   * Keeps a fact. It lands with the other writes. A body that runs again does not land a recorded
   * fact again.
   */
  remember(text: string, key: string | undefined): void {
    this.#facts.set(key === undefined ? `text ${text}` : `key ${key}`, { text, key });
  }

  #takeFacts(): EventDraft[] {
    if (this.#facts.size === 0) return [];
    const { ledger } = this.#run;
    const { path, by } = this.#place;
    const recorded = ledger.invocations.byPath.get(path)?.events ?? [];
    const drafts: EventDraft[] = [];
    for (const { text, key } of this.#facts.values()) {
      const last = recorded.findLast(
        (event) =>
          event.type === 'memory' &&
          event.key === key &&
          (key !== undefined || ledger.resolve(event.text) === text),
      );
      if (last?.type === 'memory' && ledger.resolve(last.text) === text) continue;
      drafts.push({
        type: 'memory',
        by,
        invocationId: path,
        text,
        ...(key === undefined ? {} : { key }),
      });
    }
    this.#facts = new Map();
    return drafts;
  }

  /**
   * Takes back writes of this execution where an older build recorded only the values that landed
   * with a child. Those values count, and are not written again. Writes that were refused then are
   * not made either.
   */
  drop({ landed, refused }: Flush): void {
    this.#seal();
    for (const event of landed) {
      if (!isWithoutKinds(event.changes)) continue;
      this.#run.ledger.whole(event).changes.forEach(({ key, newValue }, index) => {
        this.#withdraw(event.scope, key);
        this.#record?.of(event.scope, key).restore(placeOf(event.seq, index), newValue);
      });
    }
    for (const { scope, keys, changes } of refused) {
      if (changes !== undefined) continue;
      for (const key of keys) {
        this.#withdraw(scope, key);
        this.#record?.of(scope, key).forgetNew();
      }
    }
  }

  #withdraw(scope: string, key: string): void {
    this.#pending = this.#pending.filter(
      (waiting) => waiting.scope !== scope || waiting.key !== key,
    );
  }

  /**
   * Shows the body the outcome of the shared writes up to `seq`, where it still reads its own
   * values.
   */
  settle(seq: number): void {
    this.#settle('shared', (landedAt) => landedAt <= seq);
  }

  /** Makes the body read the shared scopes as of `seq` from now on, and base its writes on that. */
  refreshed(seq: number): void {
    this.#seen.clear();
    this.#seal();
    const base = this.#base;
    if (base === undefined) return;
    const { ledger } = this.#run;
    const state = seq === ledger.lastSeq ? ledger.state : stateAfter(ledger, seq);
    const scopes = { ...base.state.scopes };
    for (const scope of this.sharedScopes) scopes[scope] = state.scopes[scope] ?? {};
    this.#base = { state: { ...base.state, scopes }, seq: base.seq };
    const record = this.#record;
    if (record === undefined) return;
    record.update();
    for (const { scope, key, writes } of record.all()) {
      if (scope === 'session') continue;
      if (!writes.rebase(placeOf(seq), state.scopes[scope]?.[key])) this.#disordered(scope, key);
    }
  }

  /**
   * Adds the changes of a child that are visible outside it: those of shared scopes, and of the
   * session's state.
   * @throws StateOrderError
   */
  adopt(child: InvocationRecord): void {
    const record = this.#record;
    if (record === undefined) return;
    this.#seal();
    record.update();
    const { events, invocations } = this.#run.ledger;
    const slot = slotOf(child.path);
    const first = invocations.byPath.get(slot) ?? child;
    for (let seq = first.start.seq; seq <= (child.end?.seq ?? events.length); seq++) {
      const event = events[seq - 1];
      if (
        event?.type !== 'state_change' ||
        !belongsTo(event.invocationId, slot) ||
        !this.#isOpenTo(event, slot)
      )
        continue;
      this.#run.ledger.whole(event).changes.forEach(({ key, newValue }, index) => {
        const isInOrder = record
          .of(event.scope, key)
          .shown({ place: placeOf(seq, index), value: newValue });
        if (!isInOrder) this.#disordered(event.scope, key);
      });
    }
    this.assertInOrder();
  }

  /**
   * True when a change is visible outside the child. Branches keep their writes to the session's
   * state until their join. Shared writes are visible to everything at once.
   */
  #isOpenTo(event: EventOf<'state_change'>, slot: string): boolean {
    return (
      event.scope !== 'session' ||
      isOutsideBranches(event, slot, this.#run.ledger.invocations.byPath)
    );
  }

  /** Returns the keys of recorded writes that the body, which has ended, did not make again. */
  leftOver(): readonly { readonly scope: string; readonly key: string }[] {
    this.assertInOrder();
    const found: { scope: string; key: string }[] = [];
    for (const { scope, key, writes } of this.#record?.all() ?? []) {
      if (writes.isLeftOver) found.push({ scope, key });
    }
    return found;
  }
}

export const nothingTaken: Taken = Object.freeze({ drafts: [], extras: undefined });
