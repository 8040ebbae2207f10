import type {
  InboxItem,
  LedgerStore,
  PostOptions,
  PostReceipt,
  Store,
  Taken,
  TakeOptions,
  TakeReceipt,
  TurnPatch,
} from '../../../../ledger/port.ts';
import { inboxItem, ttl } from '../harness.ts';

/** Posts a task for a session that may not exist yet. */
export function submit(
  ledgers: LedgerStore,
  session: string,
  turn: TurnPatch = {},
  more: Omit<PostOptions, 'turn' | 'open'> = {},
): Promise<PostReceipt> {
  return ledgers.post(session, inboxItem(`task ${session}`), {
    open: true,
    turn: { run: session, ...turn },
    ...more,
  });
}

let tickets = 0;

/** Takes turns of the app `shop`. */
export function take(store: Store, options: Partial<TakeOptions> = {}): Promise<TakeReceipt> {
  tickets += 1;
  const asked = { app: 'shop', owner: 'worker', ticket: `ticket ${tickets}`, ttlMs: ttl, slots: 1 };
  return store.admin.take({ ...asked, ...options });
}

/** Takes turns until none is left that may run, and returns their sessions. */
export async function takeAll(
  store: Store,
  options: Partial<TakeOptions> = {},
): Promise<readonly string[]> {
  const sessions: string[] = [];
  for (;;) {
    const { taken } = await take(store, options);
    if (taken.length === 0) return sessions;
    sessions.push(...taken.map(({ session }) => session));
  }
}

/** Releases a session that was taken. A turn that ends or rests has dealt with its inbox. */
export async function giveBack(
  ledgers: LedgerStore,
  { session, epoch, until }: Taken,
  turn?: TurnPatch,
): Promise<void> {
  const claim = { session, epoch, until, owner: 'worker', seq: 0, inboxSeq: 0, now: 0 };
  if (turn !== undefined) {
    const consumes = (await ledgers.inbox(session)).map(({ position }) => position);
    await ledgers.append(session, { seq: 0, epoch }, { events: [], consumes });
  }
  await ledgers.release(claim, turn === undefined ? {} : { turn });
}

/** An item of the control lane. */
export function cancelItem(key: string): InboxItem {
  return inboxItem(key, 'control', {});
}
