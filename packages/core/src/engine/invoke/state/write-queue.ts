import { StateOrderError } from '../../../ledger/errors.ts';
import { InvalidKeyError } from '../../frame/errors.ts';
import type { QueuedWrite } from './landing.ts';
import type { WriteRecord } from './write-record.ts';

/**
 * Writes of a body that have not landed. Each synchronous stretch of the body is matched with the
 * recorded writes as a whole; those that are new stay here until they land.
 */
export class WriteQueue {
  readonly #childRoot: string;
  #record: WriteRecord | undefined;
  /** Writes of the present synchronous stretch. */
  #fresh: QueuedWrite[] = [];
  #pending: QueuedWrite[] = [];
  #disorder: StateOrderError | undefined;

  /** @param childRoot path by which errors name the body */
  constructor(childRoot: string) {
    this.#childRoot = childRoot;
  }

  /** Record of the body's writes; `undefined` as long as the body reads the ledger as it grows. */
  get record(): WriteRecord | undefined {
    return this.#record;
  }

  /** Matches all writes from now on, and those in the queue, with the recorded ones. */
  matchWith(record: WriteRecord): void {
    this.#record = record;
    this.#fresh = [...this.#pending.splice(0), ...this.#fresh];
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Writes that have not been matched with a record. */
  get unmatched(): readonly QueuedWrite[] {
    return this.#record === undefined ? this.#all : this.#fresh;
  }

  get #all(): readonly QueuedWrite[] {
    return [...this.#pending, ...this.#fresh];
  }

  /** True when the queue has a write to a key. */
  has(scope: string, key: string): boolean {
    return this.#all.some((write) => write.scope === scope && write.key === key);
  }

  /**
   * Adds a write. Two plain values that are written to one key in one synchronous stretch are one
   * write.
   * @throws InvalidKeyError when an update has the id of another one
   */
  add(write: QueuedWrite): void {
    this.#assertFreeId(write);
    const { scope, key, kind, calls } = write;
    if (this.#fresh.length === 0) queueMicrotask(() => this.seal());
    const at =
      kind === 'set'
        ? this.#fresh.findLastIndex((other) => other.scope === scope && other.key === key)
        : -1;
    const before = this.#fresh[at];
    if (before?.kind !== 'set') this.#fresh.push(write);
    else this.#fresh[at] = { ...write, saw: before.saw, calls: [...before.calls, ...calls] };
  }

  #assertFreeId({ scope, key, id }: QueuedWrite): void {
    if (id === undefined) return;
    const isUsed =
      this.#record?.of(scope, key).hasId(id) === true ||
      this.#all.some((other) => other.id === id && other.scope === scope && other.key === key);
    if (isUsed)
      throw new InvalidKeyError({
        key: id,
        reason: `it names another update of "${key}" of the same body already`,
      });
  }

  /** Ends a synchronous stretch: its writes are matched with the recorded ones. */
  seal(): void {
    if (this.#fresh.length === 0) return;
    const fresh = this.#fresh.splice(0);
    if (this.#record === undefined) return void this.#pending.push(...fresh);
    this.#record.update();
    for (const write of fresh) {
      const placed = this.#record.of(write.scope, write.key).write(write);
      if (placed === 'out_of_order') this.noteDisorder(write.scope, write.key);
      else if (placed === 'new') this.#pending.push(write);
    }
  }

  /** Notes that a key was not written or read in its recorded order: nothing may land. */
  noteDisorder(scope: string, key: string): void {
    this.#disorder ??= new StateOrderError({
      path: this.#childRoot,
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
    this.seal();
    if (this.#disorder !== undefined) throw this.#disorder;
  }

  /** Returns the writes that have been made and not been taken. */
  snapshot(): ReadonlySet<QueuedWrite> {
    this.seal();
    return new Set(this.#pending);
  }

  /** Takes all writes out of the queue but those for which `isLeft` returns true. */
  take(isLeft: (write: QueuedWrite) => boolean): readonly QueuedWrite[] {
    const taken = this.#pending.filter((write) => !isLeft(write));
    this.#pending = this.#pending.filter(isLeft);
    return taken;
  }

  /** Takes back the writes to a key: they never land. */
  withdraw(scope: string, key: string): void {
    this.#pending = this.#pending.filter((write) => write.scope !== scope || write.key !== key);
  }
}
