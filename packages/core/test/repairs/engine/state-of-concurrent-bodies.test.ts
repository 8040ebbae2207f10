import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';
import { endsOf, textOf } from './state-oracle.ts';
import {
  type Ending,
  type Program,
  Programs,
  randomFrom,
  type Statement,
} from './state-programs.ts';

/** One kind of programs, and what must be true of each end. */
interface Kind {
  readonly name: string;
  /** Programs of the kind; each is stopped several times. */
  readonly programs: number;
  make(random: () => number): Program;
  /** Says what is wrong with an end, if anything is. */
  judge(
    program: Program,
    ending: Ending,
    programs: Programs,
    random: () => number,
  ): string | undefined | Promise<string | undefined>;
}

const stopsPerProgram = 10;

const among = <Value>(random: () => number, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;
const upTo = (random: () => number, most: number): number => 1 + Math.floor(random() * most);

function branches(
  random: () => number,
  count: number,
  length: number,
  statement: (branch: number, at: number) => Statement,
): Program {
  return Array.from({ length: count }, (_, b) =>
    Array.from({ length: upTo(random, length) }, (_, at) => statement(b, at)),
  );
}

const plain = (random: () => number, id: string): Statement =>
  among(random, [
    { does: 'increment', key: among(random, ['x', 'y']) },
    { does: 'set', key: among(random, ['x', 'y']), value: Math.floor(random() * 3) },
    {
      does: 'decide',
      reads: among(random, ['x', 'n']),
      remainder: among(random, [0, 1]),
      key: among(random, ['y', 'z']),
      value: upTo(random, 4),
    },
    { does: 'add', key: 'n', by: upTo(random, 3) },
    { does: 'multiply', key: 'w', by: 2, id },
    { does: 'add', key: 'w', by: 1, id: `${id}a` },
  ]);
const turn = (random: () => number): Statement =>
  among(random, [
    { does: 'effect' },
    { does: 'effect' },
    { does: 'pause' },
    { does: 'call', by: 1, how: 'add' },
  ]);

const failure = (ending: Ending): string | undefined =>
  'values' in ending ? undefined : ending.error;

/** Sum of what a program adds to a key. */
function sumOf(program: Program, key: string): number {
  let sum = 0;
  for (const statement of program.flat()) {
    if (statement.does === 'nest') sum += sumOf(statement.program, key);
    else if (!('key' in statement) || statement.key !== key) continue;
    else if (statement.does === 'increment') sum += 1;
    else if (statement.does === 'ask') sum += 3;
    else if (statement.does === 'add' || statement.does === 'call') sum += statement.by;
  }
  return sum;
}

function judgeSum(program: Program, ending: Ending): string | undefined {
  if (!('values' in ending)) return ending.error;
  for (const key of ['n', 'm', 'c']) {
    const sum = sumOf(program, key);
    if ((ending.values[key] ?? 0) !== sum)
      return `${key} is ${ending.values[key]} instead of ${sum}`;
  }
  return undefined;
}

const kinds: readonly Kind[] = [
  {
    name:
      'a body that does one thing at a time ends as without a stop, whatever its children ' +
      'write',
    programs: 40,
    make: (random) => {
      const statement = (_branch: number, at: number): Statement => {
        const id = `u${at}`;
        const key = among(random, ['x', 'n', 'w']);
        if (random() < 0.3)
          return {
            does: 'call',
            key,
            by: upTo(random, 3),
            how: among(random, ['increment', 'add']),
          };
        if (random() < 0.1)
          return {
            does: 'nest',
            program: branches(random, 1, 4, (_, inner) => plain(random, `v${at}-${inner}`)),
          };
        return random() < 0.5 ? plain(random, id) : turn(random);
      };
      return branches(random, 1, 12, statement);
    },
    judge: async (program, ending, programs, random) => {
      if (!('values' in ending)) return ending.error;
      const whole = await programs.run(program, random);
      if (!('values' in whole)) return `without a stop: ${whole.error}`;
      const [found, expected] = [textOf(ending.values), textOf(whole.values)];
      return found === expected ? undefined : `${found} instead of ${expected}`;
    },
  },
  {
    name: 'counters that up to eight branches and their children change by updates are exact',
    programs: 50,
    make: (random) => {
      const statement = (): Statement => {
        const chance = random();
        if (chance < 0.45)
          return { does: 'add', key: among(random, ['n', 'c']), by: upTo(random, 3) };
        if (chance < 0.65) return { does: 'call', key: 'c', by: upTo(random, 3), how: 'add' };
        if (chance < 0.7) {
          return {
            does: 'nest',
            program: branches(random, 3, 4, () =>
              random() < 0.5 ? { does: 'add', key: 'c', by: 1 } : turn(random),
            ),
          };
        }
        return turn(random);
      };
      return branches(random, upTo(random, 8), 6, statement);
    },
    judge: judgeSum,
  },
  {
    name: 'counters that only up to eight branches change, by ++, are exact',
    programs: 40,
    make: (random) => {
      const statement = (): Statement =>
        random() < 0.5 ? { does: 'increment', key: among(random, ['n', 'm']) } : turn(random);
      return branches(random, upTo(random, 8), 7, statement);
    },
    judge: judgeSum,
  },
  {
    name:
      'what nobody else writes ends as some run without a stop: plain values, decisions, ' +
      'updates, and those with an `id`',
    programs: 60,
    make: (random) => {
      const statement = (b: number, at: number): Statement =>
        random() < 0.6 ? plain(random, `${b}-${at}`) : turn(random);
      return branches(random, 2 + Math.floor(random() * 3), 6, statement);
    },
    judge: (program, ending) => {
      if (!('values' in ending)) return ending.error;
      const ends = endsOf(program);
      const found = textOf(ending.values);
      return ends === undefined || ends.has(found)
        ? undefined
        : `${found} is none of ${[...ends].join(' ')}`;
    },
  },
  {
    name:
      'keys that bodies set and children write too end as some run without a stop, or in ' +
      '`state_order`',
    programs: 20,
    make: (random) => {
      const statement = (_b: number, at: number): Statement => {
        const chance = random();
        if (chance < 0.3)
          return {
            does: 'call',
            key: among(random, ['x', 'y']),
            by: upTo(random, 3),
            how: among(random, ['increment', 'add']),
          };
        return chance < 0.7 ? plain(random, `u${at}-${Math.floor(random() * 1e9)}`) : turn(random);
      };
      return branches(random, 2, 5, statement);
    },
    judge: async (program, ending, programs, random) => {
      if (!('values' in ending)) return ending.error === 'state_order' ? undefined : ending.error;
      const found = textOf(ending.values);
      const seen = new Set<string>();
      for (let tries = 0; tries < 400; tries++) {
        const whole = await programs.run(program, random);
        seen.add('values' in whole ? textOf(whole.values) : whole.error);
        if (seen.has(found)) return undefined;
      }
      return `${found} is none of ${[...seen].join(' ')}`;
    },
  },
];

/**
 * Runs programs of all kinds, each with several stops. @returns what went wrong, and how many pairs
 * there were
 */
async function check(
  store: Store,
  share: number,
  seed: number,
): Promise<{ readonly wrong: readonly string[]; readonly pairs: number }> {
  // Runs without a stop are only looked at: they need not be durable.
  const [programs, whole] = [new Programs(store), new Programs(memoryStore())];
  const wrong: string[] = [];
  let pairs = 0;
  for (const [k, kind] of kinds.entries()) {
    for (let n = 0; n < Math.max(1, Math.round(kind.programs * share)); n++) {
      const program = kind.make(randomFrom(seed + k * 100_000 + n));
      for (let stop = 0; stop < stopsPerProgram; stop++) {
        const random = randomFrom(seed + k * 100_000 + n * stopsPerProgram + stop);
        const { ending, cuts } = await programs.stopped(program, random);
        pairs++;
        const problem = await kind.judge(program, ending, whole, random);
        if (problem !== undefined)
          wrong.push(
            `${kind.name} (program ${n}, stop ${stop}, seed ${seed}, stopped at ${cuts}): ` +
              `${problem}\n${JSON.stringify(program)}`,
          );
      }
    }
  }
  await Promise.all([programs.app.close(), whole.app.close()]);
  return { wrong, pairs };
}

const seed = Number(process.env['ADJUTANT_SEED'] ?? 1);
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-state-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

test('B18: 2,000 pairs of program and stop on SQLite', { timeout: 300_000 }, async () => {
  const { wrong, pairs } = await check(
    sqlite(join(directory, 'state.db'), { synchronous: 'normal' }),
    1,
    seed,
  );
  expect(wrong).toEqual([]);
  expect(pairs).toBeGreaterThanOrEqual(2_000);
});

test.skipIf(reasonToSkip !== undefined)(
  'B18: 200 pairs of program and stop on PostgreSQL',
  { timeout: 300_000 },
  async () => {
    const [schema, pool] = [newSchema(), newPool()];
    try {
      const { wrong, pairs } = await check(
        postgres({ pool, schema: schema.name }),
        0.1,
        seed + 7_000_000,
      );
      expect(wrong).toEqual([]);
      expect(pairs).toBeGreaterThanOrEqual(200);
    } finally {
      await pool.end();
      await schema.drop();
    }
  },
);

describe('B18: tools with children, hooks and shared scopes', () => {
  test('B18: agents whose hooks and tools count beside the body that calls them', {
    timeout: 120_000,
  }, async () => {
    const programs = new Programs(memoryStore());
    const wrong: string[] = [];
    for (let n = 0; n < 20; n++) {
      const program = branches(randomFrom(seed + n), 3, 3, (b) =>
        b < 2 ? { does: 'ask', key: 'm' } : { does: 'add', key: 'm', by: 2 },
      );
      const { ending, cuts } = await programs.stopped(program, randomFrom(seed + 900_000 + n));
      const problem = judgeSum(program, ending);
      if (problem !== undefined) wrong.push(`${problem} (program ${n}, stopped at ${cuts})`);
    }
    expect(wrong).toEqual([]);
    await programs.app.close();
  });

  test('B18: a shared scope is changed once by each update, and nobody else ever sees more', {
    timeout: 120_000,
  }, async () => {
    const programs = new Programs(memoryStore());
    const wrong: string[] = [];
    for (let n = 0; n < 60; n++) {
      const random = randomFrom(seed + 800_000 + n);
      const program = branches(random, upTo(random, 8), 5, () =>
        random() < 0.6 ? { does: 'add', key: 'n', by: upTo(random, 3) } : turn(random),
      );
      const { ending, shared, most } = await programs.stoppedShared(program, random);
      const sum = sumOf(program, 'n');
      const problem =
        failure(ending) ??
        (shared === sum && most <= sum
          ? undefined
          : `${shared} (at most ${most}) instead of ${sum}`);
      if (problem !== undefined) wrong.push(`${problem}: program ${n}`);
    }
    expect(wrong).toEqual([]);
    await programs.app.close();
  });
});
