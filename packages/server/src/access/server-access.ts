import type { Clock, IdSource, Runtime } from 'adjutant';
import { AuditLog } from './audit/audit-log.ts';
import { KeyRing } from './key-ring.ts';
import type { Principal } from './principal.ts';

export interface ServerAccessPorts {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Told what went wrong beside a request. */
  readonly onError: (error: unknown) => void;
}

/** What a server knows of its callers beyond one request. */
export class ServerAccess {
  readonly keys: KeyRing;
  readonly audit: AuditLog;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;

  constructor(app: Runtime, { clock, ids, onError }: ServerAccessPorts) {
    this.#clock = clock;
    this.#onError = onError;
    this.keys = new KeyRing(app, { clock, ids });
    this.audit = new AuditLog({ app: app.app, store: app.store, clock, ids, onError });
  }

  /**
   * Aborted when the caller's credential is not accepted any more: its key was revoked, or its time is over. For what goes on long after it was
   * let in, such as streams.
   * @param whileOpen aborted when nobody wants to know any more
   */
  ended({ id, expiresAt }: Principal, whileOpen: AbortSignal): AbortSignal {
    const ended = new AbortController();
    if (expiresAt === undefined) return ended.signal;
    if (id.startsWith('key:')) {
      const end = (): void => ended.abort();
      void this.keys.ended(id.slice('key:'.length), whileOpen).then(end, (error: unknown) => {
        this.#onError(error);
        end();
      });
      return ended.signal;
    }
    const stop = this.#clock.setTimer(Math.max(0, expiresAt - this.#clock.now()), () => ended.abort());
    whileOpen.addEventListener('abort', stop, { once: true });
    return ended.signal;
  }
}
