import type { StreamEvent } from 'adjutant';
import { api, refusalOf } from '../api/client.ts';
import { onReach, presentReach } from '../api/reach.ts';
import { Bars } from './bars.ts';
import { Columns, type OutlinePart } from './columns.ts';
import { EventPages, type LedgerEvent } from './event-pages.ts';

const longestOutline = 100_000;
/** Milliseconds between two looks for what is new, while events come. */
const pauseMs = 500;
/** Milliseconds before a server that has been away for long is asked again. */
const pauseAfterLossMs = 2_000;

/** Failure of a session whose name stands for other events since the server was away. */
class OtherLedgerError extends Error {
  constructor() {
    super('The server has other events under its name: it answers from another store.');
    this.name = 'OtherLedgerError';
  }
}

export type LedgerPhase = 'reading' | 'there' | 'failed';

/**
 * The ledger of one session as the page has it: columns of all events, bodies of those that are
 * looked at, the text that is being streamed. It follows the session until it is closed.
 */
export class FollowedLedger {
  readonly session: string;
  readonly columns = new Columns();
  readonly bars = new Bars();
  phase: LedgerPhase = 'reading';
  /** Events of the whole session, also of those that are not read yet. */
  last = 0;
  error: unknown;
  /** Text of answers that models are giving, by invocation. */
  readonly streamed = new Map<string, string>();
  readonly #pages: EventPages;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #version = 0;
  #shape = 0;
  #isTold = false;
  #wakes: (() => void) | undefined;

  constructor(session: string) {
    this.session = session;
    this.#pages = new EventPages(
      async (after, limit) =>
        (await api.sessions.eventPage(session, { after, limit })).events as never,
      () => this.#changed(),
    );
  }

  /**
   * Changes with the columns and the bars. Bodies that come change `version` alone: what is drawn of
   * all events stays as it is.
   */
  get shape(): number {
    return this.#shape;
  }

  /** Changes with everything that is drawn. */
  readonly version = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads the session, then follows it. */
  async open(): Promise<void> {
    if (!(await this.#untilRefused(() => this.#read()))) return;
    this.phase = 'there';
    this.#changed();
    this.#checkAfterLosses();
    void this.#untilRefused(() => this.#follow());
    await this.#untilRefused(() => this.#keepUp());
  }

  /**
   * Does something until it is done; a server that is away for long is waited for. Resolves to
   * `false` once the server has refused it, or nobody follows any more.
   */
  async #untilRefused(act: () => Promise<void>): Promise<boolean> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        await act();
        return !signal.aborted;
      } catch (error) {
        if (signal.aborted) return false;
        if (refusalOf(error) !== undefined || error instanceof OtherLedgerError) {
          this.#fail(error);
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseAfterLossMs));
      }
    }
  }

  /** Ends following: what was read stays. The first failure is the one that is told. */
  #fail(error: unknown): void {
    if (this.phase !== 'failed') this.error = error;
    this.phase = 'failed';
    this.close();
    this.#changed();
  }

  /**
   * Compares the ledger with the server's whenever the server is back: another one may answer at
   * its address, from a store without the session, or with another one of its name.
   */
  #checkAfterLosses(): void {
    let wasAway = false;
    const forget = onReach(() => {
      const isAway = presentReach().state === 'away';
      if (wasAway && !isAway) void this.#untilRefused(() => this.#compare());
      wasAway = isAway;
    });
    this.#closing.signal.addEventListener('abort', forget, { once: true });
  }

  /** @throws OtherLedgerError, ServerProblemError */
  async #compare(): Promise<void> {
    const { count } = this.columns;
    if (count === 0) return;
    const { signal } = this.#closing;
    const newest = await api.sessions.outline(this.session, { after: count - 1, limit: 1, signal });
    if (newest.columns.at[0] !== this.columns.eventAt(count)?.at) throw new OtherLedgerError();
  }

  close(): void {
    this.#closing.abort();
    this.#wakes?.();
  }

  event(seq: number): LedgerEvent | undefined {
    return this.#pages.get(seq, this.columns.count);
  }

  async #read(): Promise<void> {
    const { signal } = this.#closing;
    do {
      const outline = (await api.sessions.outline(this.session, {
        after: this.columns.count,
        limit: longestOutline,
        signal,
      })) as OutlinePart & { readonly last: number };
      if (outline.columns.at.length === 0 && outline.last > this.columns.count) break;
      this.columns.add(outline);
      this.last = outline.last;
      this.bars.update(this.columns);
      this.#shape++;
      this.#changed();
    } while (this.columns.count < this.last);
  }

  /** Reads what the stream has announced, several events at a time. */
  async #keepUp(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (this.columns.count >= this.last)
        await new Promise<void>((resolve) => {
          this.#wakes = resolve;
        });
      if (signal.aborted) return;
      await this.#read();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for await (const event of api.sessions.follow(this.session, {
      after: Math.max(this.columns.count, this.last),
      signal,
    }))
      this.#take(event);
  }

  #take(event: StreamEvent): void {
    if ('seq' in event) {
      this.#pages.put(event as unknown as LedgerEvent);
      this.last = Math.max(this.last, event.seq);
      if (event.type === 'assistant' && event.invocationId !== undefined)
        this.streamed.delete(event.invocationId);
      this.#wakes?.();
      return;
    }
    if (event.type === 'assistant_delta')
      this.streamed.set(
        event.invocationId,
        (this.streamed.get(event.invocationId) ?? '') + event.delta,
      );
    else if (event.type === 'stream_reset') this.streamed.delete(event.invocationId);
    else return;
    this.#changed();
  }

  /** Tells the listeners once for each frame. */
  #changed(): void {
    this.#version++;
    if (this.#isTold) return;
    this.#isTold = true;
    requestAnimationFrame(() => {
      this.#isTold = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
