import {
  type Agent,
  agent,
  type BodyContext,
  type Event,
  memoryStore,
  type Runnable,
  runtime,
  type Step,
  type Store,
  step,
  type Tool,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fastClock } from './fast-clock.ts';

interface Done {
  readonly did: string[];
  readonly payer: Agent;
}

/** An agent that pays what its message says, once somebody has allowed it. */
function paying(): Done {
  const did: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ m: z.string() }),
    approval: true,
    execute: ({ args }) => {
      did.push(`paid ${args.m}`);
      return 'paid';
    },
  });
  const model = scriptedModel((prompt) => {
    did.push('model');
    if (prompt.some(({ role }) => role === 'tool')) return { text: 'done' };
    return {
      toolCalls: [{ name: 'pay', args: { m: /v\d/.exec(JSON.stringify(prompt))?.[0] ?? '' } }],
    };
  });
  return { did, payer: agent({ name: 'B', tools: [pay], model }) };
}

type Ask = (ctx: BodyContext, payer: Agent, message: string) => Promise<unknown>;

const byCall: Ask = async (ctx, payer, message) => (await ctx.call(payer, { message })).output;

/** A step that has something paid and does something else afterwards. */
function spender(
  { did, payer }: Done,
  message: string,
  options: { readonly ask?: Ask; readonly onDrift?: 'accept' } = {},
): Step {
  const { ask = byCall, onDrift } = options;
  return step({
    name: 'S',
    ...(onDrift === undefined ? {} : { onDrift }),
    execute: async (ctx) => {
      await ask(ctx, payer, message);
      await ctx.effect('after', () => {
        did.push('after');
        return 1;
      });
      return ctx.complete('spent');
    },
  });
}

function app(store: Store, runnables: readonly Runnable[]) {
  return runtime({
    app: 'spending',
    store: keptOpen(store),
    runnables,
    recover: 'manual',
    ports: { clock: fastClock() },
  });
}

async function eventsOf(of: ReturnType<typeof app>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of of.sessions.events('s')) events.push(event as Event);
  return events;
}

/** A run whose step waits for the approval of 'v1'. */
async function waiting(store: Store, options: Parameters<typeof spender>[2] = {}) {
  const done = paying();
  const first = app(store, [spender(done, 'v1', options), done.payer]);
  await first.run(spender(done, 'v1', options), { session: 's', runId: 'run' });
  const [question] = await first.requests.listPendingApprovals();
  const events = await eventsOf(first);
  await first.close();
  return { requestId: question?.requestId ?? '', events };
}

const detaching: Ask = async (ctx, payer, message) => ctx.dispatch(payer, { message });
const spawning: Ask = async (ctx, payer, message) => ctx.spawn(payer, { message }).wait();
const spawningOnly: Ask = async (ctx, payer, message) => ctx.spawn(payer, { message });

test.each([
  ['call', byCall],
  ['spawn and wait', spawning],
  ['spawn', spawningOnly],
] as const)(
  'B20: a step that passes another input to %s is refused before anything is called, and ' +
    'the ledger stays as it is',
  async (_, ask) => {
    const store = memoryStore();
    const { requestId, events } = await waiting(store, { ask });
    const done = paying();
    const edited = app(store, [spender(done, 'v2', { ask }), done.payer]);
    const refused = await edited.resume('s').then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(done.did).toEqual([]);
    expect(refused).toMatchObject({
      code: 'ledger_mismatch',
      data: { path: 'run', recorded: expect.stringContaining('run/B#') },
    });
    expect(String(refused)).toContain("`onDrift: 'accept'`");
    expect(String(refused)).toContain('`key`');
    expect((await eventsOf(edited)).slice(0, events.length)).toEqual(events);
    expect((await eventsOf(edited)).slice(events.length).map(({ type }) => type)).toEqual([]);
    await edited.close();

    const restored = paying();
    const again = app(store, [spender(restored, 'v1', { ask }), restored.payer]);
    await again.requests.answer(requestId, { decision: 'approve' });
    expect(await again.resume('s')).toMatchObject({ status: 'completed' });
    expect(restored.did).toEqual(expect.arrayContaining(['paid v1']));
    await again.close();
  },
);

test(
  'B20: what an edited step dispatches in the place of something open is refused before it ' +
    'begins',
  async () => {
    const store = memoryStore();
    const stuck = step({ name: 'stuck', execute: () => new Promise<undefined>(() => undefined) });
    const define = (ask: Ask) => spender({ ...paying() }, 'v1', { ask });
    const first = app(store, [
      define(async (ctx, payer) => {
        ctx.dispatch(payer, { message: 'v1' });
        await ctx.call(stuck);
      }),
      stuck,
    ]);
    const done = paying();
    const root = spender(done, 'v1', {
      ask: async (ctx, payer) => {
        ctx.dispatch(payer, { message: 'v1' });
        await ctx.call(stuck);
      },
    });
    await first.close();
    const opened = app(store, [root, stuck, done.payer]);
    const run = opened.run(root, { session: 's', runId: 'run' });
    await expect.poll(async () => (await opened.requests.listPendingApprovals()).length).toBe(1);
    run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    await run.settled();
    await opened.close();

    const later = paying();
    const edited = app(store, [spender(later, 'v2', { ask: detaching }), stuck, later.payer]);
    await expect(edited.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
    expect(later.did).toEqual([]);
    expect((await edited.requests.listPendingApprovals()).length).toBe(1);
    await edited.close();
  },
);

test(
  'B20: a step that accepts drift goes on with the new input, and the old question is ' +
    'withdrawn with a decision',
  async () => {
    const store = memoryStore();
    const { requestId } = await waiting(store);
    const done = paying();
    const edited = app(store, [spender(done, 'v2', { onDrift: 'accept' }), done.payer]);
    expect(await edited.resume('s')).toMatchObject({ status: 'yielded' });
    const open = await edited.requests.listPendingApprovals();
    const other = open.find((request) => request.requestId !== requestId);
    await edited.requests.answer(other?.requestId ?? '', { decision: 'approve' });
    expect(await edited.resume('s')).toMatchObject({ status: 'completed', output: 'spent' });
    expect(done.did.filter((what) => what !== 'model')).toEqual(['paid v2', 'after']);
    expect(await edited.requests.listPendingApprovals()).toEqual([]);
    expect(await edited.requests.get(requestId)).toMatchObject({ status: 'withdrawn' });
    const decisions = (await eventsOf(edited)).filter(
      (event) => event.type === 'decision' && event.component === 'request',
    );
    expect(decisions).toMatchObject([
      {
        decision: 'withdraw',
        data: { requestId },
        reasoning: expect.stringContaining('"run" has ended'),
      },
    ]);
    await expect(edited.requests.answer(requestId, { decision: 'approve' })).rejects.toMatchObject({
      code: 'request_settled',
    });
    await edited.close();
  },
);

test.each([
  ['fails', (): Promise<unknown> => Promise.reject(new Error('edited'))],
  ['asks for nothing', (): Promise<unknown> => Promise.resolve(undefined)],
] as const)('B20: a question is withdrawn when the edited step %s', async (_, ask) => {
  const store = memoryStore();
  const { requestId } = await waiting(store);
  const done = paying();
  const edited = app(store, [spender(done, 'v1', { ask }), done.payer]);
  expect(await edited.resume('s')).toMatchObject({ status: 'error' });
  expect(await edited.requests.get(requestId)).toMatchObject({ status: 'withdrawn' });
  expect(await edited.requests.listPendingApprovals()).toEqual([]);
  await edited.close();
});

test(
  'B20: a question is cancelled when the step that no longer asks for it is cancelled while ' +
    'it works',
  async () => {
    const store = memoryStore();
    const { requestId } = await waiting(store);
    const done = paying();
    const begun = Promise.withResolvers<void>();
    const ask: Ask = async (ctx) => {
      begun.resolve();
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    };
    const edited = app(store, [spender(done, 'v1', { ask }), done.payer]);
    const run = edited.resume('s');
    await begun.promise;
    run.cancel();
    expect(await run).toMatchObject({ status: 'cancelled' });
    expect(await edited.requests.get(requestId)).toMatchObject({ status: 'cancelled' });
    await edited.close();
  },
);

test(
  'B20: a tool that calls another agent than the one that waits is refused, and one that ' +
    'fails first leaves no question behind',
  async () => {
    const store = memoryStore();
    const asking = ({ did, payer }: Done, message: string | undefined): Agent => {
      const delegate: Tool = tool({
        name: 'delegate',
        description: 'Delegates',
        schema: z.object({}),
        recovery: 'report',
        execute: async (ctx): Promise<string> => {
          if (message === undefined) throw new Error('edited');
          const called = await ctx.call(payer, { message });
          did.push('after');
          return String(called.output);
        },
      });
      const model = scriptedModel((prompt) => {
        did.push('boss');
        return prompt.some(({ role }) => role === 'tool')
          ? { text: 'over' }
          : { toolCalls: [{ name: 'delegate', args: {} }] };
      });
      return agent({ name: 'boss', tools: [delegate], model });
    };
    const started = paying();
    const first = app(store, [asking(started, 'v1'), started.payer]);
    await first.run(asking(started, 'v1'), { session: 's', runId: 'run', input: 'Go' });
    const [question] = await first.requests.listPendingApprovals();
    await first.close();

    const done = paying();
    const edited = app(store, [asking(done, 'v2'), done.payer]);
    await expect(edited.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
    expect(done.did).toEqual([]);
    expect(await edited.requests.listPendingApprovals()).toHaveLength(1);
    await edited.close();

    const broken = paying();
    const failing = app(store, [asking(broken, undefined), broken.payer]);
    expect(await failing.resume('s')).toMatchObject({ status: 'completed' });
    expect(broken.did).toEqual(['boss']);
    expect(await failing.requests.get(question?.requestId ?? '')).toMatchObject({
      status: 'withdrawn',
    });
    await failing.close();
  },
);

test(
  'B20: a step that calls an agent of another name with the same input is refused, and says ' +
    'that the answer is not used',
  async () => {
    const store = memoryStore();
    const { requestId } = await waiting(store);
    const done = paying();
    const renamed = agent({ name: 'B2', tools: done.payer.tools, model: done.payer.model });
    const edited = app(store, [spender({ did: done.did, payer: renamed }, 'v1'), renamed]);
    await edited.requests.answer(requestId, { decision: 'approve', by: 'ann' });
    await expect(edited.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
    expect(done.did).toEqual([]);
    const decisions = (await eventsOf(edited)).filter((event) => event.type === 'decision');
    expect(decisions).toMatchObject([
      { component: 'request', decision: 'unusable', data: { requestId } },
    ]);
    await edited.close();
  },
);

test(
  'B20: an effect under another key waits for the open one that the code no longer asks for, ' +
    'and is refused',
  async () => {
    const store = memoryStore();
    const did: string[] = [];
    const define = (key: string, work: () => Promise<number>) =>
      step({ name: 'S', execute: async (ctx) => ctx.complete(await ctx.effect(key, work)) });
    const begun = Promise.withResolvers<void>();
    const hanging = define('pay', () => {
      begun.resolve();
      return new Promise<number>(() => undefined);
    });
    const first = app(store, [hanging]);
    const run = first.run(hanging, { session: 's', runId: 'run' });
    await begun.promise;
    run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    await run.settled();
    await first.close();
    const renamed = define('pay2', async () => {
      did.push('paid');
      return 1;
    });
    const edited = app(store, [renamed]);
    await expect(edited.resume('s')).rejects.toMatchObject({
      code: 'ledger_mismatch',
      data: { recorded: 'the open effect "run/pay"' },
    });
    expect(did).toEqual([]);
    await edited.close();
  },
);
