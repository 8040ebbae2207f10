import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isAdjutantError,
  memoryStore,
  type RequestAnswer,
  type Runtime,
  runtime,
  type Store,
} from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { keptOpen, testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';
import { caller } from './calling-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'approvals-'));
const schema = newSchema();
const pool = newPool();
const opened: Store[] = [];
afterAll(async () => {
  for (const store of opened) await store.close();
  await schema.drop();
  await pool.end();
  rmSync(folder, { recursive: true, force: true });
});

const stores: readonly [string, () => Store, string | undefined][] = [
  ['memory', () => memoryStore(), undefined],
  ['SQLite', () => sqlite(join(folder, 'races.db')), undefined],
  ['PostgreSQL', () => postgres({ pool, schema: schema.name }), reasonToSkip],
];

/** Ways to settle a request: people in two processes, its end, and a cancel of the run. */
type Wish = 'approve' | 'reject' | 'edit' | 'same' | 'expire' | 'cancel';
type Contender = { readonly wants: Wish; readonly afterTurns: number };

const said: Readonly<Record<string, (n: number) => RequestAnswer>> = {
  approve: (n) => ({ decision: 'approve', by: `p${n}` }),
  reject: (n) => ({ decision: 'reject', by: `p${n}` }),
  edit: (n) => ({ decision: 'edit', input: { cents: n }, by: `p${n}` }),
  same: () => ({ decision: 'approve', by: 'same' }),
};

describe.each(stores)('on %s', (_name, open, skipped) => {
  test.skipIf(skipped !== undefined)(
    'one of all answers, expiries and cancels settles a request',
    async () => {
      const store = open();
      opened.push(store);
      const contender = fc.record({
        wants: fc.constantFrom<Wish>('approve', 'reject', 'edit', 'same', 'expire', 'cancel'),
        // A run takes many turns of the event loop until it settles anything.
        afterTurns: fc.nat(60),
      });
      const contenders = fc.array(contender, { minLength: 2, maxLength: 8 });
      let counter = 0;
      await fc.assert(
        fc.asyncProperty(contenders, async (contending) => {
          await race(keptOpen(store), `race_${counter++}`, contending);
        }),
        { numRuns: skipped === undefined ? 25 : 0, endOnFailure: true },
      );
    },
  );
});

async function race(
  store: Store,
  session: string,
  contending: readonly Contender[],
): Promise<void> {
  const { pay, paid } = payTool();
  const runnable = caller(pay, { cents: 500 });
  // The store goes by its own clock: the session's writer finds the time over, whoever answers does
  // not.
  const clock = testClock(Date.now());
  const make = (): Runtime =>
    runtime({ app: 'races', store, runnables: [runnable], recover: 'manual', ports: { clock } });
  const first = await make().run(runnable, {
    session: await make().sessions.open({ id: session }),
    input: 'Pay',
  });
  const requestId = first.pendingApprovals[0]?.requestId ?? '';
  // Two processes answer; the check that comes before is passed by all that ask before the first is
  // done.
  const people = [
    runtime({ app: 'races', store, recover: 'manual' }),
    runtime({ app: 'races', store, recover: 'manual' }),
  ];
  const worker = make();
  let isWorking = false;
  const attempts = contending.map(async ({ wants, afterTurns }, n): Promise<boolean> => {
    const answer = said[wants];
    for (let turn = 0; turn < afterTurns && answer !== undefined; turn++)
      await new Promise<void>((resolve) => setImmediate(resolve));
    if (answer !== undefined)
      return (people[n % 2] as Runtime).requests.answer(requestId, answer(n)).then(() => true);
    if (wants === 'expire') clock.advance(30 * 60_000);
    else await worker.cancel(session);
    if (!isWorking) {
      isWorking = true;
      await worker.resume(session).then(undefined, (error: unknown) => {
        if (!isAdjutantError(error, 'no_open_run')) throw error;
      });
    }
    return false;
  });
  const outcomes = await Promise.allSettled(attempts);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'request_settled' });
  const won = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length;
  const last = await make()
    .resume(session)
    .then(
      (result) => result.session,
      () => make().sessions.open({ id: session }),
    );
  const [row, ...others] = await make().requests.list({ session });
  expect(others).toEqual([]);
  expect(won).toBe(row?.status === 'answered' ? 1 : 0);
  const answers = last.events.filter((event) => event.type === 'tool_input');
  expect(answers.length).toBeLessThanOrEqual(1);
  const settled = last.events.filter((event) => event.type === 'tool_result' && event.settled);
  expect(settled).toHaveLength(1);
  const decision = answers[0]?.decision;
  expect(paid).toHaveLength(
    decision === 'approve' || decision === 'edit' ? (settledAs(settled) === 'success' ? 1 : 0) : 0,
  );
}

function settledAs([result]: readonly unknown[]): string {
  return (result as { result: { status: string } }).result.status;
}
