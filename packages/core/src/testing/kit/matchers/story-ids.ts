import { isPlainObject, setOwn } from '../../../base/json.ts';
import type { Event } from '../../../ledger/event.ts';
import { runOf } from './ledger-source.ts';

/** What generated ids look like from the inside; shorter words are left alone. */
const word = /[A-Za-z0-9_-]{10,}/g;

/**
 * Puts `run1`, `event`, `key` and `request` in the place of the ids that a ledger generated,
 * wherever texts and values mention them.
 */
export class StoryIds {
  readonly #names = new Map<string, string>();
  #runs = 0;

  constructor(events: readonly Event[]) {
    for (const event of events) {
      const run = event.invocationId === undefined ? undefined : runOf(event.invocationId);
      if (run !== undefined && !this.#names.has(run)) this.#names.set(run, `run${++this.#runs}`);
      // Without numbers: what runs at the same time gets its ids in any order.
      this.#names.set(event.id, 'event');
      if (event.type === 'tool_attempt') this.#names.set(event.key, 'key');
      if (event.type === 'tool_yield') this.#names.set(event.requestId, 'request');
    }
  }

  /** Resolves large values, and names ids in what comes of it. */
  resolver(resolve: (value: unknown) => unknown): (value: unknown) => unknown {
    return (value) => this.#named(resolve(value));
  }

  #named(value: unknown): unknown {
    if (typeof value === 'string')
      return value.length < 10
        ? value
        : value.replace(word, (text) => this.#names.get(text) ?? text);
    if (Array.isArray(value)) return value.map((part) => this.#named(part));
    if (!isPlainObject(value)) return value;
    const named: Record<string, unknown> = {};
    for (const [key, part] of Object.entries(value))
      setOwn(named, this.#named(key) as string, this.#named(part));
    return named;
  }
}
