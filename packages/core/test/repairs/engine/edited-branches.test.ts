import {
  type Agent,
  agent,
  type Event,
  memoryStore,
  runtime,
  type Step,
  type StepContext,
  type Store,
  step,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fastClock } from './fast-clock.ts';

/** An agent that pays once somebody has allowed it. */
function paying(): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = scriptedModel((prompt) =>
    prompt.some(({ role }) => role === 'tool')
      ? { text: 'paid' }
      : { toolCalls: [{ name: 'pay', args: {} }] },
  );
  return agent({ name: 'payer', tools: [pay], model });
}

type Begin = (ctx: StepContext, noter: Agent, message: string) => Promise<unknown>;
type Pause = (ctx: StepContext) => Promise<unknown>;

interface Branches {
  /** Begins the child of the branch that the first process did not come to. */
  readonly begin: Begin;
  /** Passes before the other branch asks for its child, which is open. */
  readonly pause: Pause;
  readonly message: string;
  readonly isHeld?: boolean;
  readonly pays?: boolean;
}

/** A step that has something noted and something paid, each with the same message. */
function branching({ begin, isHeld = false, message, pause, pays = true }: Branches) {
  const did: string[] = [];
  const noter = agent({
    name: 'noter',
    model: scriptedModel(() => {
      did.push(`noted ${message}`);
      return { text: 'noted' };
    }),
  });
  const payer = paying();
  const root: Step = step({
    name: 'S',
    execute: async (ctx) => {
      const note = async (): Promise<void> => {
        if (isHeld) await new Promise(() => undefined);
        await begin(ctx, noter, message);
      };
      const pay = async (): Promise<void> => {
        await pause(ctx);
        await ctx.call(payer, { key: 'pay', message });
      };
      await Promise.all([note(), pays ? pay() : undefined]);
      return ctx.complete('done');
    },
  });
  return { did, root, runnables: [root, noter, payer] };
}

function appOf(store: Store, { runnables }: ReturnType<typeof branching>) {
  return runtime({
    app: 'branches',
    store: keptOpen(store),
    runnables,
    recover: 'manual',
    ports: { clock: fastClock() },
  });
}

async function eventsOf(app: ReturnType<typeof appOf>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of app.sessions.events('s')) events.push(event as Event);
  return events;
}

const called: Begin = (ctx, noter, message) => ctx.call(noter, { key: 'note', message });
const spawned: Begin = (ctx, noter, message) => ctx.spawn(noter, { key: 'note', message }).wait();
const dispatched: Begin = async (ctx, noter, message) =>
  ctx.dispatch(noter, { key: 'note', message });

const atOnce: Pause = async () => undefined;
const soon: Pause = async () => {
  for (let turn = 0; turn < 20; turn++) await undefined;
};
const afterAnEffect: Pause = (ctx) => ctx.effect('price', () => 1);

test.each([
  ['call, before it', called, soon],
  ['spawn, before it', spawned, soon],
  ['dispatch, before it', dispatched, soon],
  ['call, after it', called, atOnce],
  ['spawn, after it', spawned, atOnce],
  ['dispatch, after it', dispatched, atOnce],
  ['call, before a recorded effect and it', called, afterAnEffect],
  ['spawn, before a recorded effect and it', spawned, afterAnEffect],
  ['dispatch, before a recorded effect and it', dispatched, afterAnEffect],
])(
  'a step that passes another input to an open child begins nothing with it: %s',
  async (_, begin, pause) => {
    const store = memoryStore();
    const branches = { begin, pause };
    const before = branching({ ...branches, message: 'v1', isHeld: true });
    const first = appOf(store, before);
    const run = first.run(before.root, { session: 's', runId: 'run' });
    expect(await run).toMatchObject({ status: 'yielded' });
    const [question] = await first.requests.listPendingApprovals();
    const recorded = await eventsOf(first);
    await first.close();

    const after = branching({ ...branches, message: 'v2' });
    const edited = appOf(store, after);
    await expect(edited.resume('s')).rejects.toMatchObject({
      code: 'ledger_mismatch',
      data: { path: 'run/pay' },
    });
    expect(after.did).toEqual([]);
    expect(await eventsOf(edited)).toEqual(recorded);
    await edited.close();

    const again = branching({ ...branches, message: 'v1' });
    const restored = appOf(store, again);
    await restored.requests.answer(question?.requestId ?? '', { decision: 'approve' });
    expect(await restored.resume('s')).toMatchObject({ status: 'completed', output: 'done' });
    expect(again.did).toEqual(['noted v1']);
    await restored.close();
  },
);

test('an edited step that no longer asks for an open child begins another after a while', async () => {
  const store = memoryStore();
  const before = branching({ begin: called, pause: atOnce, message: 'v1', isHeld: true });
  const first = appOf(store, before);
  await first.run(before.root, { session: 's', runId: 'run' });
  await first.close();

  const after = branching({ begin: called, pause: atOnce, message: 'v1', pays: false });
  const edited = appOf(store, after);
  expect(await edited.resume('s')).toMatchObject({
    status: 'error',
    error: { code: 'orphaned_child' },
  });
  expect(after.did).toEqual(['noted v1']);
  await edited.close();
});
