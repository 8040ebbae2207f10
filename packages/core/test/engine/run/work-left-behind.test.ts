import { agent, memoryStore, runtime, step, tool } from 'adjutant';
import { eventually, keptOpen, roundModel, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const open = { type: 'object' } as const;
const approved = tool({
  name: 'approved',
  description: 'Needs an approval',
  schema: open,
  approval: true,
  execute: () => 'done',
});

/** An agent that calls two tools one after the other, and ends. */
function inTurn(name: string, first: ReturnType<typeof tool>, second: ReturnType<typeof tool>) {
  return agent({
    name,
    model: scriptedModel([
      { toolCalls: [{ name: first.name, args: {} }] },
      { toolCalls: [{ name: second.name, args: {} }] },
      { text: `${name} is done` },
    ]),
    tools: [first, second],
  });
}

function slowTool(name: string) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const made = tool({
    name,
    description: 'Takes its time',
    schema: open,
    execute: async () => {
      begin();
      await ended;
      return 'done';
    },
  });
  return { made, begun, end };
}

test('a dispatched child that waits beside a later turn of its run uses its answer', async () => {
  const [early, late] = [slowTool('early'), slowTool('late')];
  const beside = inTurn('beside', early.made, approved);
  const main = inTurn('main', approved, late.made);
  const root = step({
    name: 'root',
    execute: async (ctx) => {
      ctx.dispatch(beside, { key: 'beside', message: 'Go' });
      await ctx.call(main, { key: 'main', message: 'Go' });
    },
  });
  const runnables = [root, beside, main];
  const app = runtime({ app: 'left', store: memoryStore(), runnables });
  const session = await app.sessions.open({ id: 's' });
  const approve = async (name: string): Promise<void> => {
    const find = () =>
      session.events.find((event) => event.type === 'tool_yield' && event.request.agent === name);
    await eventually(() => find() !== undefined);
    await session.flush();
    const asked = find();
    const requestId = asked?.type === 'tool_yield' ? asked.requestId : '';
    await app.requests.answer(requestId, { by: 'user:ann', decision: 'approve' });
  };
  const ended = (end: string): Promise<unknown> =>
    eventually(() =>
      session.events.some(
        ({ invocationId, type }) =>
          type === 'invocation_end' && invocationId?.endsWith(end) === true,
      ),
    );
  // The root waits, and its dispatched child goes on.
  expect((await app.run(root, { session })).status).toBe('yielded');
  await early.begun;
  // A later turn of the run works, while the child of the first turn begins to wait.
  await approve('main');
  const resumed = app.resume('s');
  await late.begun;
  early.end();
  await approve('beside');
  await ended('/beside');
  late.end();
  await ended('/main');
  expect((await resumed).status).toBe('completed');
  await app.close();
});

test('a spawned child that an edited body has left behind is continued', async () => {
  const child = agent({
    name: 'child',
    model: scriptedModel([{ toolCalls: [{ name: 'approved', args: {} }] }, { text: 'Done' }]),
    tools: [approved],
  });
  const bodyThat = (spawns: boolean) =>
    step({
      name: 'root',
      execute: async (ctx) => {
        if (spawns) await ctx.spawn(child, { message: 'Go' }).wait();
      },
    });
  const store = memoryStore();
  const root = bodyThat(true);
  const before = runtime({ app: 'left', store: keptOpen(store), runnables: [root, child] });
  const waiting = await before.run(root, { session: 's' });
  expect(waiting.status).toBe('yielded');
  await before.close();
  const edited = bodyThat(false);
  const after = runtime({ app: 'left', store, runnables: [edited, child], recover: 'auto' });
  const [asked] = await after.requests.list({ status: 'pending' });
  await after.requests.answer(asked?.requestId ?? '', { by: 'user:ann', decision: 'approve' });
  const session = await after.sessions.open({ id: 's' });
  await eventually(() =>
    session.events.some(
      (event) =>
        event.type === 'invocation_end' &&
        event.invocationId.includes('/child') &&
        event.status === 'completed',
    ),
  );
  const end = session.events.find(
    (event) => event.type === 'invocation_end' && !event.invocationId.includes('/'),
  );
  expect(end).toMatchObject({ status: 'error', error: { code: 'orphaned_child' } });
  await after.close();
});

test('dispatched work that edited code cannot continue is told to the caller', async () => {
  const child = () =>
    agent({
      name: 'child',
      model: roundModel([{ toolCalls: [{ name: 'approved', args: {} }] }, { text: 'Done' }]),
      tools: [approved],
    });
  const codeThatSays = (message: string) => {
    const asks = child();
    const beside = step({
      name: 'beside',
      execute: async (ctx) => void (await ctx.call(asks, { key: 'ask', message })),
    });
    const root = step({
      name: 'root',
      execute: async (ctx) => {
        ctx.dispatch(beside, { key: 'beside' });
        await ctx.call(asks, { key: 'own', message: 'Go' });
      },
    });
    return { root, runnables: [root, beside, asks] };
  };
  const store = memoryStore();
  const { root, runnables } = codeThatSays('Go');
  const before = runtime({ app: 'left', store: keptOpen(store), runnables });
  expect((await before.run(root, { session: 's' })).status).toBe('yielded');
  await before.close();
  const edited = codeThatSays('Go in another way');
  const after = runtime({ app: 'left', store, runnables: edited.runnables, recover: 'manual' });
  const [asked] = await after.requests.list({ status: 'pending' });
  await after.requests.answer(asked?.requestId ?? '', { by: 'user:ann', decision: 'approve' });
  await expect(after.resume('s')).rejects.toMatchObject({ code: 'ledger_mismatch' });
  await after.close();
});
