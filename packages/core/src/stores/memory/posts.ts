import { defined } from '../../base/defined.ts';
import { SessionGoneError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { InboxItem, PostOptions, PostReceipt } from '../../ledger/port.ts';
import type { PostVerdict, TurnPosts } from '../turns/turn-posts.ts';
import type { MemoryLedger } from './ledger.ts';
import type { MemoryRequests } from './requests.ts';
import type { MemoryRows } from './rows.ts';

export interface PostParts {
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly turns: TurnPosts;
  readonly requests: MemoryRequests;
  readonly rows: MemoryRows;
  readonly find: (session: string) => MemoryLedger | undefined;
  readonly open: (session: string, now: number) => MemoryLedger;
}

/** Posts to the sessions of one tenant and app. */
export class MemoryPosts {
  readonly #parts: PostParts;
  /** Ids of deleted sessions that a post had made. */
  readonly #tombstones = new Set<string>();

  constructor(parts: PostParts) {
    this.#parts = parts;
  }

  /** @throws SessionNotFoundError, SessionGoneError, QueueFullError, RequestSettledError */
  post(session: string, item: InboxItem, options: PostOptions, now: number): PostReceipt {
    const { open, requests, rows, scope, turns } = this.#parts;
    const found = this.#meant(session, options);
    if (found?.hasPosted(item.key) === true)
      return { inboxSeq: found.head.inboxSeq, duplicate: true, now };
    const verdict = turns.judge({ ...scope, session, ledger: found?.number }, options);
    if (verdict.kind !== 'post') return this.#postToOther(verdict, item, options, now);
    if (item.settles !== undefined) requests.answer(session, item.settles, item.by, now);
    const ledger = found ?? open(session, now);
    if (found === undefined) ledger.isOpenedByPost = true;
    const receipt = ledger.post(item, options.wakes ?? true);
    if (options.rows !== undefined) rows.write(session, options.rows);
    const identity = { ...scope, session, ledger: ledger.number };
    turns.posted(identity, options, item.lane === 'control', now);
    return { ...receipt, now };
  }

  /** The ledger that a post means; `undefined` when the post is to make it. */
  #meant(session: string, { birth, open = false }: PostOptions): MemoryLedger | undefined {
    const found = this.#parts.find(session);
    const isAnother = birth !== undefined && found?.birth !== birth;
    if (isAnother || (open && found === undefined && this.#tombstones.has(session)))
      throw new SessionGoneError({ session, birth });
    if (found === undefined && !open)
      throw new SessionNotFoundError({ session, app: this.#parts.scope.app });
    return found;
  }

  /** Carries out a post that adds no item: its turn joins another, or one interest ends. */
  #postToOther(
    { kind, turn }: Exclude<PostVerdict, { readonly kind: 'post' }>,
    item: InboxItem,
    { turn: patch = {} }: PostOptions,
    now: number,
  ): PostReceipt {
    const { find, turns } = this.#parts;
    const ledger = find(turn.session);
    const inboxSeq = ledger?.head.inboxSeq ?? 0;
    const duplicate = ledger?.hasPosted(item.key) === true;
    ledger?.notePosted(item.key);
    if (kind === 'left') {
      turns.leave(turn);
      return { inboxSeq, duplicate, now, left: true };
    }
    if (!duplicate) turns.join(turn, patch, now);
    const joined = { session: turn.session, ...defined({ run: turn.run }) };
    return { inboxSeq, duplicate, now, joined };
  }

  /** Notes a deleted session. */
  deleted({ isOpenedByPost, session }: MemoryLedger): void {
    if (isOpenedByPost) this.#tombstones.add(session);
  }
}
