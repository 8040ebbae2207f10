/** The option `model` of a run: another model in the place of the agent's own. */
import { agent, agentTool, memoryStore, runtime, step, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dispatching } from '../../dispatching.ts';

const send = tool({
  name: 'send',
  description: 'Sends a text',
  schema: z.object({ to: z.string() }),
  approval: true,
  execute: ({ args }) => `sent to ${args.to}`,
});

/** An agent whose own model must not be asked. */
function clerk() {
  return agent({ name: 'clerk', model: scriptedModel([]), tools: [send] });
}

/** Models that were asked in a session, in order. */
function asked(events: readonly { readonly type: string; readonly model?: unknown }[]) {
  return events.flatMap(({ type, model }) => (type === 'model_start' ? [model] : []));
}

test('a run is answered by the model that it names, and the ledger says so', async () => {
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk()] });
  const { status, session } = await app.run(clerk(), { input: 'Hello', model: 'rehearsal' });
  expect(status).toBe('completed');
  expect(asked(session.events)).toEqual(['rehearsal:rules']);
  expect(session.events).toContainEqual(
    expect.objectContaining({ type: 'invocation_start', model: 'rehearsal' }),
  );
  expect((await replay(session, app)).divergence).toBeUndefined();
  await app.close();
});

test('a process that goes on with the run asks the same model', async () => {
  const store = memoryStore();
  const processes = [0, 1].map(() =>
    runtime({ app: 'shop', store, runnables: [clerk()], recover: 'manual' }),
  );
  const [here, there] = processes as [(typeof processes)[0], (typeof processes)[0]];
  const input = 'Use send {"to":"anna"}';
  const first = await here.run(clerk(), { session: 's', input, model: 'rehearsal' });
  expect(first.status).toBe('yielded');
  const [request] = await there.requests.list({ status: 'pending' });
  await there.requests.approve(request?.requestId ?? '');
  const { status, session } = await there.resume('s');
  expect(status).toBe('completed');
  expect(asked(session.events)).toEqual(['rehearsal:rules', 'rehearsal:rules']);
  expect((await replay(session, there)).divergence).toBeUndefined();
  await Promise.all([here.close(), there.close()]);
});

test('agents that the run calls keep their own models', async () => {
  const helper = agent({ name: 'helper', model: scriptedModel([{ text: 'Helped.' }]) });
  const lead = agent({ name: 'lead', model: scriptedModel([]), tools: [agentTool(helper)] });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [lead] });
  const input = 'Use helper {"message":"Help"}';
  const { session } = await app.run(lead, { input, model: 'rehearsal' });
  expect(asked(session.events)).toEqual([
    'rehearsal:rules',
    'scripted:scripted',
    'rehearsal:rules',
  ]);
  await app.close();
});

test('a run that is left for the process that has the session keeps its model', async () => {
  const { gate, child, parent } = dispatching();
  const store = memoryStore();
  const process = () =>
    runtime({ app: 'shop', store, runnables: [parent, child, clerk()], recover: 'manual' });
  const [here, there] = [process(), process()];
  const first = here.run(parent, { session: 's', runId: 'first', input: 'Begin' });
  await first;
  const run = there.run(clerk(), { session: 's', input: 'Hello', model: 'rehearsal' });
  await run.accepted();
  gate.resolve();
  await first.settled();
  const { status, session } = await run;
  expect(status).toBe('completed');
  expect(asked(session.events)).toEqual(['rehearsal:rules']);
  await Promise.all([here.close(), there.close()]);
});

test('a name of no model, another runnable and an open run are refused, and nothing is written', async () => {
  const later = step({ name: 'later', execute: (ctx) => ctx.complete('done') });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk(), later] });
  const run = (options: object, runnable: Parameters<typeof app.run>[0] = clerk()) =>
    (async () => app.run(runnable, { session: 's', input: 'Hello', ...options }))();
  await expect(run({ model: 'opnai:gpt-5' })).rejects.toThrow(/opnai/);
  await expect(run({ model: 7 })).rejects.toThrow(/`model`/);
  await expect(run({ model: 'rehearsal' }, later)).rejects.toThrow('`model` is for agents');
  expect((await app.sessions.list()).sessions).toEqual([]);
  await run({ input: 'Use send {"to":"anna"}', model: 'rehearsal' });
  const { seq } = (await app.sessions.list()).sessions[0] ?? {};
  await expect(run({ model: 'rehearsal' })).rejects.toThrow('`model` is what a run begins with');
  expect((await app.sessions.list()).sessions[0]?.seq).toBe(seq);
  await app.close();
});
