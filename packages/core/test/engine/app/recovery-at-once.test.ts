import {
  agent,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Store,
  step,
} from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { afterEach, expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';

const apps: Runtime[] = [];

afterEach(async () => {
  // The first one has nothing under way, and closes the store that the others need.
  for (const app of apps.splice(0).reverse()) await app.close();
});

function open(store: Store, options: Partial<RuntimeOptions> = {}): Runtime {
  const app = runtime({ app: 'many', store, recover: 'manual', ...options });
  apps.push(app);
  return app;
}

/** A store in which runs of the step "work" have stopped, the first one longest ago. */
async function interrupted(
  count: number,
  store = memoryStore(),
  tenant = 'default',
): Promise<Store> {
  const stuck = step({
    name: 'work',
    execute: (ctx) =>
      new Promise((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
      ),
  });
  const app = open(store, { tenant });
  const runs = [];
  for (let i = 0; i < count; i++) {
    const run = app.run(stuck, { session: `s${i}` });
    await run.accepted();
    runs.push(run);
  }
  for (const run of runs) run.stop();
  await Promise.all(runs.map((run) => run.settled()));
  return store;
}

/**
 * The step that goes on in their place: how many of it are under way, and the way to let them end.
 */
function working() {
  const waiting: (() => void)[] = [];
  const began: string[] = [];
  let most = 0;
  let now = 0;
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      now++;
      most = Math.max(most, now);
      began.push(ctx.session.id);
      const aborted = new Promise<never>((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
      );
      await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), aborted]);
      now--;
      return ctx.complete('worked');
    },
  });
  return { work, began, most: () => most, endOne: () => waiting.shift()?.() };
}

test(
  'sessions are taken up as many at once as is said, the longest overdue first, until all ' +
    'are served',
  async () => {
    const store = await interrupted(60);
    const { work, began, most, endOne } = working();
    open(store, { recover: { atOnce: 5 }, runnables: [work] });
    await eventually(() => began.length === 5);
    for (let ended = 1; ended <= 60; ended++) {
      endOne();
      await eventually(() => began.length === Math.min(60, 5 + ended));
    }
    expect(most()).toBe(5);
    expect(new Set(began).size).toBe(60);
    expect(began.slice(0, 5).sort()).toEqual(['s0', 's1', 's2', 's3', 's4']);
    expect(began.slice(-5).sort()).toEqual(['s55', 's56', 's57', 's58', 's59']);
  },
);

test('many more than a few are continued after a restart without being told', async () => {
  const store = await interrupted(90);
  const { work, began } = working();
  open(store, { recover: 'auto', runnables: [work] });
  await eventually(() => began.length === 90);
});

test(
  'what is answered here goes on although long runs have all the room, and a ' + 'backlog waits',
  async () => {
    const store = await interrupted(40);
    const { work, began } = working();
    const payer = agent({
      name: 'payer',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
      tools: [payTool().pay],
    });
    expect(await open(store).run(payer, { session: 'paying', input: 'Pay' })).toMatchObject({
      status: 'yielded',
    });
    const app = open(store, { recover: { atOnce: 2 }, runnables: [work, payer] });
    await eventually(() => began.length === 2);
    const [request] = await app.requests.listPendingApprovals();
    await app.requests.approve(request?.requestId ?? '');
    for await (const event of app.follow('paying')) if (event.type === 'invocation_end') break;
    expect(began).toHaveLength(2);
  },
);

test('a tenant with many sessions does not keep the others waiting', async () => {
  const store = await interrupted(40, memoryStore(), 'large');
  await interrupted(2, store, 'small');
  const { work, began, endOne } = working();
  open(store, { recover: { atOnce: 2 }, tenants: true, runnables: [work] });
  await eventually(() => began.length === 2);
  expect(began).toEqual(['s0', 's0']);
  endOne();
  endOne();
  await eventually(() => began.length === 4);
  expect(
    await store.for({ tenant: 'small', app: 'many' }).list({ status: 'completed' }),
  ).toHaveLength(1);
});

test('settings that make no sense are refused', () => {
  for (const recover of [{ atOnce: 0 }, { atOnce: 1.5 }, { most: 5 }, 'always', 5])
    expect(() => runtime({ app: 'many', recover: recover as never })).toThrow(
      expect.objectContaining({ code: 'invalid_runtime' }),
    );
});
