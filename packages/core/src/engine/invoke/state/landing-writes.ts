import { type JsonValue, sameValue } from '../../../base/json.ts';
import type { EventDraft, StateChange } from '../../../ledger/event.ts';
import { visibleValues } from '../../../ledger/folds/state-fold.ts';
import type { PendingWrite } from '../../../ledger/pending-write.ts';
import { composedLate } from '../../../ledger/writer/late-changes.ts';
import type { RunContext } from '../../frame/run-context.ts';
import { changeOf, type Landing, madeOf, namesOf, type QueuedWrite } from './landing.ts';
import type { WriteQueue } from './write-queue.ts';
import { type BodyOfWrites, keyName } from './write-record.ts';

/** Writes that are handed out to be appended. */
interface TakenWrites {
  readonly taken: readonly QueuedWrite[];
  readonly isLast: boolean;
  /** Key of the child or effect that they land with. */
  readonly flush: string | undefined;
  /** `seq` of the state that the body starts from. */
  readonly baseSeq: number | undefined;
}

/** Maker of the events by which the writes of a body land. */
export class LandingWrites {
  readonly #run: RunContext;
  readonly #body: BodyOfWrites;
  readonly #queue: WriteQueue;
  readonly #seen: Map<string, JsonValue | undefined>;

  /** @param seen values of shared scopes that the code was shown last, by scope and key */
  constructor(
    run: RunContext,
    body: BodyOfWrites,
    {
      queue,
      seen,
    }: { readonly queue: WriteQueue; readonly seen: Map<string, JsonValue | undefined> },
  ) {
    this.#run = run;
    this.#body = body;
    this.#queue = queue;
    this.#seen = seen;
  }

  /** Returns the events of writes, and the writes to shared scopes that the store checks. */
  draftsOf(writes: TakenWrites): {
    readonly drafts: readonly EventDraft[];
    readonly shared: readonly PendingWrite[];
  } {
    const { taken, isLast } = writes;
    const drafts: EventDraft[] = [];
    const shared: PendingWrite[] = [];
    for (const scope of this.#scopesOf(taken)) {
      const ofScope = taken.filter((write) => write.scope === scope);
      const landing = this.#landing(scope, ofScope, isLast);
      if (landing.length > 0)
        drafts.push(this.#draftOf(scope, { ...writes, taken: ofScope, landing }, shared));
    }
    return { drafts, shared };
  }

  /** Returns the scopes in the order of their writes, then those that may need a correction. */
  #scopesOf(taken: readonly QueuedWrite[]): Set<string> {
    return new Set([...taken.map(({ scope }) => scope), ...(this.#queue.record?.scopes ?? [])]);
  }

  /**
   * Returns the changes of a scope to record now. They are the writes in order, applied to the
   * present values, then the corrections.
   */
  #landing(
    scope: string,
    taken: readonly QueuedWrite[],
    isLast: boolean,
    before?: readonly Landing[],
  ): readonly Landing[] {
    const values = new Map<string, JsonValue | undefined>();
    const valueBefore = (key: string): JsonValue | undefined =>
      values.has(key) ? values.get(key) : this.#valueNow(scope, key);
    const list = taken.map((write, i) => {
      const landing = landingOf(write, valueBefore(write.key), before?.[i]);
      values.set(write.key, landing.newValue);
      // After writing a key the body no longer depends on what it read.
      this.#seen.delete(keyName(scope, write.key));
      return landing;
    });
    return [...list, ...this.#corrections(scope, valueBefore, isLast)];
  }

  #corrections(
    scope: string,
    valueBefore: (key: string) => JsonValue | undefined,
    isLast: boolean,
  ): readonly Landing[] {
    const list: Landing[] = [];
    for (const [key, writes] of this.#queue.record?.keysOf(scope) ?? []) {
      // A write that was left, or made since, lands later, and then records the final value.
      if (this.#queue.has(scope, key)) continue;
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

  #valueNow(scope: string, key: string): JsonValue | undefined {
    const value = visibleValues(this.#run.ledger.state, scope, this.#body.path)[key];
    return scope === 'session' ? value : this.#run.session.shared.latest(scope, key, value);
  }

  #draftOf(
    scope: string,
    writes: TakenWrites & { readonly landing: readonly Landing[] },
    shared: PendingWrite[],
  ): EventDraft {
    const { landing, flush, baseSeq } = writes;
    const { path, by, callId } = this.#body;
    const scopeId = this.#run.session.shared.scopeIds[scope];
    const changes = this.#changesOf(scope, writes);
    if (scopeId !== undefined) shared.push(...this.#sharedWrites(scope, changes, landing));
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
      ...(callId === undefined || flush === undefined || baseSeq === undefined
        ? {}
        : { base: baseSeq }),
    };
  }

  /**
   * Returns the changes of a scope; those of the session are made anew if the append comes late.
   */
  #changesOf(
    scope: string,
    { taken, landing, isLast }: TakenWrites & { readonly landing: readonly Landing[] },
  ): readonly StateChange[] {
    const { record } = this.#queue;
    const sent = record?.sent(namesOf(scope, landing));
    const changes = landing.map(changeOf);
    if (scope !== 'session') return changes;
    return composedLate(changes, () => {
      record?.update();
      const now = this.#landing(scope, taken, isLast, landing);
      sent?.replace(namesOf(scope, now));
      return now.map(changeOf);
    });
  }

  #sharedWrites(
    scope: string,
    changes: readonly StateChange[],
    landing: readonly Landing[],
  ): readonly PendingWrite[] {
    return this.#run.session.shared.writes({
      scope,
      changes,
      again: landing.map(({ apply }) => apply),
      stale: new Set(landing.flatMap(({ isStale }, i) => (isStale ? [i] : []))),
    });
  }
}

/**
 * Returns a write as it is to be recorded on the present value of its key.
 * @param before the write as it was to be recorded at first, when it is made anew
 */
function landingOf(
  write: QueuedWrite,
  latest: JsonValue | undefined,
  before: Landing | undefined,
): Landing {
  const { scope, kind, apply } = write;
  const isStale = scope !== 'session' && !sameValue(write.saw, latest);
  // A plain value that is based on another one is refused. Its `oldValue` is the one that the code
  // knew.
  const oldValue = isStale && kind === 'set' ? write.saw : latest;
  const made =
    kind === 'set' || apply === undefined
      ? { value: write.value }
      : madeOf(write, oldValue, before ?? scope !== 'session');
  return {
    ...write,
    oldValue,
    newValue: made === undefined ? write.value : made.value,
    isStale: made === undefined || (isStale && kind === 'set'),
  };
}
