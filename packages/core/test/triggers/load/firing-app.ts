import { appendFileSync } from 'node:fs';
import { type Runtime, runtime, type Store } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { action, cron, trigger, triggers } from 'adjutant/triggers';
import pg from 'pg';
import { openPostgres } from '../../../src/stores/postgres/store.ts';
import { effectMs, type FiringOrder, loadTriggers } from './firing-order.ts';

/** A clock that is set from outside, as the machine's clock is. */
class SetClock implements Clock {
  readonly #timers: ReturnType<typeof testClock>;
  #now: number;

  constructor(now: number) {
    this.#timers = testClock(now);
    this.#now = now;
  }

  /**
   * Sets the time. One that falls is wrong for a moment, and is put right again: no time has passed
   * meanwhile.
   */
  set(now: number): void {
    const passed = now - this.#timers.now();
    if (passed > 0) this.#timers.advance(passed);
    this.#now = now;
  }

  /** The same clock without its falls. */
  get rising(): Clock {
    return this.#timers;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#timers.monotonic();
  }

  setTimer(ms: number, task: () => void): () => void {
    return this.#timers.setTimer(ms, task);
  }
}

/** The app of one process, and the clock that its orders move. */
export function firingApp(order: FiringOrder): { app: Runtime; clock: SetClock } {
  const clock = new SetClock(order.start);
  const note = action({
    name: 'note',
    // The outside world knows a key that it has seen before. An effect of a killed process is not
    // begun again before its time limit is over.
    effect: { recovery: 'rerun', timeoutMs: effectMs },
    execute: ({ instant, standsFor, trigger: name }, { idempotencyKey: key }) => {
      const line = { trigger: name, instant, standsFor: standsFor ?? 1, key };
      appendFileSync(order.effects, `${JSON.stringify(line)}\n`);
      return null;
    },
  });
  const declared = loadTriggers(order).map(({ missed, name, pattern, timeZone }) =>
    trigger({ name, on: cron(pattern, { timeZone }), start: note, missed, overlap: 'queue' }),
  );
  // A file has the clock of its processes; a server has its own, which the processes follow.
  const ports = 'file' in order.store ? { clock } : {};
  const app = runtime({
    // The clock of the store never falls.
    ...{ app: 'load', store: storeOf(order, clock.rising), recover: 'manual', ports },
    triggers: triggers(declared),
  });
  return { app, clock };
}

function storeOf({ store }: FiringOrder, clock: Clock): Store {
  if ('file' in store) return sqlite(store.file, { synchronous: 'normal', clock });
  const pool = new pg.Pool({ connectionString: store.url, max: 4 });
  return openPostgres({
    ...{ description: 'the database of the load', pool, schema: store.schema },
    fixedNow: () => clock.now(),
    endPool: () => pool.end(),
  });
}
