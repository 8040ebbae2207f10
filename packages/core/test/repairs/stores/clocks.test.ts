import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';
import type { Command } from './clock-worker.ts';

const hour = 3_600_000;
const here = (name: string): string => new URL(name, import.meta.url).pathname;
const others: Other[] = [];
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-b21-'));
});

afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.kill()));
  rmSync(directory, { recursive: true, force: true });
});

/** A process whose wall clock is off. */
class Other {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(store: object, shift: { readonly ms: number } | { readonly file: string }) {
    const env =
      'ms' in shift ? { CLOCK_SHIFT_MS: `${shift.ms}` } : { CLOCK_SHIFT_FILE: shift.file };
    this.#child = spawn(
      process.execPath,
      ['--no-warnings', here('clock-worker.ts'), JSON.stringify(store)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, ...env, NODE_OPTIONS: `--import ${here('shifted-clock.mjs')}` },
      },
    );
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
    others.push(this);
  }

  async tell(command: Command): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    return (JSON.parse((await this.#lines.next()).value ?? '{}') as { readonly did?: unknown }).did;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

interface Place {
  readonly address: object;
  now(): Promise<number>;
  drop(): Promise<void>;
}

const places: Readonly<Record<string, () => Place>> = {
  SQLite: () => {
    const file = join(directory, 'store.db');
    const store = sqlite(file);
    return {
      address: { file },
      now: () => store.for({ tenant: 'default', app: 'clocks' }).now(),
      drop: () => store.close(),
    };
  },
  PostgreSQL: () => {
    const schema = newSchema();
    const store = postgres(serverUrl, { schema: schema.name });
    const drop = async (): Promise<void> => {
      await store.close();
      await schema.drop();
    };
    return {
      address: { url: serverUrl, schema: schema.name },
      now: () => store.for({ tenant: 'default', app: 'clocks' }).now(),
      drop,
    };
  },
};

/** Processes that start take long where many do. */
const patience = 120_000;

describe.each(Object.entries(places))(
  'processes whose clocks differ by an hour, on %s',
  (name, make) => {
    test.skipIf(name === 'PostgreSQL' && reasonToSkip !== undefined)(
      'B21: agree about what is over and what is not',
      { timeout: patience },
      async () => {
        const place = make();
        try {
          const [right, fast, slow] = [0, hour, -hour].map(
            (ms) => new Other(place.address, { ms }),
          ) as [Other, Other, Other];
          const roles: [asks: Other, approves: Other, goesOn: Other][] = [fast, slow].flatMap(
            (off): [Other, Other, Other][] => [
              [off, right, right],
              [right, off, right],
              [right, right, off],
            ],
          );
          const asked: { readonly expiresAt: number }[] = [];
          for (const [i, [asks]] of roles.entries())
            asked.push(
              (await asks.tell({ do: 'ask', session: `over ${i}`, expiresInMs: 40 })) as {
                expiresAt: number;
              },
            );
          const fresh = [];
          for (const [i, [asks, ...rest]] of roles.entries()) {
            await asks.tell({ do: 'ask', session: `fresh ${i}` });
            fresh.push(await answered(`fresh ${i}`, ...rest));
          }
          // By a second more than what a receipt takes on its way.
          while (
            (await place.now()) <
            Math.max(...asked.map(({ expiresAt }) => expiresAt)) + 1_000
          );
          const over = [];
          for (const [i, [, ...rest]] of roles.entries())
            over.push(await answered(`over ${i}`, ...rest));
          expect(fresh).toEqual(
            roles.map(() => ({
              pending: 1,
              said: 'approved',
              end: { status: 'completed', isPaid: true },
            })),
          );
          expect(over).toEqual(
            roles.map(() => ({
              pending: 0,
              said: 'request_settled',
              end: { status: 'completed', isPaid: false },
            })),
          );
        } finally {
          await Promise.all(others.splice(0).map((other) => other.kill()));
          await place.drop();
        }

        async function answered(session: string, approves: Other, goesOn: Other): Promise<unknown> {
          const pending = await approves.tell({ do: 'pending', session });
          const said = codeOf(await approves.tell({ do: 'approve', session }));
          return { pending, said, end: await goesOn.tell({ do: 'resume', session }) };
        }
      },
    );
  },
);

function codeOf(did: unknown): unknown {
  return typeof did === 'object' && did !== null && 'error' in did ? did.error : did;
}

describe('a wall clock that went back, on SQLite', () => {
  test('B21: a run whose process was killed before is due at once, and what was asked before is ' +
    'over in time', {
    timeout: patience,
  }, async () => {
    const file = join(directory, 'store.db');
    const wall = join(directory, 'shift');
    writeFileSync(wall, `${hour}`);
    const before = new Other({ file }, { file: wall });
    expect(await before.tell({ do: 'ask', session: 'asked', expiresInMs: 40 })).toMatchObject({
      status: 'yielded',
    });
    const { store: lastNow } = (await before.tell({ do: 'now', session: '' })) as {
      readonly store: number;
    };
    expect(await before.tell({ do: 'hold', session: 'held' })).toBe('hangs');
    await before.kill();
    writeFileSync(wall, '0');
    const after = new Other({ file }, { file: wall });
    const { store: now } = (await after.tell({ do: 'now', session: '' })) as {
      readonly store: number;
    };
    expect(now).toBeGreaterThanOrEqual(lastNow);
    expect(await after.tell({ do: 'pending', session: 'asked' })).toBe(0);
    expect(await after.tell({ do: 'due', session: '' })).toContain('held');
  });

  test(
    'B21: goes on from the last instant that was given out, with a clock that was ' + 'given too',
    async () => {
      const file = join(directory, 'store.db');
      let shift = 0;
      const clock = {
        now: () => 1_800_000_000_000 + shift,
        monotonic: () => shift,
        setTimer: () => () => undefined,
      };
      const store = sqlite(file, { clock });
      const ledgers = store.for({ tenant: 'default', app: 'clocks' });
      const { now, until } = await ledgers.claim('s', 'elsewhere', { ttlMs: 1_000 });
      expect(until).toBe(now + 1_000);
      shift = -hour;
      expect(
        (
          await ledgers.post('s', {
            key: 'k',
            lane: 'input',
            by: 'user',
            at: 1,
            type: 'wake',
            data: {},
          })
        ).now,
      ).toBe(now);
      shift += 1_000;
      // A second later the lease is over, although the clock says that it is an hour earlier.
      expect(await ledgers.claim('s', 'another', { ttlMs: 1_000 })).toMatchObject({
        epoch: 2,
        now: until,
      });
      await store.close();
      shift = -2 * hour;
      const again = sqlite(file, { clock });
      expect(await again.for({ tenant: 'default', app: 'clocks' }).now()).toBeGreaterThanOrEqual(
        now,
      );
      await again.close();
    },
  );
});
