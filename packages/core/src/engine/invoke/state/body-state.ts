import type { JsonValue } from '../../../base/json.ts';
import type { Actor, EventDraft, EventOf, StateChange } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import {
  type LedgerState,
  type StateValues,
  visibleValues,
  withChanges,
} from '../../../ledger/folds/state-fold.ts';
import type { BatchExtras } from '../../../ledger/ledger-writer.ts';
import { belongsTo, slotOf } from '../../../ledger/path.ts';
import type { StateAccess, StateUpdate } from '../../../session/scoped-state.ts';
import type { RunContext } from '../../frame/run-context.ts';
import { applied } from './key-writes.ts';
import type { QueuedWrite } from './landing.ts';
import { LandingWrites } from './landing-writes.ts';
import { QueuedFacts } from './queued-facts.ts';
import type { Flush } from './recorded-writes.ts';
import { type StateBase, stateAfter } from './state-base.ts';
import { WriteQueue } from './write-queue.ts';
import {
  isOutsideBranches,
  isWithoutKinds,
  keyName,
  placeOf,
  seqOf,
  WriteRecord,
} from './write-record.ts';

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
  readonly of?: ReadonlySet<QueuedWrite> | undefined;
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
  readonly #queue: WriteQueue;
  readonly #landing: LandingWrites;
  readonly #facts: QueuedFacts;
  /** Values of shared scopes that the code was shown last, by scope and key. */
  readonly #seen = new Map<string, JsonValue | undefined>();

  constructor(run: RunContext, place: BodyStatePlace) {
    this.#run = run;
    this.#place = place;
    const { path, childRoot, by, callId } = place;
    const body = { path, childRoot, by, callId };
    this.#queue = new WriteQueue(childRoot);
    this.#landing = new LandingWrites(run, body, { queue: this.#queue, seen: this.#seen });
    this.#facts = new QueuedFacts(run.ledger, body);
    if (place.base !== undefined) this.#startFrom(place.base);
  }

  #startFrom(base: StateBase): void {
    const { path, childRoot, by, callId, startedAt } = this.#place;
    this.#base = base;
    const record = new WriteRecord(
      this.#run,
      { path, childRoot, by, callId },
      {
        from: base.seq,
        startedAt,
        valueAtStart: (scope, key) => visibleValues(this.#baseState(), scope, path)[key],
      },
    );
    this.#queue.matchWith(record);
  }

  get #record(): WriteRecord | undefined {
    return this.#queue.record;
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
    this.#startFrom(this.#firstWrite ?? { state: ledger.state, seq: ledger.lastSeq });
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
    for (const write of this.#queue.unmatched) {
      if (write.scope !== scope) continue;
      const before = Object.hasOwn(own, write.key) ? own[write.key] : values[write.key];
      own[write.key] = applied(write, before);
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
      this.#queue.add({
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
      });
    }
  }

  /**
   * Matches the new writes with the recorded ones.
   * @throws StateOrderError when the body cannot go on from the recorded writes
   */
  assertInOrder(): void {
    this.#queue.assertInOrder();
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
    const isNothing = this.#queue.isEmpty && this.#facts.isEmpty;
    if (isNothing && this.#record?.hasKeys !== true) return nothingTaken;
    this.#settle('session');
    const taken = this.#queue.take(
      (write) =>
        (of !== undefined && !of.has(write)) ||
        (call !== undefined && write.calls.length > 0 && !write.calls.includes(call)),
    );
    // Facts come before the state changes: `flushedWith` searches for the changes right before the
    // child.
    const facts = this.#facts.take();
    const baseSeq = this.#base?.seq;
    const { drafts, shared } = this.#landing.draftsOf({ taken, isLast, flush, baseSeq });
    return {
      drafts: [...facts, ...drafts],
      extras: shared.length === 0 ? undefined : { shared },
    };
  }

  /**
   * Returns the writes that have been made and not been taken. A delayed child begins with these,
   * whatever others write until then.
   */
  queued(): ReadonlySet<QueuedWrite> {
    return this.#queue.snapshot();
  }

  /**
   * Keeps a fact. It lands with the other writes. A body that runs again does not land a recorded
   * fact again.
   */
  remember(text: string, key: string | undefined): void {
    this.#facts.add(text, key);
  }

  /**
   * Takes back writes of this execution where an older build recorded only the values that landed
   * with a child. Those values count, and are not written again. Writes that were refused then are
   * not made either.
   */
  drop({ landed, refused }: Flush): void {
    this.#queue.seal();
    for (const event of landed) {
      if (!isWithoutKinds(event.changes)) continue;
      this.#run.ledger.whole(event).changes.forEach(({ key, newValue }, index) => {
        this.#queue.withdraw(event.scope, key);
        this.#record?.of(event.scope, key).restore(placeOf(event.seq, index), newValue);
      });
    }
    for (const { scope, keys, changes } of refused) {
      if (changes !== undefined) continue;
      for (const key of keys) {
        this.#queue.withdraw(scope, key);
        this.#record?.of(scope, key).forgetNew();
      }
    }
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
    this.#queue.seal();
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
      if (!writes.rebase(placeOf(seq), state.scopes[scope]?.[key]))
        this.#queue.noteDisorder(scope, key);
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
    this.#queue.seal();
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
        if (!isInOrder) this.#queue.noteDisorder(event.scope, key);
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
