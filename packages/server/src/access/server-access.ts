import type { Runtime } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import { AuditLog } from './audit/audit-log.ts';
import { KeyRing } from './key-ring.ts';
import { KeyWatch } from './key-watch.ts';
import type { Principal } from './principal.ts';

export interface ServerAccessPorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Called with errors that occur outside a request. */
  readonly onError: (error: unknown) => void;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** State about callers that a server keeps beyond one request. */
export class ServerAccess {
  readonly keys: KeyRing;
  readonly audit: AuditLog;
  readonly #clock: Clock;
  readonly #watch: KeyWatch;

  constructor(app: Runtime, { clock, ids, onError, closing }: ServerAccessPorts) {
    this.#clock = clock;
    this.keys = new KeyRing(app, { clock, ids });
    this.#watch = new KeyWatch({ ring: this.keys, clock, onError, closing });
    this.audit = new AuditLog({ app: app.app, store: app.store, clock, ids, onError });
  }

  /**
   * Aborted when the caller's credential is not accepted any more: its key was revoked, or rotated
   * past the grace of its secret, or its time is over. For what goes on long after it was let in,
   * such as streams.
   * @param whileOpen aborted when nobody wants to know any more
   */
  ended({ key, expiresAt }: Principal, whileOpen: AbortSignal): AbortSignal {
    const ended = new AbortController();
    if (expiresAt === undefined || whileOpen.aborted) return ended.signal;
    const end = (): void => ended.abort();
    const stop =
      key !== undefined
        ? this.#watch.watch(key, expiresAt, end)
        : this.#clock.setTimer(Math.max(0, expiresAt - this.#clock.now()), end);
    whileOpen.addEventListener('abort', stop, { once: true });
    return ended.signal;
  }
}
