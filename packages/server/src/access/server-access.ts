import type { Runtime } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import type { ResolvedServerOptions } from '../options.ts';
import { addressGroup } from './address.ts';
import { AuditLog } from './audit/audit-log.ts';
import { Callers, checksOf } from './callers.ts';
import { JwtVerifier } from './jwt.ts';
import { KeyRing } from './key-ring.ts';
import { KeyWatch } from './key-watch.ts';
import type { Principal } from './principal.ts';
import { RateLimit } from './rate-limit.ts';
import { SignIns } from './sign-in/sign-ins.ts';

export interface ServerAccessPorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly options: Pick<ResolvedServerOptions, 'auth' | 'signInForMs' | 'limits'>;
  /** Called with errors that occur outside a request. */
  readonly onError: (error: unknown) => void;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** State about callers that a server keeps beyond one request. */
export class ServerAccess {
  readonly keys: KeyRing;
  readonly audit: AuditLog;
  readonly signIns: SignIns;
  /** Missing on a server without `auth`, which asks for no credentials. */
  readonly callers: Callers | undefined;
  readonly #failures: RateLimit;
  readonly #clock: Clock;
  readonly #watch: KeyWatch;

  constructor(app: Runtime, ports: ServerAccessPorts) {
    const { clock, ids, onError, closing, options } = ports;
    const { auth, signInForMs, limits } = options;
    this.#clock = clock;
    this.#failures = new RateLimit('failures', limits.failuresPerMinute);
    this.keys = new KeyRing(app, { clock, ids });
    this.#watch = new KeyWatch({ ring: this.keys, clock, onError, closing });
    this.audit = new AuditLog({ app: app.app, store: app.store, clock, ids, onError });
    const checks = checksOf(auth?.jwt);
    const lifeMs = signInForMs;
    this.signIns = new SignIns(app, { clock, ids, lifeMs, checks, onError, closing });
    const { keys, signIns } = this;
    const verifier =
      auth?.jwt === undefined
        ? undefined
        : new JwtVerifier(auth.jwt, { tenant: app.tenant, clock });
    this.callers = auth === undefined ? undefined : new Callers({ auth, keys, signIns, verifier });
  }

  /**
   * Counts a call without a valid credential.
   * @throws RequestRefusedError `rate_limited` (429) when too many came from there
   */
  async countFailure(address: string | undefined): Promise<void> {
    await this.#failures.count(addressGroup(address));
  }

  /**
   * Aborted when the caller's credential is not accepted any more: its key was revoked, or rotated
   * past the grace of its secret, or its time is over, or it has signed out. For what goes on long
   * after it was let in, such as streams.
   * @param whileOpen aborted when nobody wants to know any more
   */
  ended({ key, expiresAt, signIn }: Principal, whileOpen: AbortSignal): AbortSignal {
    const ended = new AbortController();
    if (expiresAt === undefined || whileOpen.aborted) return ended.signal;
    const end = (): void => ended.abort();
    const stops = [
      ...(key === undefined ? [] : [this.#watch.watch(key, expiresAt, end)]),
      ...(signIn === undefined ? [] : [this.signIns.watch(signIn, end)]),
      // The watch of a key knows when that ends.
      ...(key === undefined || signIn !== undefined
        ? [this.#clock.setTimer(Math.max(0, expiresAt - this.#clock.now()), end)]
        : []),
    ];
    const stop = (): void => {
      for (const one of stops) one();
    };
    whileOpen.addEventListener('abort', stop, { once: true });
    return ended.signal;
  }
}
