import { isAdjutantError } from '../../../base/error.ts';
import type { Event, EventDraft } from '../../../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  InboxItem,
  LedgerStore,
  PendingRequest,
  Store,
} from '../../../ledger/port.ts';
import { skipTest, type TestRunner } from '../../kit/test-runner.ts';
import { contractExpect, type Expect } from './contract-expect.ts';
import { type LeftOut, PartWatch } from './left-out.ts';
import type { MakeStore } from './store-under-test.ts';

export interface ContractTest {
  readonly store: Store;
  /** The ledgers of tenant `acme` and app `shop`. */
  readonly ledgers: LedgerStore;
  /** Advances the store's clock, or skips the test when the test has no control over that clock. */
  advance(ms: number): void;
}

export type DefineTest = (name: string, body: (test: ContractTest) => Promise<void>) => void;

/** The functions with which the parts of the contract are written. */
export interface Suite {
  readonly describe: (name: string, define: () => void) => void;
  readonly expect: Expect;
  /**
   * Defines a test that gets a store of its own. It is skipped when it uses a part that the store
   * leaves out.
   */
  readonly test: DefineTest;
  /** Defines a test of a part that is left out. */
  readonly unwatched: DefineTest;
}

export function createSuite(
  { describe, test }: TestRunner,
  make: MakeStore,
  leftOut: LeftOut,
): Suite {
  const define =
    (parts: LeftOut): DefineTest =>
    (name, body) => {
      // Jest takes a declared parameter for a callback.
      test(name, (...[context]) =>
        runTest(body, { make, parts, skip: (reason) => skipTest(context, reason) }),
      );
    };
  return {
    describe: (name, inner) => void describe(name, inner),
    expect: contractExpect,
    test: define(leftOut),
    unwatched: define({}),
  };
}

interface Conditions {
  readonly make: MakeStore;
  /** Parts of which the use skips a test. */
  readonly parts: LeftOut;
  readonly skip: (reason: string) => void;
}

/** Error that ends a test which needs a part that the store does not have. */
class SkippedError extends Error {}

async function runTest(
  body: (test: ContractTest) => Promise<void>,
  { make, parts, skip }: Conditions,
): Promise<void> {
  const { store: given, clock, cleanup } = await make();
  const watch = new PartWatch(parts);
  const store = watch.over(given);
  const advance = (ms: number): void => {
    if (clock === undefined) throw new SkippedError('the store has no clock that can be moved');
    clock.advance(ms);
  };
  let ended: unknown;
  try {
    await body({ store, ledgers: store.for({ tenant: 'acme', app: 'shop' }), advance });
  } catch (error) {
    ended = error;
  } finally {
    await cleanup();
  }
  if (watch.touched !== undefined) skip(`${watch.touched}: ${parts[watch.touched]}`);
  else if (ended instanceof SkippedError) skip(ended.message);
  else if (ended !== undefined) throw ended;
}

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
    return new Writer(ledgers, await ledgers.claim(session, owner, { ttl, force: true }));
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

/** A request of a run, pending from the moment that its batch is written. */
export function pendingRequest(
  session: string,
  requestId: string,
  rest: Partial<PendingRequest> = {},
): PendingRequest {
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
