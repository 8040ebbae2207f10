import type { SessionListing, StoredEvent } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { defined } from 'adjutant/text';
import { type AuditEntry, dayOf, entryOf } from './audit-entry.ts';

export interface AuditQuery {
  /** Epoch milliseconds; entries from then on. */
  readonly from?: number | undefined;
  /** Epoch milliseconds; entries before then. */
  readonly to?: number | undefined;
  readonly action?: string | undefined;
  readonly principal?: string | undefined;
  readonly outcome?: string | undefined;
  readonly limit: number;
  /** The last place that a page before has looked at. */
  readonly after?: AuditPlace | undefined;
}

/** Where an entry stands. */
export interface AuditPlace {
  readonly at: number;
  readonly ledger: string;
  readonly seq: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where the next page goes on; missing when there is nothing more. */
  readonly next?: AuditPlace;
}

/** Events that one page looks at, at most: a filter that nothing passes must not read a year. */
const mostLookedAt = 5_000;
const pageSize = 200;
const listed = 200;
const dayMs = 86_400_000;

interface Placed {
  readonly place: AuditPlace;
  readonly entry: AuditEntry | undefined;
}

/** Entries of all processes, newest first. */
export async function readAudit(ledgers: LedgerStore, query: AuditQuery): Promise<AuditPage> {
  const entries: AuditEntry[] = [];
  let looked = 0;
  let last: AuditPlace | undefined;
  for await (const { place, entry } of placedEntries(ledgers, query)) {
    if (entries.length >= query.limit || looked >= mostLookedAt)
      return { entries, ...defined({ next: last }) };
    looked += 1;
    last = place;
    if (entry !== undefined && fits(entry, query)) entries.push(entry);
  }
  return { entries };
}

function fits(entry: AuditEntry, { action, principal, outcome }: AuditQuery): boolean {
  if (action !== undefined && entry.action !== action) return false;
  if (principal !== undefined && entry.principal !== principal) return false;
  return outcome === undefined || entry.outcome === outcome;
}

async function* placedEntries(
  ledgers: LedgerStore,
  query: AuditQuery,
): AsyncGenerator<Placed, void, undefined> {
  const { to, after } = query;
  const from = Math.min(query.from ?? 0, latest);
  const newest = Math.max(0, Math.min(to ?? latest, after?.at ?? latest, latest));
  for await (const day of daysOf(ledgers, dayOf(newest), from)) {
    for await (const placed of merged(day.map((listing) => backwards(ledgers, listing, query)))) {
      if (placed.place.at < from) return;
      yield placed;
    }
  }
}

/** The last time whose year has four digits. */
const latest = Date.UTC(9999, 11, 31);

/**
 * The ledgers of each day, newest day first. Their order in the store is that of its own clock,
 * which may differ by a day at most.
 */
async function* daysOf(
  ledgers: LedgerStore,
  newest: string,
  from: number,
): AsyncGenerator<readonly SessionListing[], void, undefined> {
  const days = new Map<string, SessionListing[]>();
  const take = (isDue: (day: string) => boolean): SessionListing[][] => {
    const due = [...days.keys()].filter(isDue).sort().reverse();
    return due.map((day) => {
      const found = days.get(day) ?? [];
      days.delete(day);
      return found;
    });
  };
  let before: SessionListing | undefined;
  do {
    const page = await ledgers.list({
      order: 'createdAt',
      limit: listed,
      ...defined({ before }),
    });
    for (const listing of page) {
      const day = listing.id.slice(0, 10);
      if (day <= newest && day >= dayOf(from)) days.set(day, [...(days.get(day) ?? []), listing]);
    }
    before = page.length < listed ? undefined : page.at(-1);
    const reached = before === undefined ? '' : dayOf(before.createdAt + dayMs);
    yield* take((day) => before === undefined || day > reached);
    if (before !== undefined && before.createdAt + dayMs < from) break;
  } while (before !== undefined);
  yield* take(() => true);
}

/** Merges entries that come newest first. */
async function* merged(
  sources: readonly AsyncGenerator<Placed, void, undefined>[],
): AsyncGenerator<Placed, void, undefined> {
  const heads = await Promise.all(
    sources.map(async (source) => ({ source, head: await source.next() })),
  );
  for (;;) {
    const open = heads.filter(({ head }) => head.done !== true);
    const [first] = open.sort((left, right) =>
      compare((right.head.value as Placed).place, (left.head.value as Placed).place),
    );
    if (first === undefined) return;
    yield first.head.value as Placed;
    first.head = await first.source.next();
  }
}

/** Negative when `left` is older. */
function compare(left: AuditPlace, right: AuditPlace): number {
  if (left.at !== right.at) return left.at - right.at;
  if (left.ledger !== right.ledger) return left.ledger < right.ledger ? -1 : 1;
  return left.seq - right.seq;
}

/** The entries of one ledger, newest first, from the place where the page begins. */
async function* backwards(
  ledgers: LedgerStore,
  { id, seq }: SessionListing,
  { to, after }: AuditQuery,
): AsyncGenerator<Placed, void, undefined> {
  const isOlder = (place: AuditPlace): boolean =>
    (to === undefined || place.at < to) && (after === undefined || compare(place, after) < 0);
  let upTo = await lastSeq(ledgers, id, seq, isOlder);
  while (upTo > 0) {
    const events = await eventsOf(ledgers, id, Math.max(0, upTo - pageSize), upTo);
    for (const event of events.toReversed())
      yield { place: placeOf(id, event), entry: entryOf(event) };
    upTo = Math.max(0, upTo - pageSize);
  }
}

/**
 * The number of the last event that is old enough. Times never go back within a ledger, so that
 * half of it is left out with each look.
 */
async function lastSeq(
  ledgers: LedgerStore,
  id: string,
  seq: number,
  isOld: (place: AuditPlace) => boolean,
): Promise<number> {
  let [low, high] = [0, seq];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [event] = await eventsOf(ledgers, id, middle - 1, middle);
    if (event !== undefined && isOld(placeOf(id, event))) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function eventsOf(
  ledgers: LedgerStore,
  id: string,
  after: number,
  upTo: number,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of ledgers.readStored(id, { after, upTo })) events.push(...page);
  return events;
}

function placeOf(ledger: string, event: StoredEvent): AuditPlace {
  const at = entryOf(event)?.at ?? ('at' in event ? event.at : 0);
  return { at, ledger, seq: event.seq };
}
