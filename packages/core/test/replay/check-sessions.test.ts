import { agent, agentTool, memoryStore, runtime, sequence, step, tool } from 'adjutant';
import { type CheckReport, checkSessions } from 'adjutant/replay';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

interface Versions {
  readonly toolName?: string;
  readonly schema?: Parameters<typeof tool>[0]['schema'];
  readonly clerkName?: string;
  readonly withApproval?: boolean;
  readonly instructions?: string;
}

let payments = 0;

/** An agent whose call waits for an approval, in versions of its code. */
function shop(store: ReturnType<typeof memoryStore>, versions: Versions = {}) {
  const {
    toolName = 'pay',
    schema = z.object({ amount: z.number() }),
    clerkName = 'clerk',
    withApproval = true,
    instructions = 'You pay.',
  } = versions;
  const pay = tool({
    name: toolName,
    description: 'Pays',
    schema,
    ...(withApproval ? { approval: true } : { readOnly: true }),
    execute: () => {
      payments += 1;
      return 'paid';
    },
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'pay', args: { amount: 3 } }] },
    { text: 'Paid' },
  ]);
  const clerk = agent({ name: clerkName, model, tools: [pay], instructions });
  return { clerk, app: runtime({ app: 'shop', store, runnables: [clerk], recover: 'manual' }) };
}

async function waitingShop() {
  const store = keptOpen(memoryStore());
  const { clerk, app } = shop(store);
  expect((await app.run(clerk, { session: 's', input: 'Pay 3' })).status).toBe('yielded');
  await app.close();
  return store;
}

function verdicts({ sessions }: CheckReport): readonly unknown[] {
  return sessions.map(({ session, verdict, code }) => [session, verdict, code]);
}

describe('checkSessions holds the code against runs that wait', () => {
  test('the same code goes on, and neither the store nor the world is touched', async () => {
    const store = await waitingShop();
    const ledgers = store.for({ tenant: 'default', app: 'shop' });
    const before = [await ledgers.head('s'), await ledgers.requests()];
    const report = await checkSessions(shop(store).app);
    expect(report).toMatchObject({
      sessions: [{ session: 's', tenant: 'default', runnable: 'clerk', verdict: 'goes_on' }],
      undeclaredTools: ['clerk/pay'],
      undeclaredSteps: [],
    });
    expect([await ledgers.head('s'), await ledgers.requests()]).toEqual(before);
    expect(payments).toBe(0);
  });

  test.each<[string, Versions, string]>([
    ['a tool that is gone', { toolName: 'transfer' }, 'ledger_mismatch'],
    ['other arguments', { schema: z.object({ cents: z.string() }) }, 'ledger_mismatch'],
    ['a runnable that is gone', { clerkName: 'assistant' }, 'unknown_runnable'],
  ])('%s is refused before a person has answered', async (_, versions, code) => {
    const store = await waitingShop();
    const report = await checkSessions(shop(store, versions).app);
    expect(verdicts(report)).toEqual([['s', 'refused', code]]);
    expect(report.sessions[0]?.reason).toBeTruthy();
  });

  test('a changed prompt is no obstacle', async () => {
    const store = await waitingShop();
    const { app } = shop(store, { instructions: 'Say please.' });
    expect(verdicts(await checkSessions(app))).toEqual([['s', 'goes_on', undefined]]);
  });

  test('what has ended is left out, and other sessions can be named', async () => {
    const store = await waitingShop();
    const { clerk, app } = shop(store, { withApproval: false });
    await app.run(clerk, { session: 'ended', input: 'Pay 3' });
    expect(verdicts(await checkSessions(app))).toEqual([['s', 'goes_on', undefined]]);
    expect(verdicts(await checkSessions(app, { sessions: ['ended'] }))).toEqual([]);
  });
});

/** A sequence whose first step asks an agent and waits in it. */
function report(
  store: ReturnType<typeof memoryStore>,
  {
    ask = 'first',
    partName = 'gather',
    effects,
  }: { ask?: string; partName?: string; effects?: false },
) {
  const { clerk } = shop(store);
  const bodies = { count: 0 };
  const gather = step({
    name: partName,
    ...(effects === undefined ? {} : { effects }),
    execute: async (ctx) => {
      bodies.count += 1;
      await ctx.call(clerk, { message: ask });
    },
  });
  const publish = step({ name: 'publish', execute: () => undefined });
  const all = sequence({ name: 'report', runnables: [gather, publish] });
  return { all, bodies, app: runtime({ app: 'shop', store, runnables: [all], recover: 'manual' }) };
}

describe('checkSessions and steps', () => {
  async function waitingReport() {
    const store = keptOpen(memoryStore());
    const { all, app } = report(store, {});
    expect((await app.run(all, { session: 's', input: 'Go' })).status).toBe('yielded');
    return store;
  }

  test('a step that does not say `effects: false` is not run, unless it is asked for', async () => {
    const store = await waitingReport();
    const today = report(store, {});
    const found = await checkSessions(today.app);
    expect(verdicts(found)).toEqual([['s', 'unknown', undefined]]);
    expect(found.sessions[0]?.reason).toContain('the step "gather" would run again');
    expect(found.undeclaredSteps).toEqual(['gather', 'publish']);
    expect(today.bodies.count).toBe(0);
    expect(verdicts(await checkSessions(today.app, { runSteps: true }))).toEqual([
      ['s', 'goes_on', undefined],
    ]);
    expect(today.bodies.count).toBe(1);
  });

  test('a declared step is run in a copy: the same calls go on, others are refused', async () => {
    const store = await waitingReport();
    const same = report(store, { effects: false });
    expect(verdicts(await checkSessions(same.app))).toEqual([['s', 'goes_on', undefined]]);
    const other = report(store, { effects: false, ask: 'second' });
    expect(verdicts(await checkSessions(other.app, { patienceMs: 20 }))).toEqual([
      ['s', 'refused', 'ledger_mismatch'],
    ]);
    const renamed = report(store, { effects: false, partName: 'collect' });
    expect(verdicts(await checkSessions(renamed.app, { runSteps: true }))).toEqual([
      ['s', 'refused', 'ledger_mismatch'],
    ]);
  });

  test('a body that hangs is not known', async () => {
    const store = await waitingReport();
    const gather = step({
      name: 'gather',
      effects: false,
      execute: () => new Promise<undefined>(() => undefined),
    });
    const all = sequence({ name: 'report', runnables: [gather] });
    const app = runtime({ app: 'shop', store, runnables: [all], recover: 'manual' });
    const found = await checkSessions(app, { patienceMs: 20 });
    expect(verdicts(found)).toEqual([['s', 'unknown', undefined]]);
  });
});

test('a step that asks and sleeps goes on, also where it asks no more', async () => {
  const store = keptOpen(memoryStore());
  const made = (isAsking: boolean) => {
    // Keys of waits are names of their own.
    const nap = step({ name: 'nap', execute: () => undefined });
    const publish = step({
      name: 'publish',
      effects: false,
      execute: async (ctx) => {
        if (!isAsking) return ctx.complete('Published');
        const { approved } = await ctx.ask('publish', { message: 'Publish?', approval: true });
        await ctx.sleep('nap', 60_000);
        return ctx.complete(approved);
      },
    });
    const app = runtime({ app: 'news', store, runnables: [publish, nap], recover: 'manual' });
    return { app, publish };
  };
  const { app, publish } = made(true);
  const { pendingCalls } = await app.run(publish, { session: 's' });
  const goesOn = [['s', 'goes_on', undefined]];
  expect(verdicts(await checkSessions(made(true).app))).toEqual(goesOn);
  // The question is withdrawn then.
  expect(verdicts(await checkSessions(made(false).app))).toEqual(goesOn);
  await app.requests.approve(pendingCalls[0]?.requestId ?? '', { by: 'user:ann' });
  expect((await app.resume('s')).sleepsUntil).toBeDefined();
  expect(verdicts(await checkSessions(made(true).app))).toEqual(goesOn);
});

test('an approval in an agent that another one has called is tried too', async () => {
  const store = keptOpen(memoryStore());
  const made = (toolName: string) => {
    const { clerk } = shop(store, { toolName });
    const model = scriptedModel([
      { toolCalls: [{ name: 'clerk', args: { message: 'Pay 3' } }] },
      { text: 'Done' },
    ]);
    const boss = agent({ name: 'boss', model, tools: [agentTool(clerk)] });
    return { boss, app: runtime({ app: 'shop', store, runnables: [boss], recover: 'manual' }) };
  };
  const { boss, app } = made('pay');
  expect((await app.run(boss, { session: 's', input: 'Go' })).status).toBe('yielded');
  expect(verdicts(await checkSessions(made('pay').app))).toEqual([['s', 'goes_on', undefined]]);
  const found = await checkSessions(made('transfer').app);
  expect(verdicts(found)).toEqual([['s', 'refused', 'ledger_mismatch']]);
});

test('a run that was stopped goes on up to its next model call, and no further', async () => {
  const store = keptOpen(memoryStore());
  let asked = 0;
  const model = scriptedModel([
    () => {
      asked += 1;
      return { text: 'Late' };
    },
  ]);
  const clerk = agent({ name: 'clerk', model });
  const app = runtime({ app: 'shop', store, runnables: [clerk], recover: 'manual' });
  const run = app.run(clerk, { session: 's', input: 'Hello' });
  await run.accepted();
  await run.stop();
  await run.catch(() => undefined);
  const before = asked;
  expect(verdicts(await checkSessions(app))).toEqual([['s', 'goes_on', undefined]]);
  expect(asked).toBe(before);
});

test('wrong options and something else than an app are refused', async () => {
  const { app } = shop(keptOpen(memoryStore()));
  await expect(checkSessions(app, { runSteps: 1 as unknown as boolean })).rejects.toThrow(
    /`runSteps` must be true or false/,
  );
  await expect(checkSessions({} as never)).rejects.toThrow(
    /it needs the app that has today's code/,
  );
  expect(() => step({ name: 'x', execute: () => undefined, effects: true as never })).toThrow(
    /`effects` must be false/,
  );
  const aborted = AbortSignal.abort(new Error('enough'));
  const store = await waitingShop();
  await expect(checkSessions(shop(store).app, { signal: aborted })).rejects.toThrow('enough');
});
