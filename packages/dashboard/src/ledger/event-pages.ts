import type { StoredEvent } from 'adjutant';

/** Event with its body, as a page shows it: of types that it does not know, too. */
export type LedgerEvent = Readonly<Record<string, unknown>> & {
  readonly seq: number;
  readonly type: string;
};

const eventsPerPage = 500;
/** Pages that are kept: those that were looked at last. */
const mostPages = 20;
/** Milliseconds for which a page is looked at before it is read, and by which that may be late. */
const restMs = 60;
const lateMs = 20;
const mostAtOnce = 4;
/** Milliseconds before a page that could not be read is asked for again. */
const pauseAfterFailureMs = 2_000;

/** Reads up to 500 events behind a `seq`. */
export type ReadPage = (after: number, limit: number) => Promise<readonly StoredEvent[]>;

/** Bodies of events: read page by page when they are looked at, dropped when others are. */
export class EventPages {
  readonly #read: ReadPage;
  readonly #changed: () => void;
  readonly #pages = new Map<number, Map<number, LedgerEvent>>();
  readonly #underWay = new Map<number, number>();
  readonly #failedAt = new Map<number, number>();
  readonly #wanted = new Map<number, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasMissed = false;

  constructor(read: ReadPage, changed: () => void) {
    this.#read = read;
    this.#changed = changed;
  }

  /** Returns an event that is there, and asks for it otherwise. */
  get(seq: number, count: number): LedgerEvent | undefined {
    const number = Math.floor((seq - 1) / eventsPerPage);
    const page = this.#pages.get(number);
    if (page !== undefined) {
      this.#pages.delete(number);
      this.#pages.set(number, page);
    }
    const event = page?.get(seq);
    if (event === undefined && seq >= 1 && seq <= count) this.#want(number, count);
    return event;
  }

  /** Pages are read when they are still looked at after a moment: not all that a drag passes. */
  #want(number: number, count: number): void {
    this.#wanted.set(number, performance.now());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const since = performance.now() - restMs - lateMs;
      const all = [...this.#wanted];
      const still = all.filter(([, at]) => at >= since).slice(-mostAtOnce);
      // The timer of a busy page may always be late: the second time, the last page is read.
      const wanted = still.length === 0 && this.#hasMissed ? all.slice(-1) : still;
      this.#hasMissed = wanted.length === 0;
      this.#wanted.clear();
      for (const [one] of wanted) void this.#load(one, count);
      if (wanted.length === 0) this.#changed();
    }, restMs);
  }

  /** Takes an event that has come by the stream. */
  put(event: LedgerEvent): void {
    this.#pageOf(Math.floor((event.seq - 1) / eventsPerPage)).set(event.seq, event);
  }

  async #load(number: number, count: number): Promise<void> {
    const first = number * eventsPerPage;
    const wanted = Math.min(count, first + eventsPerPage);
    if ((this.#underWay.get(number) ?? 0) >= wanted) return;
    if (
      performance.now() - (this.#failedAt.get(number) ?? -pauseAfterFailureMs) <
      pauseAfterFailureMs
    )
      return;
    this.#underWay.set(number, wanted);
    try {
      let after = first;
      while (after < wanted) {
        const events = await this.#read(after, wanted - after);
        if (events.length === 0) break;
        const page = this.#pageOf(number);
        for (const event of events) {
          page.set(event.seq, event as unknown as LedgerEvent);
          after = event.seq;
        }
      }
      this.#failedAt.delete(number);
    } catch {
      // The list keeps its place-holders, and asks again when it is drawn after the pause.
      this.#failedAt.set(number, performance.now());
      setTimeout(this.#changed, pauseAfterFailureMs);
    } finally {
      this.#underWay.delete(number);
      this.#changed();
    }
  }

  #pageOf(number: number): Map<number, LedgerEvent> {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    const page = new Map<number, LedgerEvent>();
    this.#pages.set(number, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= mostPages) break;
      this.#pages.delete(oldest);
    }
    return page;
  }
}
