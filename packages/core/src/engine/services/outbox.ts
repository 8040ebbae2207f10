import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import { isServiceSession } from '../../ledger/port/service-sessions.ts';
import type { LedgerStore, PendingSend, StoreAdmin } from '../../ledger/port.ts';

/** Age in milliseconds from which any process delivers a send, and not only that of its sender. */
const sweepAfterMs = 1_000;
/** Sends that are read at once. */
const mostAtOnce = 1_000;

/** Reason why a send cannot arrive any more. */
export type DeadLetterReason = 'expired' | 'gone' | 'queue_full' | 'refused';

export interface OutboxParts {
  readonly app: string;
  readonly clock: Clock;
  readonly admin: StoreAdmin;
  readonly ledgers: (tenant: string) => LedgerStore;
  /** Called when an item was posted to a session. */
  readonly posted: (place: { readonly tenant: string; readonly session: string }) => void;
  readonly warn: (what: string, error: unknown) => void;
}

/**
 * Deliverer of sends: items on their way between ledgers, in rows that were written with the
 * appends that caused them. Those of one sender to one receiver arrive in order, each after the
 * receipt of the one before; an item that comes twice is one item. A send that cannot arrive
 * becomes a dead letter: its sender is told once, and the next ones go on.
 */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #underWay = new Map<string, Promise<void>>();
  #isStopped = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Delivers the sends of a session soon. A failure is left to the next look. */
  hint(tenant: string, session: string): void {
    if (!this.#isStopped) void this.deliver(tenant, session).catch(() => undefined);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when no delivery is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay.values()]);
  }

  /**
   * Delivers the sends of a session.
   * @throws StoreUnavailableError
   */
  deliver(tenant: string, session: string): Promise<void> {
    const key = JSON.stringify([tenant, session]);
    const before = this.#underWay.get(key) ?? Promise.resolve();
    // After the one under way: it may have read the rows before the newest was written.
    const delivery = before.catch(() => undefined).then(() => this.#deliverAll(tenant, session));
    const done = delivery.then(
      () => undefined,
      () => undefined,
    );
    this.#underWay.set(key, done);
    void done.then(() => {
      if (this.#underWay.get(key) === done) this.#underWay.delete(key);
    });
    return delivery;
  }

  /**
   * Delivers sends whose senders have not done so in time.
   * @param tenant @default all tenants
   * @param olderThanMs @default 1000
   * @throws StoreUnavailableError
   */
  async sweep(tenant?: string, olderThanMs: number = sweepAfterMs): Promise<void> {
    const { admin, app, warn } = this.#parts;
    const left = await admin.sends({ app, olderThanMs, limit: mostAtOnce });
    const senders = new Map<string, { readonly tenant: string; readonly from: string }>();
    for (const { from, tenant: of } of left)
      if (tenant === undefined || tenant === of)
        senders.set(JSON.stringify([of, from]), { tenant: of, from });
    for (const sender of senders.values())
      await this.deliver(sender.tenant, sender.from).catch((error: unknown) =>
        warn(`Messages of session "${sender.from}" could not be delivered`, error),
      );
  }

  async #deliverAll(tenant: string, session: string): Promise<void> {
    const ledgers = this.#parts.ledgers(tenant);
    for (;;) {
      if (this.#isStopped) return;
      const pending = await ledgers.sends({ from: session, limit: mostAtOnce });
      const arrived: number[] = [];
      const held = new Set<string>();
      for (const send of pending) {
        if (held.has(send.to)) continue;
        if (await this.#post(tenant, send)) arrived.push(send.number);
        else held.add(send.to);
      }
      if (arrived.length > 0) await ledgers.sent(session, arrived);
      if (pending.length < mostAtOnce || arrived.length === 0) return;
    }
  }

  /** Posts one send. Returns false when it is to be tried again later. */
  async #post(tenant: string, send: PendingSend): Promise<boolean> {
    const { clock, ledgers, posted } = this.#parts;
    const { at: _, expiresAt, from: __, item, number: ___, to, ...options } = send;
    if (expiresAt !== undefined && expiresAt <= clock.now())
      return this.#bury(tenant, send, 'expired');
    try {
      await ledgers(tenant).post(to, item, options);
    } catch (error) {
      if (!isAdjutantError(error)) throw error;
      switch (error.code) {
        case 'queue_full':
          return expiresAt === undefined ? this.#bury(tenant, send, 'queue_full') : false;
        case 'session_gone':
        case 'session_not_found':
          return this.#bury(tenant, send, 'gone');
        case 'store_unavailable':
        case 'key_unavailable':
          throw error;
        default:
          return this.#bury(tenant, send, 'refused', error.code);
      }
    }
    posted({ tenant, session: to });
    return true;
  }

  /** Tells the sender once that a send does not arrive. */
  async #bury(
    tenant: string,
    { from, item, number, to }: PendingSend,
    reason: DeadLetterReason,
    code?: string,
  ): Promise<boolean> {
    const { clock, ledgers, posted } = this.#parts;
    const data: JsonObject = { to, key: item.key, type: item.type, reason };
    try {
      await ledgers(tenant).post(
        from,
        {
          key: `dead_letter:${number}`,
          lane: 'input',
          by: 'runtime',
          at: clock.now(),
          type: 'dead_letter',
          data: code === undefined ? data : { ...data, code },
        },
        // A run has nothing to do because of it; a service may.
        { wakes: isServiceSession(from) },
      );
    } catch (error) {
      // Nobody is left who could be told.
      const isGone =
        isAdjutantError(error, 'session_not_found') || isAdjutantError(error, 'session_gone');
      if (!isGone) throw error;
      return true;
    }
    posted({ tenant, session: from });
    return true;
  }
}
