import type { JsonValue } from '../../../base/json.ts';
import { type DecisionOf, isDecision } from '../../../ledger/decisions/decision.ts';
import type { Actor, Event, EventOf, StateChange } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { belongsTo, slotOf } from '../../../ledger/path.ts';
import type { RunContext } from '../../frame/run-context.ts';
import { type Entry, KeyWrites } from './key-writes.ts';

/** Places for each event: more than the changes that one event has. */
const placesPerEvent = 1_000_000;

/**
 * Returns the place of a change among all changes of a ledger. Without `index` it is that of the
 * whole event, behind its changes.
 */
export function placeOf(seq: number, index = placesPerEvent - 1): number {
  return seq * placesPerEvent + index;
}

/** Returns the `seq` of the event that has a place. */
export function seqOf(place: number): number {
  return Math.floor(place / placesPerEvent);
}

/** Returns a name for a key of a scope. */
export function keyName(scope: string, key: string): string {
  return `${scope}\n${key}`;
}

/** Place of a body in the ledger. */
export interface BodyOfWrites {
  readonly path: string;
  /** Path below which its children lie. */
  readonly childRoot: string;
  readonly by: Actor;
  /** Call id, for the body of a tool, since other calls write under the same path. */
  readonly callId: string | undefined;
}

/** Write that was handed out to be appended: one of this execution (`key`), or a correction. */
export interface SentWrite {
  readonly name: string;
  readonly isCorrection: boolean;
}

/**
 * Finds in the ledger the writes of a body, and the keys that others have written since the body
 * began. It goes through the events once, in order, and informs the `KeyWrites` of each key.
 */
export class WriteRecord {
  readonly #run: RunContext;
  readonly #body: BodyOfWrites;
  /** Writes by scope and key. */
  readonly #scopes = new Map<string, Map<string, KeyWrites>>();
  /** Returns the value of a key at the body's start. */
  readonly #valueAtStart: (scope: string, key: string) => JsonValue | undefined;
  readonly #startedAt: number;
  /**
   * Writes that were handed out and are not in the ledger yet: one entry for each event, in order.
   */
  #sent: { writes: readonly SentWrite[] }[] = [];
  #read: number;

  /**
   * Reads the recorded writes.
   * @param at.from `seq` of the last event before the body began
   * @param at.startedAt `seq` of the last event before this execution of the body
   */
  constructor(
    run: RunContext,
    body: BodyOfWrites,
    at: {
      readonly from: number;
      readonly startedAt: number;
      readonly valueAtStart: (scope: string, key: string) => JsonValue | undefined;
    },
  ) {
    this.#run = run;
    this.#body = body;
    this.#read = at.from;
    this.#startedAt = at.startedAt;
    this.#valueAtStart = at.valueAtStart;
    this.update();
  }

  get scopes(): Iterable<string> {
    return this.#scopes.keys();
  }

  get hasKeys(): boolean {
    return this.#scopes.size > 0;
  }

  keysOf(scope: string): ReadonlyMap<string, KeyWrites> | undefined {
    return this.#scopes.get(scope);
  }

  *all(): Generator<{ readonly scope: string; readonly key: string; readonly writes: KeyWrites }> {
    for (const [scope, keys] of this.#scopes)
      for (const [key, writes] of keys) yield { scope, key, writes };
  }

  of(scope: string, key: string): KeyWrites {
    const keys = this.#scopes.get(scope) ?? new Map<string, KeyWrites>();
    this.#scopes.set(scope, keys);
    const writes =
      keys.get(key) ??
      new KeyWrites({ value: this.#valueAtStart(scope, key), isShared: scope !== 'session' });
    keys.set(key, writes);
    return writes;
  }

  /**
   * Notes the writes of one event that is about to be appended.
   * @returns a function that replaces them, if they are made anew
   */
  sent(writes: readonly SentWrite[]): { replace(writes: readonly SentWrite[]): void } {
    const sent = { writes };
    this.#sent.push(sent);
    return {
      replace: (anew) => {
        sent.writes = anew;
      },
    };
  }

  /** Reads the events appended since the last time. */
  update(): void {
    const { ledger } = this.#run;
    const { events } = ledger;
    for (; this.#read < events.length; this.#read++) {
      const event = events[this.#read] as Event;
      if (event.type === 'state_change') this.#readChange(event);
      else if (isDecision(event, 'shared_state', 'refuse_write') && this.#isOwn(event))
        this.#readOwn(event.seq, refusedChanges(ledger.whole(event)));
    }
  }

  #isOwn(event: EventOf<'state_change'> | EventOf<'decision'>): boolean {
    const { path, by, callId } = this.#body;
    if (event.invocationId !== path) return false;
    if (event.type === 'decision') return event.data?.['callId'] === callId;
    return (
      event.by === by &&
      event.source === 'mutation' &&
      (event.callId === callId || isWithoutKinds(event.changes))
    );
  }

  #readChange(event: EventOf<'state_change'>): void {
    if (!this.#isOwn(event)) this.#readForeign(event);
    // A write of the first event version counts where its child is asked for (`BodyState.drop`).
    else if (!isWithoutKinds(event.changes)) this.#readOwn(event.seq, event);
  }

  #readOwn(
    seq: number,
    { scope, changes }: { readonly scope: string; readonly changes: readonly StateChange[] },
  ): void {
    const entries = changes.map((change, index) => ({
      key: change.key,
      entry: this.#entryOf(seq, index, change),
    }));
    if (seq <= this.#startedAt) {
      for (const { key, entry } of entries) this.of(scope, key).recorded(entry);
      return;
    }
    const sent = this.#takeSent(entries.map(({ key }) => keyName(scope, key)));
    entries.forEach(({ key, entry }, i) => {
      const writes = this.of(scope, key);
      if (sent?.[i]?.isCorrection === true) writes.resetAt(entry);
      else writes.landedAt(entry);
    });
  }

  /**
   * Returns the writes that were handed out for this event; earlier entries were never appended.
   */
  #takeSent(names: readonly string[]): readonly SentWrite[] | undefined {
    const at = this.#sent.findIndex(
      ({ writes }) =>
        writes.length === names.length && writes.every(({ name }, i) => name === names[i]),
    );
    if (at < 0) return undefined;
    const found = this.#sent[at]?.writes;
    this.#sent = this.#sent.slice(at + 1);
    return found;
  }

  #entryOf(seq: number, index: number, { op = 'set', id, source, after = 0 }: StateChange): Entry {
    const { ledger } = this.#run;
    return {
      place: placeOf(seq, index),
      kind: op,
      id,
      source,
      after,
      written: () => {
        const event = ledger.events[seq - 1];
        const refused = isDecision(event, 'shared_state', 'refuse_write');
        const { changes } = refused
          ? refusedChanges(ledger.whole(event))
          : ledger.whole(event as EventOf<'state_change'>);
        const { oldValue, newValue } = changes[index] ?? {};
        return { oldValue, newValue, refused };
      },
    };
  }

  #readForeign(event: EventOf<'state_change'>): void {
    if (event.scope === 'session' && !this.#isVisible(event.invocationId)) return;
    const isRecorded = event.seq <= this.#startedAt && this.#isOfCalledChild(event);
    event.changes.forEach(({ key }, index) => {
      this.of(event.scope, key).othersWrote(isRecorded ? placeOf(event.seq, index) : undefined);
    });
  }

  /**
   * True if the body sees the writes of an invocation to the session's state. A branch keeps its
   * writes until the join.
   */
  #isVisible(path: string | undefined): boolean {
    const { byPath } = this.#run.ledger.invocations;
    for (
      let record = byPath.get(path ?? '');
      record !== undefined;
      record = byPath.get(record.parent ?? '')
    ) {
      if (record.branch) return belongsTo(this.#body.path, record.path);
    }
    return true;
  }

  /**
   * True if a called child of the body wrote it. Writes of spawned children are shown where the
   * body waits for them.
   */
  #isOfCalledChild({ invocationId }: EventOf<'state_change'>): boolean {
    const root = `${this.#body.childRoot}/`;
    if (invocationId?.startsWith(root) !== true) return false;
    const end = invocationId.indexOf('/', root.length);
    const slot = slotOf(end < 0 ? invocationId : invocationId.slice(0, end));
    return this.#run.ledger.invocations.byPath.get(slot)?.mode === 'call';
  }
}

/** True if changes are of version 1 of the event, which has no `op`. */
export function isWithoutKinds(changes: readonly StateChange[]): boolean {
  return changes.every(({ op }) => op === undefined);
}

/**
 * Returns the changes of a write that the store refused. Decisions of older builds do not have
 * them.
 */
function refusedChanges({ data }: DecisionOf<'shared_state', 'refuse_write'>): {
  readonly scope: string;
  readonly changes: readonly StateChange[];
} {
  return { scope: String(data?.scope), changes: data?.changes ?? [] };
}

/**
 * True if an event lies in `slot` and not inside a branch there. Writes of a branch count only from
 * the join on.
 */
export function isOutsideBranches(
  event: EventOf<'state_change'>,
  slot: string,
  byPath: ReadonlyMap<string, InvocationRecord>,
): boolean {
  const path = event.invocationId;
  for (
    let record = byPath.get(path ?? '');
    record !== undefined;
    record = byPath.get(record.parent ?? '')
  ) {
    if (slotOf(record.path) === slot) return true;
    if (record.branch) return false;
  }
  return true;
}
