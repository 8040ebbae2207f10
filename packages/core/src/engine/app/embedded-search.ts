import { isAdjutantError } from '../../base/error.ts';
import { systemTurns } from '../../base/turns.ts';
import { TextSearchUnavailableError } from '../../ledger/errors/session-errors.ts';
import { isServiceSession } from '../../ledger/port/service-sessions.ts';
import type {
  SessionSearch,
  SessionSearchQuery,
  SessionSearchResult,
} from '../../ledger/port/session-search.ts';
import type { SessionListing, Store, StoredEvent } from '../../ledger/port.ts';

interface Indexed {
  /** Another session of the same id has another beginning. */
  readonly createdAt: number;
  readonly seq: number;
  /** All messages, folded, each on a line of its own. */
  readonly text: string;
}

/** Events that one search reads at most, before it gives what it has found. */
const mostRead = 50_000;
/** Sessions that one search looks at, at most. */
const mostLooked = 5_000;
const pageSize = 100;
/** Characters of messages that are kept in memory. */
const mostKept = 32_000_000;

/**
 * Searches in memory: the messages of a session are read when it is searched for the first time,
 * and from then on only what has come since. Every word of the text must occur in the messages of a
 * session, and a phrase in quotation marks as it stands; neither case nor accents matter.
 */
export class EmbeddedSearch implements SessionSearch {
  readonly #store: Pick<Store, 'isEncrypted' | 'description'>;
  readonly #known = new Map<string, Indexed>();
  #kept = 0;
  #read = 0;

  constructor(store: Pick<Store, 'isEncrypted' | 'description'>) {
    this.#store = store;
  }

  /** @throws TextSearchUnavailableError when the store is encrypted */
  async find(query: SessionSearchQuery): Promise<SessionSearchResult> {
    const { isEncrypted = false, description } = this.#store;
    if (isEncrypted) throw new TextSearchUnavailableError({ store: description });
    const { ledgers, list, limit } = query;
    const terms = termsOf(query.text);
    const readUpTo = this.#read + mostRead;
    const sessions: SessionListing[] = [];
    let looked = 0;
    let last = list.before;
    for (;;) {
      const page = await ledgers.list({ ...list, limit: pageSize, ...(last && { before: last }) });
      for (const listing of page) {
        last = listing;
        looked += 1;
        const text = isServiceSession(listing.id) ? '' : await this.#textOf(query, listing);
        if (text !== '' && terms.every((term) => text.includes(term))) sessions.push(listing);
        const isEnough = sessions.length >= limit || looked >= mostLooked || this.#read >= readUpTo;
        if (isEnough) return { sessions, last };
      }
      if (page.length < pageSize) return { sessions };
    }
  }

  /** The folded messages of a session; none when it was deleted in between. */
  async #textOf(query: SessionSearchQuery, listing: SessionListing): Promise<string> {
    const { tenant, app, ledgers } = query;
    const { id, seq, createdAt } = listing;
    const key = JSON.stringify([tenant, app, id]);
    const before = this.#known.get(key);
    const kept = before?.createdAt === createdAt ? before : undefined;
    if (kept !== undefined && kept.seq >= seq) return kept.text;
    const lines = kept === undefined ? [] : [kept.text];
    let upTo = kept?.seq ?? 0;
    try {
      for await (const page of ledgers.readStored(id, { after: upTo })) {
        for (const event of page) lines.push(...messageOf(event));
        upTo = page.at(-1)?.seq ?? upTo;
        this.#read += page.length;
        const turn = systemTurns.pass();
        if (turn !== undefined) await turn;
      }
    } catch (error) {
      if (isAdjutantError(error, 'session_not_found')) return '';
      throw error;
    }
    const text = lines.join('\n');
    this.#keep(key, { createdAt, seq: upTo, text });
    return text;
  }

  /** Keeps the messages of a session, and forgets those that were searched least lately. */
  #keep(key: string, indexed: Indexed): void {
    this.#forget(key);
    this.#known.set(key, indexed);
    this.#kept += indexed.text.length;
    for (const oldest of this.#known.keys()) {
      if (this.#kept <= mostKept || oldest === key) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#kept -= this.#known.get(key)?.text.length ?? 0;
    this.#known.delete(key);
  }
}

/** The text of a message; of one that is stored apart, its beginning. */
function messageOf(event: StoredEvent): readonly string[] {
  if (event.type !== 'user' && event.type !== 'assistant') return [];
  const text = event.text as unknown;
  const shown = typeof text === 'string' ? text : (text as { preview?: unknown } | null)?.preview;
  return typeof shown === 'string' ? [folded(shown)] : [];
}

/** Words, and phrases in quotation marks, as they are looked for. */
function termsOf(text: string): readonly string[] {
  const found = folded(text).matchAll(/"([^"]+)"|[^\s"]+/g);
  return [...found].map(([word, phrase]) => phrase ?? word);
}

/** Text in which neither case nor accents matter, nor how much space is between words. */
function folded(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\s+/g, ' ');
}
