import type { JsonValue } from '../../../base/json.ts';
import { sameValue } from '../../../base/json.ts';
import type { ChangeValue } from '../../../ledger/pending-write.ts';

/** Kind of a write: a plain value, or a function of the value that is there. */
export type WriteKind = 'set' | 'update';

/** Write of a body to one key, as this execution of the body makes it. */
export interface Operation {
  readonly kind: WriteKind;
  /** Value that the body reads right after it; `undefined`: the key is deleted. */
  readonly value: JsonValue | undefined;
  /** Function of an update: makes the new value of the present one. */
  readonly apply?: ChangeValue | undefined;
  readonly id?: string | undefined;
  /** Hash of the text of the update's function. */
  readonly source?: string | undefined;
}

/** Write of the body that the ledger has. */
export interface Entry {
  /** Place in the ledger, greater than that of every entry recorded before it. */
  readonly place: number;
  readonly kind: WriteKind;
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  /**
   * Place of the last foreign write to the key that the body had been shown when it wrote; 0: none.
   */
  readonly after: number;
  /**
   * Returns the values as the ledger has them. They are read late: a shared write may still be
   * refused, or made again on a foreign write.
   */
  written(): Written;
}

export interface Written {
  readonly oldValue: JsonValue | undefined;
  readonly newValue: JsonValue | undefined;
  /** True if the store refused it: it was never there. */
  readonly refused: boolean;
}

/** Write of the key by another writer: a child of the body, another call, another session. */
export interface ForeignEntry {
  readonly place: number;
  readonly value: JsonValue | undefined;
}

/** Write of this execution: new, or recorded by an earlier execution. */
interface Made {
  readonly operation: Operation;
  entry: Entry | undefined;
}

type EntryState = 'open' | 'matched' | 'void';

/** State of one key at the start of a body. */
export interface KeyStart {
  readonly value: JsonValue | undefined;
  /** True for keys of shared scopes: other sessions may write them too. */
  readonly isShared: boolean;
}

/** Outcome of a write of this execution. */
export type Placed = 'recorded' | 'new' | 'out_of_order';

/**
 * Writes of one body to one key: those recorded by earlier executions, and those of this one. A
 * write that is made again *is* the recorded one, so that it lands once. The class is pure: its
 * caller passes the contents of the ledger.
 *
 * While only this body writes a key of the session, the values of this execution count: it is a
 * legal run of the body by itself. Where others write the key too, updates happen once, and plain
 * writes must keep their recorded order.
 */
export class KeyWrites {
  readonly #isShared: boolean;
  readonly #recorded = new Map<Entry, EntryState>();
  /**
   * Places of writes by called children, recorded before this execution, that the body has not been
   * shown yet.
   */
  readonly #unshown = new Set<number>();
  readonly #ids = new Set<string>();
  /** Writes whose outcome the body has not been shown yet, in the order made. */
  #unsettled: Made[] = [];
  /** Value of the highest place that the body was shown. */
  #top: { readonly place: number; readonly value: JsonValue | undefined };
  /** Value after the last write that was recorded before. */
  #lastRecorded: JsonValue | undefined;
  /** Value after the writes of this execution alone, on top of its starting value. */
  #own: JsonValue | undefined;
  #lastForeign = 0;
  #hasOthers = false;
  #sets = false;
  #updatesWithoutId = false;
  #isTouched = false;

  constructor({ value, isShared }: KeyStart) {
    this.#isShared = isShared;
    this.#own = value;
    this.#lastRecorded = value;
    this.#top = { place: 0, value };
  }

  /** Adds a write that an earlier execution recorded. Called in the order of the places. */
  recorded(entry: Entry): void {
    const { oldValue, newValue, refused } = entry.written();
    // A refused write shows a foreign write. So does a write that replaced another value than the
    // one before it.
    if (this.#isShared && (refused || !sameValue(oldValue, this.#lastRecorded)))
      this.#hasOthers = true;
    if (!refused) this.#lastRecorded = newValue;
    this.#note(entry);
    this.#recorded.set(entry, 'open');
  }

  /**
   * Notes that another writer has written the key since the body began.
   * @param unshown the write's place, if a child recorded it that the body will be given again
   */
  othersWrote(unshown?: number): void {
    this.#hasOthers = true;
    if (unshown !== undefined) this.#unshown.add(unshown);
  }

  #note({ kind, id }: { readonly kind: WriteKind; readonly id?: string | undefined }): void {
    if (kind === 'set') this.#sets = true;
    else if (id === undefined) this.#updatesWithoutId = true;
  }

  /** True if plain writes of the key must keep the order in which they were recorded. */
  get isOrdered(): boolean {
    if (!this.#sets) return false;
    return this.#hasOthers || (this.#isShared && this.#updatesWithoutId);
  }

  /**
   * True if the values of this execution count, whatever was recorded: nothing else writes the key.
   */
  get isOwn(): boolean {
    return !this.#hasOthers && !this.#isShared;
  }

  /** Value that the body reads. */
  get value(): JsonValue | undefined {
    if (!this.#hasOthers) return this.#own;
    let { value } = this.#top;
    for (const { operation, entry } of this.#unsettled) {
      if (entry !== undefined && entry.place < this.#top.place) continue;
      value = applied(operation, value);
    }
    return value;
  }

  /** Place of the last foreign write that the body was shown; 0: none. */
  get lastForeign(): number {
    return this.#lastForeign;
  }

  /** True if this execution has already used the `id` for another update. */
  hasId(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Takes a write of this execution. `out_of_order`: it does not come at its recorded place, and
   * nothing may land.
   */
  write(operation: Operation): Placed {
    this.#isTouched = true;
    this.#note(operation);
    if (operation.id !== undefined) this.#ids.add(operation.id);
    const entry = this.isOrdered ? this.#nextInOrder(operation) : this.#find(operation);
    if (entry === 'out_of_order') return entry;
    if (entry !== undefined) this.#recorded.set(entry, 'matched');
    this.#unsettled.push({ operation, entry });
    this.#own = applied(operation, this.#own);
    return entry === undefined ? 'new' : 'recorded';
  }

  #nextInOrder(operation: Operation): Entry | 'out_of_order' | undefined {
    const next = this.#firstOpen();
    if (next === undefined) return this.#unshown.size > 0 ? 'out_of_order' : undefined;
    const fits = isSame(next, operation) && next.after === this.#lastForeign && !this.#hasNew;
    return fits ? next : 'out_of_order';
  }

  #firstOpen(): Entry | undefined {
    for (const [entry, state] of this.#recorded) if (state === 'open') return entry;
    return undefined;
  }

  get #hasNew(): boolean {
    return this.#unsettled.some(({ entry }) => entry === undefined);
  }

  #find(operation: Operation): Entry | undefined {
    const isPlain = operation.kind === 'set';
    if (isPlain && this.#hasNew) return undefined;
    const last = isPlain ? this.#lastOwnPlace() : 0;
    for (const [entry, state] of this.#recorded)
      if (state === 'open' && entry.place > last && isSame(entry, operation)) return entry;
    return undefined;
  }

  #lastOwnPlace(): number {
    let last = this.#top.place;
    for (const { entry } of this.#unsettled)
      if (entry !== undefined && entry.place > last) last = entry.place;
    return last;
  }

  /**
   * Notes that a new write of this execution is in the ledger. Called in the order of the writes.
   */
  landedAt(entry: Entry): void {
    const made = this.#unsettled.find((candidate) => candidate.entry === undefined);
    if (made !== undefined) made.entry = entry;
  }

  /**
   * Notes that a correction was recorded: the ledger had another value for the key than this
   * execution.
   */
  resetAt(entry: Entry): void {
    for (const [other, state] of this.#recorded)
      if (state === 'open') this.#recorded.set(other, 'void');
    const { newValue } = entry.written();
    this.#show(entry.place, newValue);
    this.#own = newValue;
    for (const { operation, entry: own } of this.#unsettled)
      if (own === undefined) this.#own = applied(operation, this.#own);
  }

  /** Shows the body the outcome of its recorded writes for which `isDue` returns true. */
  settle(isDue: (entry: Entry) => boolean): void {
    this.#unsettled = this.#unsettled.filter(({ operation, entry }) => {
      if (entry === undefined || !isDue(entry)) return true;
      const { newValue, refused } = entry.written();
      if (refused || (this.#isShared && !sameValue(newValue, operation.value)))
        this.#hasOthers = true;
      if (!refused) this.#show(entry.place, newValue);
      return false;
    });
  }

  /**
   * Shows the body a write of a child whose result it gets.
   * @returns whether it comes in its order
   */
  shown({ place, value }: ForeignEntry): boolean {
    this.#hasOthers = true;
    const isLate = this.#unshown.delete(place) && this.isOrdered && this.#isAhead(place);
    if (place > this.#lastForeign) this.#lastForeign = place;
    this.#show(place, value);
    return !isLate;
  }

  /**
   * True if a recorded write, not made again yet, was made before the body was shown the write at
   * `place`.
   */
  #isAhead(place: number): boolean {
    for (const [entry, state] of this.#recorded)
      if (state === 'open' && entry.after < place) return true;
    return false;
  }

  #show(place: number, value: JsonValue | undefined): void {
    if (place >= this.#top.place) this.#top = { place, value };
  }

  /**
   * Makes the body read the ledger's value at `place` from now on, with its own later writes.
   * @returns whether it comes in its order
   */
  rebase(place: number, value: JsonValue | undefined): boolean {
    const isLate = this.isOrdered && this.#isAhead(place);
    this.#unsettled = this.#unsettled.filter(
      ({ entry }) => entry === undefined || entry.place > place,
    );
    if (!sameValue(value, this.value)) this.#lastForeign = Math.max(this.#lastForeign, place);
    this.#top = { place, value };
    this.#own = value;
    for (const { operation } of this.#unsettled) this.#own = applied(operation, this.#own);
    return !isLate;
  }

  /**
   * Replaces the writes of this execution that have not landed by a value recorded without its
   * operations.
   */
  restore(place: number, value: JsonValue | undefined): void {
    this.#unsettled = this.#unsettled.filter(({ entry }) => entry !== undefined);
    this.#own = value;
    this.#show(place, value);
  }

  /** Forgets the writes of this execution that have not landed. */
  forgetNew(): void {
    this.#unsettled = this.#unsettled.filter(({ entry }) => entry !== undefined);
    this.#own = this.#top.value;
  }

  /**
   * Returns the value to record because the ledger has another one than this execution;
   * `undefined`: none.
   * @param ledgerValue the ledger's value, with all new writes of this execution
   * @param isLast whether the body makes no more writes
   */
  correction(
    ledgerValue: JsonValue | undefined,
    isLast: boolean,
  ): { readonly value: JsonValue | undefined } | undefined {
    if (this.isOrdered || (this.#recorded.size === 0 && !this.#isTouched)) return undefined;
    const { value } = this;
    if (sameValue(value, ledgerValue)) return undefined;
    // A key that this execution has not written yet: the recorded writes may still be made again.
    if (this.isOwn)
      return isLast || (this.#isTouched && !this.#hasOpenUpdate()) ? { value } : undefined;
    return this.#isLeftSet() ? { value } : undefined;
  }

  #hasOpenUpdate(): boolean {
    for (const [{ kind }, state] of this.#recorded)
      if (state === 'open' && kind === 'update') return true;
    return false;
  }

  /**
   * True if the last recorded write of the body is a plain one that this execution does not make.
   */
  #isLeftSet(): boolean {
    const last = [...this.#recorded].at(-1);
    return (
      last !== undefined &&
      last[1] === 'open' &&
      last[0].kind === 'set' &&
      last[0].place > this.#lastOwnPlace()
    );
  }

  /** True if a write is recorded that a finished execution would have made again. */
  get isLeftOver(): boolean {
    for (const [{ kind }, state] of this.#recorded)
      if (state === 'open' && (kind === 'update' || this.isOrdered)) return true;
    return false;
  }
}

function isSame(entry: Entry, { kind, value, apply, id, source }: Operation): boolean {
  if (entry.kind !== kind || entry.id !== id) return false;
  if (kind === 'update' && id !== undefined) return true;
  const written = entry.written();
  return kind === 'update'
    ? entry.source === source && givesSame(apply, written)
    : sameValue(written.newValue, value);
}

function givesSame(apply: ChangeValue | undefined, { oldValue, newValue }: Written): boolean {
  try {
    return sameValue(apply?.(oldValue), newValue);
  } catch {
    return false;
  }
}

/**
 * Returns the value after a write. A function that throws for the present value counts with its
 * result from when the body called it.
 */
export function applied(
  { kind, value, apply }: Pick<Operation, 'kind' | 'value' | 'apply'>,
  before: JsonValue | undefined,
): JsonValue | undefined {
  if (kind === 'set' || apply === undefined) return value;
  try {
    return apply(before);
  } catch {
    return value;
  }
}
