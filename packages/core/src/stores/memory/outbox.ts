import type { PendingSend, Send, SendFilter } from '../../ledger/port.ts';
import { copyJson } from './json.ts';

/** Sends of one tenant and app that have no receipt yet. */
export class MemoryOutbox {
  readonly #sends = new Map<string, PendingSend[]>();
  #number = 0;

  add(from: string, sends: readonly Send[], now: number): void {
    const waiting = this.#sends.get(from) ?? [];
    for (const send of sends)
      waiting.push(copyJson<PendingSend>({ ...send, from, number: ++this.#number, at: now }));
    this.#sends.set(from, waiting);
  }

  list({ from, olderThanMs = 0 }: SendFilter, now: number, limit: number): readonly PendingSend[] {
    const lists = from === undefined ? [...this.#sends.values()] : [this.#sends.get(from) ?? []];
    return lists
      .flat()
      .filter(({ at }) => at <= now - olderThanMs)
      .sort((left, right) => left.number - right.number)
      .slice(0, limit);
  }

  remove(from: string, numbers: readonly number[]): void {
    const gone = new Set(numbers);
    const left = (this.#sends.get(from) ?? []).filter(({ number }) => !gone.has(number));
    if (left.length === 0) this.#sends.delete(from);
    else this.#sends.set(from, left);
  }
}
