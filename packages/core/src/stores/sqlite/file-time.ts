import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { machineUptime, systemClock } from '../../base/clock.ts';
import { bootName } from '../owner.ts';

/**
 * The step that makes the table of the store's clock: one row, with an instant that was given out
 * and its time since the boot.
 */
export const clockTable = `
  create table clock (
    id integer primary key check (id = 1),
    at integer not null,
    uptime integer,
    boot text
  ) strict;
`;

/**
 * Milliseconds by which the wall clock may be ahead. A larger lead means that it was set, as at the
 * first contact of a machine without a battery: the store follows it.
 */
const longestLead = 86_400_000;
/**
 * Milliseconds for which the row stays unchanged: the time that would be lost by a boot at which
 * the wall clock went back.
 */
const keptForMs = 10_000;
/**
 * Milliseconds for which one reading of the uptime counts: it does not tell of a sleep meanwhile.
 */
const anchorMs = 1_000;

interface ClockRow {
  readonly at: number;
  readonly uptime: number | null;
  readonly boot: string | null;
}

/**
 * The time of a file. All processes that use it share it, and it never goes back. Within one boot
 * of the machine it follows the uptime, so that no wall clock moves leases and expiries. A boot
 * begins at the wall clock's time, or at the last instant that was given out, whichever is later. A
 * clock that was given is followed, except for steps back. So is the wall clock where the system
 * does not tell one boot from another.
 */
export class FileTime {
  /** Name of the boot; missing where there is no uptime to follow. */
  readonly #boot: string | undefined;
  readonly #row: StatementSync;
  readonly #keep: StatementSync;
  #last = 0;
  #keptAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds that a followed clock is behind the file. */
  #behind: number | undefined;
  #anchor: { readonly now: number; readonly at: number } | undefined;

  constructor(database: DatabaseSync, isSystem: boolean) {
    this.#boot = isSystem ? bootName() : undefined;
    this.#row = database.prepare('select at, uptime, boot from clock');
    this.#keep = database.prepare(
      'insert into clock (id, at, uptime, boot) values (1, ?, ?, ?) on conflict do update ' +
        'set at = excluded.at, uptime = excluded.uptime, boot = excluded.boot',
    );
  }

  /** @param wall time of the caller's clock */
  now(wall: number): number {
    const now = this.#boot === undefined ? this.#givenTime(wall) : this.#machineTime(wall);
    this.#last = Math.max(this.#last, now);
    return this.#last;
  }

  /**
   * Stores the last instant that was given out, when it is due. To be called within a transaction,
   * after `now`.
   */
  keep(): void {
    if (this.#last === 0 || this.#last - this.#keptAt < keptForMs) return;
    const row = this.#read();
    const isFresh =
      row !== undefined &&
      row.boot === (this.#boot ?? null) &&
      Math.abs(this.#last - row.at) < keptForMs;
    if (!isFresh) this.#write(row);
    this.#keptAt = isFresh ? row.at : this.#last;
  }

  #write(row: ClockRow | undefined): void {
    if (this.#boot === undefined) {
      this.#keep.run(this.#last, null, null);
      return;
    }
    const uptime = Math.round(machineUptime());
    // Counted from the row before, to the millisecond: small errors would add up.
    const counted = this.#isOfThisBoot(row) ? row.at + uptime - row.uptime : this.#last;
    this.#keep.run(this.#last - counted > longestLead ? this.#last : counted, uptime, this.#boot);
  }

  #isOfThisBoot(row: ClockRow | undefined): row is ClockRow & { readonly uptime: number } {
    return row !== undefined && row.uptime !== null && row.boot === this.#boot;
  }

  #machineTime(wall: number): number {
    const passed = systemClock.monotonic();
    if (this.#anchor === undefined || passed - this.#anchor.at > anchorMs)
      this.#anchor = { now: this.#sinceBoot(wall), at: passed };
    return Math.floor(this.#anchor.now + passed - this.#anchor.at);
  }

  #sinceBoot(wall: number): number {
    const row = this.#read();
    const counted = this.#isOfThisBoot(row)
      ? row.at + machineUptime() - row.uptime
      : Math.max(wall, row?.at ?? 0);
    if (wall - counted <= longestLead) return counted;
    this.#keptAt = Number.NEGATIVE_INFINITY;
    return wall;
  }

  #givenTime(wall: number): number {
    this.#behind ??= Math.max(0, (this.#read()?.at ?? 0) - wall);
    if (wall + this.#behind < this.#last) this.#behind = this.#last - wall;
    return wall + this.#behind;
  }

  #read(): ClockRow | undefined {
    return this.#row.get() as ClockRow | undefined;
  }
}
