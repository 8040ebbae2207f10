import { createHmac } from 'node:crypto';
import { isAdjutantError, type JsonObject, type Runtime, type StoredEvent } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { hashOfSecret, isSameHash, newKeySecret } from '../api-key.ts';
import type { Principal } from '../principal.ts';
import { SystemLedger, systemTenant } from '../system-ledger.ts';
import { boundOf, type SignInBinding } from './binding.ts';

/** A sign-in as it is stored. */
interface SignInRecord {
  /** SHA-256 of the secret in the cookie. */
  readonly hash: string;
  /** Epoch milliseconds from which it is not accepted any more. */
  readonly expiresAt: number;
  readonly binding: SignInBinding;
  /** HMAC of the checks of tokens under the secret in the cookie, for a sign-in with a token. */
  readonly checks?: string;
}

/** A sign-in that a cookie has opened. */
export interface OpenSignIn {
  readonly id: string;
  readonly expiresAt: number;
  readonly binding: SignInBinding;
}

export interface SignInPorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Milliseconds for which a sign-in is accepted. */
  readonly lifeMs: number;
  /**
   * Text of the checks that tokens have to pass; missing when none are accepted. A sign-in with a
   * token ends when they change.
   */
  readonly checks: string | undefined;
  readonly onError: (error: unknown) => void;
  /** Aborted when the server closes: that the store may be gone then is no error. */
  readonly closing: AbortSignal;
}

interface Cached {
  readonly seq: number;
  readonly record: SignInRecord | undefined;
}

const component = 'sign_ins';
const mostCached = 1_000;
const sweepPage = 100;
/** Milliseconds between two sweeps of one process. */
const sweepEvery = 3_600_000;

/**
 * Sign-ins of pages: for each a small ledger beside that of the keys, so that all processes know of
 * its end with their next request. The secret of a cookie is kept as a hash only.
 */
export class SignIns {
  readonly #app: Pick<Runtime, 'app' | 'store'>;
  readonly #ports: SignInPorts;
  readonly #cache = new Map<string, Cached>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(app: Pick<Runtime, 'app' | 'store'>, ports: SignInPorts) {
    this.#app = app;
    this.#ports = ports;
  }

  /**
   * Begins a sign-in of a caller.
   * @returns the value of the cookie, which is not kept, and the end of the sign-in
   * @throws StoreUnavailableError
   */
  async begin(principal: Principal): Promise<{ value: string; expiresAt: number }> {
    const { clock, ids, lifeMs, checks } = this.#ports;
    const id = ids.next();
    const secret = newKeySecret();
    const expiresAt = Math.min(
      clock.now() + lifeMs,
      principal.expiresAt ?? Number.POSITIVE_INFINITY,
    );
    const binding = boundOf(principal);
    const data: JsonObject = {
      ...{ hash: hashOfSecret(secret), expiresAt, binding: binding as unknown as JsonObject },
      ...defined({ checks: 'token' in binding ? macOf(secret, checks) : undefined }),
    };
    await this.#ledger(id).write(async () => [
      {
        type: 'decision',
        by: principal.actor,
        component,
        decision: 'begun',
        reasoning: 'A page gets a cookie in the place of a credential',
        data,
      },
    ]);
    void this.#sweep().catch(this.#ports.onError);
    return { value: `${id}_${secret}`, expiresAt };
  }

  /**
   * The sign-in that the value of a cookie opens now; `undefined` when it opens none, for whatever
   * reason.
   * @throws StoreUnavailableError
   */
  async open(value: string): Promise<OpenSignIn | undefined> {
    const [, id, secret] = /^([a-z0-9]{4,40})_([a-z0-9]{20,100})$/.exec(value) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const record = await this.#record(id);
    if (record === undefined || !isSameHash(record.hash, hashOfSecret(secret))) return undefined;
    const { expiresAt, binding } = record;
    if (this.#ports.clock.now() >= expiresAt) return undefined;
    const isChecked = 'key' in binding || record.checks === macOf(secret, this.#ports.checks);
    return isChecked ? { id, expiresAt, binding } : undefined;
  }

  /** Ends a sign-in for good, with the next request of any server. @throws StoreUnavailableError */
  async end(id: string, by: Principal['actor']): Promise<void> {
    const ledger = this.#ledger(id);
    await ledger.write(async () => [
      {
        type: 'decision',
        by,
        component,
        decision: 'ended',
        reasoning: 'The cookie is not to be used any more',
      },
    ]);
  }

  /**
   * Calls `onEnd` when a sign-in is ended, by whatever process. Its expiry is not watched.
   * @returns function that ends the watch
   */
  watch(id: string, onEnd: () => void): () => void {
    const watching = new AbortController();
    void this.#untilEnded(id, watching.signal)
      .catch((error: unknown) => {
        if (!watching.signal.aborted && !this.#ports.closing.aborted) this.#ports.onError(error);
      })
      // A sign-in of which nobody can say that it lasts has ended.
      .then(() => {
        if (!watching.signal.aborted) onEnd();
      });
    return () => watching.abort();
  }

  async #untilEnded(id: string, signal: AbortSignal): Promise<void> {
    const ledger = this.#ledger(id);
    const seq = await ledger.seq();
    if (signal.aborted || (await this.#record(id)) === undefined) return;
    for await (const _event of ledger.follow(seq, signal))
      if ((await this.#record(id)) === undefined) return;
  }

  async #record(id: string): Promise<SignInRecord | undefined> {
    const ledger = this.#ledger(id);
    const seq = await ledger.seq();
    if (seq === 0) return undefined;
    const cached = this.#cache.get(id);
    if (cached?.seq === seq) return cached.record;
    let record: SignInRecord | undefined;
    try {
      for await (const event of ledger.read(0)) record = folded(record, event);
    } catch (error) {
      // It was swept away in between.
      if (isAdjutantError(error, 'session_not_found')) return undefined;
      throw error;
    }
    this.#keep(id, { seq, record });
    return record;
  }

  #keep(id: string, cached: Cached): void {
    this.#cache.delete(id);
    this.#cache.set(id, cached);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > mostCached && oldest !== undefined) this.#cache.delete(oldest);
  }

  #ledger(id: string): SystemLedger {
    const { clock, ids } = this.#ports;
    const { store } = this.#app;
    const place = { tenant: systemTenant, app: this.#name, session: id, title: 'Sign-in' };
    return new SystemLedger({ store, ...place, clock, ids });
  }

  get #name(): string {
    return `${this.#app.app}:sign-ins`;
  }

  /** Removes sign-ins that are longer ago than any is accepted. */
  async #sweep(): Promise<void> {
    const { clock, lifeMs, closing } = this.#ports;
    const now = clock.now();
    if (now - this.#sweptAt < sweepEvery) return;
    this.#sweptAt = now;
    const ledgers = this.#app.store.for({ tenant: systemTenant, app: this.#name });
    const cutoff = now - lifeMs;
    const before = { updatedAt: cutoff, createdAt: cutoff, id: '' };
    for (;;) {
      const old = await ledgers.list({ order: 'updatedAt', before, limit: sweepPage });
      for (const { id } of old) {
        if (closing.aborted) return;
        await ledgers.delete(id).catch(unlessGone);
      }
      if (old.length < sweepPage) return;
    }
  }
}

/** Folds an event of a sign-in. What cannot be understood ends it: it may have been the end. */
function folded(record: SignInRecord | undefined, event: StoredEvent): SignInRecord | undefined {
  if (event.type !== 'decision' || event.decision !== 'begun' || event.seq !== 1) return undefined;
  const { hash, expiresAt, binding, checks } = event.data ?? {};
  if (record !== undefined || typeof hash !== 'string' || typeof expiresAt !== 'number')
    return undefined;
  return {
    ...{ hash, expiresAt, binding: binding as unknown as SignInBinding },
    ...(typeof checks === 'string' ? { checks } : {}),
  };
}

/**
 * Returns the checks of tokens under the secret of a cookie. They hold the shared secret of tokens,
 * which nobody can guess by what is stored, since the cookie's own secret is not stored.
 */
function macOf(secret: string, checks: string | undefined): string | undefined {
  return checks === undefined
    ? undefined
    : createHmac('sha256', secret).update(checks).digest('hex');
}

function unlessGone(error: unknown): void {
  if (!isAdjutantError(error, 'session_not_found')) throw error;
}
