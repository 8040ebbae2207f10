import { AdjutantError, type Store } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import type { Principal } from '../principal.ts';
import { type AuditEntry, auditLedger, dayOf, draftOf } from './audit-entry.ts';

/** Action that was carried out or denied, as it goes into the log. */
export interface AuditNote {
  /** Tenant whose log receives the entry. */
  readonly tenant: string;
  readonly entry: Omit<AuditEntry, 'count'>;
  readonly actor: Principal['actor'];
}

/**
 * Entries of the audit log could not be written. They are written again later, unless there are too
 * many.
 */
export class AuditLostError extends AdjutantError<string> {
  constructor(data: { waiting: number; lost: number }, options?: ErrorOptions) {
    const lost = data.lost > 0 ? ` ${data.lost} entries are lost.` : '';
    super(
      'audit_unwritten',
      `The audit log cannot be written now; ${data.waiting} entries wait.${lost} See what ` +
        'the store says.',
      data,
      options,
    );
  }
}

export interface AuditLogPorts {
  readonly app: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Called with the error when entries could not be written. */
  readonly onError: (error: unknown) => void;
}

interface Waiting {
  readonly tenant: string;
  readonly day: string;
  readonly notes: { readonly entry: AuditEntry; readonly actor: Principal['actor'] }[];
}

interface Joined {
  readonly note: AuditNote;
  /** Number of equal entries after the one that was written. */
  more: number;
}

const batchMs = 100;
const retryMs = 2_000;
const joinMs = 60_000;
const mostWaiting = 10_000;
/** Number of different callers and routes that are counted separately within a minute. */
const mostJoined = 500;
const most = 500;

/**
 * Writes the audit log in the background, in batches, each process to ledgers of its own. Denials
 * are written once, and then counted for a minute: whoever is denied cannot fill the store.
 */
export class AuditLog {
  readonly #ports: AuditLogPorts;
  readonly #process: string;
  readonly #waiting = new Map<string, Waiting>();
  readonly #joined = new Map<string, Joined>();
  #count = 0;
  #last = 0;
  #lost = 0;
  #writing: Promise<void> = Promise.resolve();
  #stopBatch: (() => void) | undefined;
  #stopJoin: (() => void) | undefined;

  constructor(ports: AuditLogPorts) {
    this.#ports = ports;
    this.#process = ports.ids.next();
  }

  /** Something that was done, or tried. */
  record(note: AuditNote): void {
    this.#add(note, 1);
  }

  /**
   * Something that may come in any number: equal ones of a minute are one entry, with their count.
   */
  recordJoined(note: AuditNote): void {
    const { tenant, entry } = note;
    const whole = JSON.stringify([
      tenant,
      entry.principal,
      entry.address,
      entry.route,
      entry.status,
      entry.code,
    ]);
    const key = this.#joined.has(whole) || this.#joined.size < mostJoined ? whole : tenant;
    const known = this.#joined.get(key);
    if (known !== undefined) {
      known.more += 1;
      return;
    }
    this.#joined.set(key, { note: key === whole ? note : ofMany(note), more: 0 });
    this.#add(note, 1);
    this.#stopJoin ??= this.#ports.clock.setTimer(joinMs, () => this.#endMinute());
  }

  /** Resolves when everything that was recorded so far is written, or could not be. */
  async flush(): Promise<void> {
    this.#countJoined();
    this.#begin();
    await this.#writing;
  }

  /** Writes what waits, and stops its timers. */
  async close(): Promise<void> {
    this.#stopJoin?.();
    this.#stopJoin = undefined;
    await this.flush();
    this.#stopBatch?.();
    this.#stopBatch = undefined;
  }

  #endMinute(): void {
    this.#stopJoin = undefined;
    this.#countJoined();
    this.#joined.clear();
  }

  #countJoined(): void {
    for (const joined of this.#joined.values()) {
      const { note, more } = joined;
      if (more > 0)
        this.#add({ ...note, entry: { ...note.entry, at: this.#ports.clock.now() } }, more);
      joined.more = 0;
    }
  }

  #add({ tenant, entry, actor }: AuditNote, count: number): void {
    if (this.#count >= mostWaiting) {
      this.#lost += 1;
      return;
    }
    this.#count += 1;
    // Within a ledger times never go back, whatever the clock does.
    this.#last = Math.max(this.#last, entry.at);
    const day = dayOf(this.#last);
    const key = JSON.stringify([tenant, day]);
    const waiting = this.#waiting.get(key) ?? { tenant, day, notes: [] };
    waiting.notes.push({ entry: { ...entry, at: this.#last, count }, actor });
    this.#waiting.set(key, waiting);
    this.#arm(batchMs);
  }

  #arm(ms: number): void {
    this.#stopBatch ??= this.#ports.clock.setTimer(ms, () => this.#begin());
  }

  #begin(): void {
    this.#stopBatch?.();
    this.#stopBatch = undefined;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    for (const [key, waiting] of [...this.#waiting]) {
      try {
        while (waiting.notes.length > 0) await this.#writeBatch(waiting);
        this.#waiting.delete(key);
      } catch (error) {
        this.#ports.onError(
          new AuditLostError({ waiting: this.#count, lost: this.#lost }, { cause: error }),
        );
        this.#lost = 0;
        this.#arm(retryMs);
      }
    }
  }

  async #writeBatch({ tenant, day, notes }: Waiting): Promise<void> {
    const { app, store, clock, ids } = this.#ports;
    const batch = notes.slice(0, most);
    const ledger = auditLedger({ store, tenant, clock, ids }, app, day, this.#process);
    await ledger.write(async () => batch.map(({ entry, actor }) => draftOf(entry, actor)));
    notes.splice(0, batch.length);
    this.#count -= batch.length;
  }
}

/** Stands for callers of whom there are too many to tell them apart. */
function ofMany({ tenant, entry, actor }: AuditNote): AuditNote {
  const { at, requestId, outcome, status } = entry;
  return {
    tenant,
    actor,
    entry: {
      at,
      principal: 'many',
      actor,
      action: 'many',
      route: 'many',
      target: {},
      outcome,
      status,
      requestId,
    },
  };
}
