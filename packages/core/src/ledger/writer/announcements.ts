import type { EventDraft } from '../event.ts';

/** A draft that is appended right before the first draft that `isMeant` accepts. */
interface Announcement {
  readonly draft: EventDraft;
  readonly isMeant: (draft: EventDraft) => boolean;
}

/** Drafts that wait for another draft, to be appended right before it. */
export class Announcements {
  readonly #waiting = new Set<Announcement>();

  /** Returns a function that removes the announcement. */
  add(draft: EventDraft, isMeant: (draft: EventDraft) => boolean): () => void {
    const announcement = { draft, isMeant };
    this.#waiting.add(announcement);
    return () => this.#waiting.delete(announcement);
  }

  /** Removes and returns the drafts that go before one of `drafts`. */
  take(drafts: readonly EventDraft[]): readonly EventDraft[] {
    if (this.#waiting.size === 0) return [];
    const due = [...this.#waiting].filter(({ isMeant }) => drafts.some(isMeant));
    for (const announcement of due) this.#waiting.delete(announcement);
    return due.map(({ draft }) => draft);
  }
}
