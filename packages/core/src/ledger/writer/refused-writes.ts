import { defined } from '../../base/defined.ts';
import type { AdjutantError } from '../../base/error.ts';
import { deepFreeze } from '../../base/json.ts';
import { decision } from '../decisions/decision.ts';
import { type Event, type EventOf, eventVersions, type StateChange } from '../event.ts';
import { noVersion, type PendingWrite } from '../pending-write.ts';
import type { SharedValue, SharedWrite } from '../port.ts';

/** The store's refusal of a batch, with the stored values of its scope now. */
export interface SharedConflict {
  readonly error: AdjutantError;
  readonly stored: Readonly<Record<string, SharedValue>>;
  /** Sequence number up to which writes are not repeated: they were tried often enough. */
  readonly refuseUpTo: number;
}

/** Replacements of drafts and of their writes; `undefined` for a refused write. */
export interface Recomposition {
  readonly events: ReadonlyMap<Event, Event>;
  readonly writes: ReadonlyMap<PendingWrite, PendingWrite | undefined>;
}

type StateChangeEvent = EventOf<'state_change'>;

/**
 * Makes all drafts on their way anew, on top of the stored values. A write that can be repeated is
 * repeated. The change of any other becomes a decision. The result of the tool that made it stays,
 * with the conflict in its metadata. A body that was to end with it ends as an error.
 * @param events all drafts, in their order
 * @param writes their shared writes, in the same order
 */
export function recompose(
  events: readonly Event[],
  writes: readonly PendingWrite[],
  conflict: SharedConflict,
): Recomposition {
  const { scope, scopeId } = conflict.error.data as { scope: string; scopeId: string };
  const replaced = new Map<Event, Event>();
  const replacedWrites = new Map<PendingWrite, PendingWrite | undefined>();
  const chain = new WriteChain(conflict.stored);
  const authors = new Map<string, readonly string[]>();
  const writesOf = pair(events, writes);
  for (const event of events) {
    const own =
      event.type === 'state_change' && event.scope === scope && event.scopeId === scopeId
        ? writesOf.get(event)
        : undefined;
    if (event.type === 'state_change' && own !== undefined) {
      const remade = chain.add(event, own, event.seq > conflict.refuseUpTo);
      if (remade === 'fits') continue;
      if (remade !== 'refused') {
        replaced.set(event, remade.event);
        own.forEach((write, i) => void replacedWrites.set(write, remade.writes[i]));
        continue;
      }
      const keys = event.changes.map(({ key }) => key);
      for (const write of own) replacedWrites.set(write, undefined);
      replaced.set(event, deepFreeze(decisionFor(event, conflict.error)));
      // A change that landed with the start of a child is reported by the call of that child.
      if (event.flush === undefined) authors.set(`${event.invocationId} ${event.by}`, keys);
    } else if (event.type === 'tool_result') {
      const keys = take(authors, `${event.invocationId} ${event.by}`);
      if (keys === undefined) continue;
      const metadata = { ...event.result.metadata, stateConflict: { scope, scopeId, keys } };
      replaced.set(event, deepFreeze({ ...event, result: { ...event.result, metadata } }));
    } else if (
      event.type === 'invocation_end' &&
      take(authors, `${event.invocationId} runtime`) !== undefined
    ) {
      const { output: _output, next: _next, ...rest } = event;
      replaced.set(
        event,
        deepFreeze({ ...rest, status: 'error' as const, error: conflict.error.toJSON() }),
      );
    }
  }
  return { events: replaced, writes: replacedWrites };
}

function take(map: Map<string, readonly string[]>, key: string): readonly string[] | undefined {
  const found = map.get(key);
  map.delete(key);
  return found;
}

/**
 * Pairs events with their writes: both lists have the same order, but restored events have none.
 */
function pair(
  events: readonly Event[],
  writes: readonly PendingWrite[],
): Map<Event, PendingWrite[]> {
  const pairs = new Map<Event, PendingWrite[]>();
  let next = 0;
  for (const event of events) {
    if (event.type !== 'state_change' || event.source !== 'mutation' || event.scopeId === undefined)
      continue;
    const own: PendingWrite[] = [];
    for (const { key } of event.changes) {
      const pending = writes[next];
      const { write } = pending ?? {};
      if (
        pending === undefined ||
        write?.key !== key ||
        write.scope !== event.scope ||
        write.scopeId !== event.scopeId
      )
        break;
      own.push(pending);
      next++;
    }
    if (own.length > 0) pairs.set(event, own);
  }
  return pairs;
}

interface Remade {
  readonly event: StateChangeEvent;
  readonly writes: readonly PendingWrite[];
}

/** Values of the keys of one scope after the writes so far. */
class WriteChain {
  readonly #now = new Map<string, SharedValue | undefined>();
  readonly #stored: Readonly<Record<string, SharedValue>>;
  /**
   * Keys with a draft that was based on a value which did not land. The writes after it are based
   * on that too, whatever versions they name.
   */
  readonly #overtaken = new Set<string>();

  constructor(stored: Readonly<Record<string, SharedValue>>) {
    this.#stored = stored;
  }

  #at(key: string): SharedValue | undefined {
    if (this.#now.has(key)) return this.#now.get(key);
    return Object.hasOwn(this.#stored, key) ? this.#stored[key] : undefined;
  }

  /** Adds the changes of one event, which land together or not at all. */
  add(
    event: StateChangeEvent,
    writes: readonly PendingWrite[],
    mayRepeat: boolean,
  ): 'fits' | 'refused' | Remade {
    const chain = new EventChain(this.#overtaken, (key) => this.#at(key));
    const fits = event.changes
      .slice(0, writes.length)
      .every((change, i) => chain.add(change, writes[i] as PendingWrite, mayRepeat));
    if (!fits) {
      for (const { write, replaced } of writes) {
        this.#overtaken.add(write.key);
        replaced(undefined);
      }
      return 'refused';
    }
    for (const [key, value] of chain.now) this.#now.set(key, value);
    for (const { write } of chain.stale) this.#overtaken.add(write.key);
    // In the order of the writes: after the last call, a session knows the key as it is after all
    // of its writes.
    for (const { write, replaced } of chain.stale)
      replaced({
        version: this.#at(write.key)?.version ?? noVersion,
        exists: this.#at(write.key)?.value !== undefined,
      });
    if (chain.stale.length === 0) return 'fits';
    return { event: deepFreeze({ ...event, changes: chain.changes }), writes: chain.writes };
  }
}

/** The changes of one event, each on top of the one before. */
class EventChain {
  readonly now = new Map<string, SharedValue | undefined>();
  readonly changes: StateChange[] = [];
  readonly writes: PendingWrite[] = [];
  /** Writes that were based on another value than the present one. */
  readonly stale: PendingWrite[] = [];
  readonly #overtaken: ReadonlySet<string>;
  readonly #before: (key: string) => SharedValue | undefined;

  constructor(overtaken: ReadonlySet<string>, before: (key: string) => SharedValue | undefined) {
    this.#overtaken = overtaken;
    this.#before = before;
  }

  /** Adds a change. Returns true when it may land. */
  add(change: StateChange, pending: PendingWrite, mayRepeat: boolean): boolean {
    const { key } = change;
    const before = this.now.has(key) ? this.now.get(key) : this.#before(key);
    const isStale =
      this.#overtaken.has(key) ||
      this.stale.some(({ write }) => write.key === key) ||
      baseOf(before) !== pending.write.baseVersion;
    const made = isStale ? this.#remade(pending, before, mayRepeat) : pending;
    if (made === undefined) return false;
    if (isStale) this.stale.push(pending);
    this.writes.push(made);
    this.changes.push(isStale ? changeOf(change, made.write, before) : change);
    this.now.set(key, { value: made.write.value, version: (before?.version ?? 0) + 1 });
    return true;
  }

  #remade(
    pending: PendingWrite,
    before: SharedValue | undefined,
    mayRepeat: boolean,
  ): PendingWrite | undefined {
    const value = mayRepeat ? changed(pending, before) : undefined;
    return value === undefined
      ? undefined
      : {
          ...pending,
          write: { ...pending.write, value: value.value, baseVersion: baseOf(before) },
        };
  }
}

/** The version that a write must name to be accepted. */
function baseOf(stored: SharedValue | undefined): number {
  return stored?.value === undefined ? 0 : stored.version;
}

/** Makes a value anew; `undefined` when that is not possible. */
function changed(
  { again }: PendingWrite,
  before: SharedValue | undefined,
): { readonly value: SharedValue['value'] } | undefined {
  if (again === undefined) return undefined;
  try {
    return { value: again(before?.value) };
  } catch {
    // A value that cannot be made from the present one counts as a write that came too late.
    return undefined;
  }
}

/** Makes the same change on top of another value. */
function changeOf(
  { oldValue: _old, newValue: _new, ...same }: StateChange,
  { value }: SharedWrite,
  before: SharedValue | undefined,
): StateChange {
  return {
    ...same,
    ...defined({ oldValue: before?.value, newValue: value }),
  };
}

function decisionFor(event: StateChangeEvent, conflict: AdjutantError): EventOf<'decision'> {
  const { seq, id, at, invocationId, scope, scopeId, changes, flush, callId } = event;
  return {
    v: eventVersions.decision,
    seq,
    id,
    at,
    ...decision('shared_state', 'refuse_write', {
      invocationId,
      reasoning: conflict.message,
      alternatives: ['read the scope again and repeat the change'],
      data: {
        scope,
        ...defined({ scopeId }),
        keys: changes.map(({ key }) => key),
        // A body that runs again makes the same writes and must know them.
        changes: changes.map((change) => ({ ...change })),
        ...defined({ flush, callId }),
      },
    }),
  };
}
