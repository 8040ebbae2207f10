import type { JsonValue } from '../../base/json.ts';
import { sameValue } from '../../base/json.ts';
import type { ChangeValue } from '../../ledger/pending-write.ts';

/** Kind of a write: a plain value, or a function of the value that is there. */
export type WriteKind = 'set' | 'update';

/** One write of a body to one key, as this execution of the body makes it. */
export interface Operation {
  readonly kind: WriteKind;
  /** Value that the body reads right after it; `undefined`: the key is deleted. */
  readonly value: JsonValue | undefined;
  /** Of an update: makes the value of the one that is there. */
  readonly apply?: ChangeValue | undefined;
  readonly id?: string | undefined;
  /** Hash of the text of the update's function. */
  readonly source?: string | undefined;
}

/** A write of the body that the ledger has. */
export interface Entry {
  /** Greater than that of every entry recorded before it. */
  readonly place: number;
  readonly kind: WriteKind;
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  /**
   * Place of what others wrote to the key and the body had been shown last when it made this write;
   * 0: nothing.
   */
  readonly after: number;
  /**
   * Values as the ledger has them. Asked late: a shared write may still be made again on top of
   * what others wrote, or be refused.
   */
  written(): Written;
}

export interface Written {
  readonly oldValue: JsonValue | undefined;
  readonly newValue: JsonValue | undefined;
  /** True if the store refused it: it was never there. */
  readonly refused: boolean;
}

/** A write of the key by somebody else: a child of the body, another call, another session. */
export interface ForeignEntry {
  readonly place: number;
  readonly value: JsonValue | undefined;
}

/** A write of this execution: new, or recorded by an execution before. */
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

/** How a write of this execution was taken. */
export type Placed = 'recorded' | 'new' | 'out_of_order';

/**
 * The writes of one body to one key: those that executions before have recorded, and those that
 * this execution makes. A write that is made again *is* the recorded one, so that it lands once.
 * Pure: what is in the ledger is told to it.
 *
 * While only this body writes a key of the session, the word of this execution counts: it is a
 * legal run of the body by itself. Where others write the key too, updates happen once, and plain
 * writes must keep the order in which they were recorded.
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
  /** Value of what this execution has written by itself, on top of what it started from. */
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

  /**
   * Tells of a write that an execution before this one has recorded. In the order of their places.
   */
  recorded(entry: Entry): void {
    const { oldValue, newValue, refused } = entry.written();
    // A write that was refused, or that replaced another value than the one before it, shows that
    // somebody else wrote.
    if (this.#isShared && (refused || !sameValue(oldValue, this.#lastRecorded)))
      this.#hasOthers = true;
    if (!refused) this.#lastRecorded = newValue;
    this.#note(entry);
    this.#recorded.set(entry, 'open');
  }

  /**
   * Tells that somebody else has written the key since the body began. @param unshown its place, if
   * a child recorded it that the body will be given again
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
   * True if the values of this execution count, whatever was recorded: nobody else writes the key.
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

  /** Tells if this execution has used the `id` for another update already. */
  hasId(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Takes a write of this execution. `out_of_order`: it does not come where it was recorded, and
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

  /** Tells that a new write of this execution is in the ledger. In the order of the writes. */
  landedAt(entry: Entry): void {
    const made = this.#unsettled.find((candidate) => candidate.entry === undefined);
    if (made !== undefined) made.entry = entry;
  }

  /**
   * Tells that a plain value was recorded for the key because the ledger had another one than this
   * execution says.
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

  /** Shows the body what became of its writes, as far as `isDue` says so of what is recorded. */
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

  /** Shows the body what a child wrote that it is given. @returns whether it comes in its order */
  shown({ place, value }: ForeignEntry): boolean {
    this.#hasOthers = true;
    const isLate = this.#unshown.delete(place) && this.isOrdered && this.#isAhead(place);
    if (place > this.#lastForeign) this.#lastForeign = place;
    this.#show(place, value);
    return !isLate;
  }

  /**
   * Tells if some recorded write, not made again yet, was made before the body was shown the write
   * at `place`.
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
   * From now on the body reads what the ledger said at `place`, and its own writes behind that.
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
   * Puts a value that was recorded without its operations in the place of what this execution wrote
   * and has not landed.
   */
  restore(place: number, value: JsonValue | undefined): void {
    this.#unsettled = this.#unsettled.filter(({ entry }) => entry !== undefined);
    this.#own = value;
    this.#show(place, value);
  }

  /** Forgets what this execution wrote and has not landed. */
  forgetNew(): void {
    this.#unsettled = this.#unsettled.filter(({ entry }) => entry !== undefined);
    this.#own = this.#top.value;
  }

  /**
   * The value that is to be recorded because the ledger has another one than this execution says;
   * `undefined`: none is.
   * @param ledgerValue what the ledger has, with all writes of this execution that are new
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
   * Tells if the last recorded write of the body is a plain one that this execution does not make.
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
 * The value after a write. A function that cannot take the value that is there now gave what it
 * gave when the body called it.
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
