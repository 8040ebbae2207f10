import { isAdjutantError } from '../../../base/error.ts';
import type { Event, EventDraft } from '../../../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  InboxItem,
  LedgerStore,
  RequestDraft,
} from '../../../ledger/port.ts';

export const ttl = 30_000;
const firstAt = 1_790_000_000_000;

/** A writer that tracks its head, as the runtime does. */
export class Writer {
  readonly #ledgers: LedgerStore;
  readonly claim: Claim;
  seq: number;

  constructor(ledgers: LedgerStore, claim: Claim) {
    this.#ledgers = ledgers;
    this.claim = claim;
    this.seq = claim.seq;
  }

  static async claim(ledgers: LedgerStore, session: string, owner = 'writer'): Promise<Writer> {
    return new Writer(ledgers, await ledgers.claim(session, owner, { ttlMs: ttl, force: true }));
  }

  get head(): { readonly seq: number; readonly epoch: number } {
    return { seq: this.seq, epoch: this.claim.epoch };
  }

  /** Appends one event for each text, and the rest of the batch. */
  async write(texts: readonly string[], rest: Omit<Batch, 'events'> = {}): Promise<AppendReceipt> {
    const events = notes(this.seq, texts);
    const receipt = await this.#ledgers.append(this.claim.session, this.head, { events, ...rest });
    this.seq = receipt.seq;
    return receipt;
  }
}

let idCount = 0;

/** Frozen events that follow `afterSeq`. */
export function eventsAfter(afterSeq: number, drafts: readonly EventDraft[]): readonly Event[] {
  return drafts.map((draft, i) => {
    const seq = afterSeq + i + 1;
    return Object.freeze({
      v: 1,
      seq,
      id: `event${++idCount}`,
      at: firstAt + seq,
      ...draft,
    } as Event);
  });
}

export function notes(afterSeq: number, texts: readonly string[]): readonly Event[] {
  return eventsAfter(
    afterSeq,
    texts.map((text) => ({ type: 'user', by: 'user', text })),
  );
}

/** Returns the texts `n<from>` … `n<to>`. */
export function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `n${from + i}`);
}

export async function readAll(
  ledgers: LedgerStore,
  session: string,
  range?: { after?: number; upTo?: number },
): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of ledgers.read(session, range)) events.push(...page);
  return events;
}

export async function readTexts(
  ledgers: LedgerStore,
  session: string,
  range?: { after?: number; upTo?: number },
): Promise<readonly unknown[]> {
  return (await readAll(ledgers, session, range)).map((event) =>
    'text' in event ? event.text : event.type,
  );
}

/** Follows a session up to the event with this text, and checks that there is no gap. */
export async function followUntil(
  ledgers: LedgerStore,
  session: string,
  after: number,
  last: string,
): Promise<readonly string[]> {
  const controller = new AbortController();
  const texts: string[] = [];
  let seq = after;
  for await (const event of ledgers.follow(session, after, controller.signal)) {
    if (event.seq !== ++seq) throw new Error(`After event ${seq - 1} came event ${event.seq}.`);
    const text = event.type === 'user' ? event.text : event.type;
    texts.push(text);
    if (text === last) break;
  }
  return texts;
}

/** Writes one event with the given time. */
export async function writeAt(ledgers: LedgerStore, session: string, at: number): Promise<void> {
  const claim = await ledgers.claim(session, 'writer', { ttlMs: ttl, force: true });
  const events = eventsAfter(claim.seq, [{ type: 'cancel', by: 'user' }]).map((event) => ({
    ...event,
    at,
  }));
  await ledgers.append(session, { seq: claim.seq, epoch: claim.epoch }, { events });
}

/**
 * Returns the code of the error that a promise rejects with, or a description of another outcome.
 */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'resolved';
  } catch (error) {
    if (isAdjutantError(error)) return error.code;
    return error instanceof Error ? error.name : String(error);
  }
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

export function inboxItem(
  key: string,
  lane: InboxItem['lane'] = 'input',
  data: InboxItem['data'] = { text: key },
): InboxItem {
  return {
    key,
    lane,
    by: 'user:42',
    at: firstAt,
    type: lane === 'control' ? 'cancel' : 'user',
    data,
  };
}

/** An item without content, which only wakes its session. */
export const wakeItem: InboxItem = {
  key: 'k',
  lane: 'input',
  by: 'user',
  at: 1,
  type: 'wake',
  data: {},
};

/** A request of a run, pending from the moment that its batch is written. */
export function pendingRequest(
  session: string,
  requestId: string,
  rest: Partial<RequestDraft> = {},
): RequestDraft {
  return {
    requestId,
    session,
    invocationId: 'run1/support',
    callId: 'run1/support/r1.0',
    kind: 'approval',
    name: 'refund',
    fingerprint: 'f1',
    generation: 1,
    request: { agent: 'support', summary: 'Refund order 17', options: ['approve', 'reject'] },
    createdAt: firstAt,
    ...rest,
  };
}

/** An answer to a request, from outside. */
export function answerItem(
  requestId: string,
  key: string = requestId,
  by: InboxItem['by'] = 'user:42',
): InboxItem {
  return {
    key,
    lane: 'input',
    by,
    at: firstAt,
    type: 'tool_input',
    data: { requestId, decision: 'approve' },
    settles: requestId,
  };
}

/** Long before and long after any time of a store's clock. */
export const longAgo = 1_000;
export const farAway = 4_000_000_000_000;
