import { StateConflictError } from '../../../ledger/errors.ts';
import { flushedWith, type RefusedWrites } from '../state/recorded-writes.ts';
import type { BodyOwner } from './body-place.ts';

/** Writes of a body that land with the start of a child or effect. */
export class LandedWrites {
  readonly #body: BodyOwner;
  /**
   * Keys of children that the body started without waiting for them. The outcome of the writes that
   * were to land with them has not been checked yet.
   */
  #unconfirmed: string[] = [];

  constructor(body: BodyOwner) {
    this.#body = body;
  }

  /**
   * Treats earlier writes of the body as landed: they landed with the recorded start of the child
   * or effect.
   */
  landedBefore(begun: number, key: string): void {
    const { place, writes } = this.#body;
    writes.drop(flushedWith(place.run.ledger, place.path, begun, key));
    writes.reached();
  }

  /** Adds a child that the body does not wait for. */
  addUnconfirmed(key: string): void {
    this.#unconfirmed.push(key);
  }

  /** True when the outcome of writes that were to land with such children is unchecked. */
  get hasUnconfirmed(): boolean {
    return this.#unconfirmed.length > 0;
  }

  /**
   * Waits for the outcome of the shared writes that were to land with the start of children. Those
   * children are the ones that were not waited for, and one more child or effect.
   * @throws StateConflictError when a write was refused
   */
  async assertLanded(key?: string, begun?: number): Promise<void> {
    const { place, writes } = this.#body;
    const { ledger, session } = place.run;
    if (session.shared.names.length === 0) return;
    await ledger.durable();
    const startOf = (child: string): number | undefined =>
      ledger.invocations.byPath.get(`${place.childRoot}/${child}`)?.start.seq;
    const keys = [...this.#unconfirmed, ...(key === undefined ? [] : [key])];
    this.#unconfirmed = this.#unconfirmed.filter((child) => startOf(child) === undefined);
    const refused: RefusedWrites[] = [];
    for (const name of keys) {
      const start = name === key && begun !== undefined ? begun : (startOf(name) ?? 0);
      writes.settle(start);
      refused.push(...flushedWith(ledger, place.path, start, name).refused);
    }
    const [first] = refused;
    if (first !== undefined)
      throw new StateConflictError({
        scope: first.scope,
        scopeId: first.scopeId ?? '',
        keys: first.keys,
      });
  }
}
