import type { EventDraft } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { BodyOfWrites } from './write-record.ts';

/** Facts of a body that have not landed yet. They land with its writes to the state. */
export class QueuedFacts {
  readonly #ledger: Ledger;
  readonly #body: Pick<BodyOfWrites, 'path' | 'by'>;
  /** Facts by their key or text. */
  #facts = new Map<string, { readonly text: string; readonly key: string | undefined }>();

  constructor(ledger: Ledger, body: Pick<BodyOfWrites, 'path' | 'by'>) {
    this.#ledger = ledger;
    this.#body = body;
  }

  get isEmpty(): boolean {
    return this.#facts.size === 0;
  }

  add(text: string, key: string | undefined): void {
    this.#facts.set(key === undefined ? `text ${text}` : `key ${key}`, { text, key });
  }

  /** Returns their events. A body that runs again does not land a recorded fact again. */
  take(): EventDraft[] {
    if (this.isEmpty) return [];
    const ledger = this.#ledger;
    const { path, by } = this.#body;
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
}
