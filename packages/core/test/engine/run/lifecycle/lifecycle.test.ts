import {
  agent,
  type LifecycleOptions,
  loop,
  memoryStore,
  type Runnable,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { eventually, scriptedModel } from 'adjutant/testing';
import { runTree, transcript } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { clerkOf, ends } from './clerk.ts';

/** A runtime with a lifecycle that notes what is called. */
function noted(lifecycle: LifecycleOptions = {}, runnables: readonly Runnable[] = []) {
  const calls: string[] = [];
  const app = runtime({
    app: 'lifecycle',
    store: memoryStore(),
    recover: 'manual',
    runnables,
    lifecycle: {
      prepare: async (ctx, run) => {
        calls.push(`prepare ${run.runnable} ${run.input}`);
        await lifecycle.prepare?.(ctx, run);
      },
      admit: (ctx, run) => {
        calls.push('admit');
        return lifecycle.admit?.(ctx, run);
      },
      postProcess: async (ctx, run) => {
        calls.push(`after ${run.status} ${JSON.stringify(run.output)}`);
        await lifecycle.postProcess?.(ctx, run);
      },
    },
  });
  return { app, calls };
}

test('a run is prepared, let in and followed up, once each and in this order', async () => {
  const { clerk, model } = clerkOf();
  const { app, calls } = noted();
  const run = app.run(clerk, { input: 'Hello', runId: 'r' });
  const { session, output } = await run;
  await run.settled();
  expect(output).toBe('done');
  expect(calls).toEqual(['prepare clerk Hello', 'admit', 'after completed "done"']);
  expect(ends(session.events)).toEqual([
    'r/~prepare completed',
    'r/~admit completed',
    'r completed',
    'r/~postProcess completed',
  ]);
  expect(session.events.some(({ type }) => type === 'invocation_resume')).toBe(false);
  // None of it is in the prompt or in the conversation; the tree shows it.
  expect(model.calls[0]?.prompt).toMatchObject([{ role: 'user', content: [{ text: 'Hello' }] }]);
  expect(transcript(session.events).map(({ kind }) => kind)).toEqual(['user', 'assistant']);
  expect(runTree(session.events)).toMatchObject([
    { path: 'r', children: [{ name: '~prepare' }, { name: '~admit' }, { name: '~postProcess' }] },
  ]);
  // The same run asked for again does nothing again.
  await app.run(clerk, { session, input: 'Hello', runId: 'r' });
  expect(calls).toHaveLength(3);
  await app.close();
});

test(
  'what was prepared is there for a root that is a step, from its first line and when it ' +
    'runs again',
  async () => {
    const seen: unknown[] = [];
    let fails = true;
    const root = step({
      name: 'root',
      execute: (ctx) => {
        seen.push(ctx.state['profile']);
        if (fails) throw new Error('not yet');
        return ctx.complete('fine');
      },
    });
    const { app, calls } = noted({
      prepare: (ctx) => {
        ctx.state['profile'] = 'ann';
      },
    });
    const { session, status } = await app.run(root, { runId: 'r' });
    expect(status).toBe('error');
    fails = false;
    await app.sessions.reopen(session, { reason: 'fixed' });
    const resumed = app.resume(session);
    expect(await resumed).toMatchObject({ status: 'completed', output: 'fine' });
    await resumed.settled();
    expect(seen).toEqual(['ann', 'ann']);
    expect(calls).toEqual([
      'prepare root undefined',
      'admit',
      'after error undefined',
      'after completed "fine"',
    ]);
    await app.close();
  },
);

test(
  'what is remembered while a run is prepared is in its prompts, and the data that it was ' +
    'started with is known',
  async () => {
    const { clerk, model } = clerkOf();
    const seen: unknown[] = [];
    const { app } = noted({
      prepare: (ctx, { data }) => {
        seen.push(data);
        ctx.remember('Ann likes tea.');
      },
    });
    await app.run(clerk, { input: 'Hello', data: { order: 17 } });
    expect(seen).toEqual([{ order: 17 }]);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('Remember: Ann likes tea.');
    await app.close();
  },
);

test(
  'a run that is refused ends with the message, without a model call and without anything ' +
    'after it',
  async () => {
    const { clerk, model } = clerkOf();
    const { app, calls } = noted({
      admit: (_ctx, { input }) => (input === 'Hello' ? { refuse: 'We are closed.' } : undefined),
    });
    const run = app.run(clerk, { input: 'Hello', runId: 'r' });
    const result = await run;
    await run.settled();
    expect(result).toMatchObject({
      status: 'completed',
      output: 'We are closed.',
      stopReason: 'refused',
      rounds: 0,
    });
    expect(model.calls).toHaveLength(0);
    expect(calls).toEqual(['prepare clerk Hello', 'admit']);
    const { events } = result.session;
    expect(events.filter(({ type }) => type === 'decision')).toMatchObject([
      { component: 'lifecycle', decision: 'refuse', invocationId: 'r' },
    ]);
    expect(transcript(events)).toMatchObject([
      { kind: 'user' },
      { kind: 'assistant', agent: 'clerk', text: 'We are closed.' },
    ]);
    // The next run of the session is asked about anew.
    expect(await app.run(clerk, { session: result.session, input: 'Please' })).toMatchObject({
      output: 'done',
    });
    await app.close();
  },
);

test.for([false, 'no', {}, { refuse: '' }])(
  'admit that returns %j lets nobody in',
  async (given) => {
    const { clerk, model } = clerkOf();
    const { app } = noted({ admit: () => given as true });
    const result = await app.run(clerk, 'Hello');
    expect(result).toMatchObject({ status: 'error', error: { code: 'invalid_admission' } });
    expect(model.calls).toHaveLength(0);
    await app.close();
  },
);

test('a preparation that throws ends the run; reopened, it is prepared again', async () => {
  const { clerk, model } = clerkOf();
  let isDown = true;
  const { app, calls } = noted({
    prepare: () => {
      if (isDown) throw new Error('The profiles cannot be read.');
    },
  });
  const { session, ...failed } = await app.run(clerk, { input: 'Hello', runId: 'r' });
  expect(failed).toMatchObject({
    status: 'error',
    error: { message: 'The profiles cannot be read.' },
  });
  expect(model.calls).toHaveLength(0);
  isDown = false;
  await app.sessions.reopen(session, { reason: 'it is up again' });
  const resumed = app.resume(session);
  expect(await resumed).toMatchObject({ status: 'completed', output: 'done' });
  await resumed.settled();
  expect(calls).toEqual([
    'prepare clerk Hello',
    'prepare clerk Hello',
    'admit',
    'after completed "done"',
  ]);
  await app.close();
});

test(
  'what comes after a run works behind its result, and its failure ' + 'changes nothing',
  async () => {
    const { clerk } = clerkOf(['one', 'two']);
    const gate = Promise.withResolvers<void>();
    const { app } = noted({
      postProcess: async (ctx) => {
        await gate.promise;
        ctx.state['seen'] = 1;
        throw new Error('The memory is full.');
      },
    });
    const run = app.run(clerk, { input: 'Hello', runId: 'r' });
    const { session, status, output } = await run;
    expect({ status, output }).toEqual({ status: 'completed', output: 'one' });
    expect(ends(session.events)).not.toContain('r/~postProcess error');
    gate.resolve();
    await run.settled();
    expect(ends(session.events).at(-1)).toBe('r/~postProcess error');
    expect(await app.run(clerk, { session, input: 'Hello', runId: 'r' })).toMatchObject({
      status: 'completed',
      output: 'one',
    });
    expect(await app.run(clerk, { session, input: 'And now?' })).toMatchObject({ output: 'two' });
    await app.close();
  },
);

test(
  'a loop that talks has one preparation and one follow-up, and a sequence and a hand-over ' +
    'too',
  async () => {
    const { clerk } = clerkOf(['one', 'two']);
    const target = step({ name: 'target', execute: (ctx) => ctx.complete('there') });
    const both = sequence({
      name: 'both',
      runnables: [step({ name: 'nothing', execute: () => undefined }), target],
    });
    const { app, calls } = noted({}, [both]);
    const chat = loop({ name: 'chat', runnable: clerk, maxIterations: 2, yields: true });
    const first = await app.run(chat, { input: 'Hello', runId: 'r' });
    expect(first.status).toBe('yielded');
    const second = app.run(chat, { session: first.session, input: 'And?' });
    expect((await second).status).toBe('completed');
    await second.settled();
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['prepare', 'admit', 'after']);
    calls.length = 0;
    const router = step({ name: 'router', execute: () => both });
    const routed = app.run(router, { runId: 'q' });
    const { session } = await routed;
    await routed.settled();
    expect(calls).toEqual(['prepare router undefined', 'admit', 'after completed "there"']);
    expect(ends(session.events)).toEqual([
      ...['q/~prepare completed', 'q/~admit completed', 'q transferred'],
      ...[
        'q>both/nothing completed',
        'q>both/target completed',
        'q>both completed',
        'q/~postProcess completed',
      ],
    ]);
    await app.close();
  },
);

test(
  'a cancelled run and one that failed are not followed up; a run that began without a ' +
    'lifecycle goes on without',
  async () => {
    const waiting = step({
      name: 'waiting',
      execute: (ctx) =>
        new Promise<undefined>((resolve) =>
          ctx.signal.addEventListener('abort', () => resolve(undefined)),
        ),
    });
    const { app, calls } = noted();
    const run = app.run(waiting, { runId: 'r' });
    for await (const event of run)
      if (event.type === 'invocation_start' && event.invocationId === 'r/~admit') break;
    run.cancel('enough');
    expect((await run).status).toBe('cancelled');
    await run.settled();
    expect(calls.some((call) => call.startsWith('after'))).toBe(false);
    const store = memoryStore();
    const { clerk } = clerkOf();
    const ask = sequence({
      name: 'ask',
      runnables: [loop({ name: 'chat', runnable: clerk, maxIterations: 2, yields: true })],
    });
    const before = runtime({ app: 'lifecycle', store, runnables: [ask], recover: 'manual' });
    const { session } = await before.run(ask, { input: 'Hello', session: 's' });
    expect(session.status).toBe('awaiting_input');
    let prepared = 0;
    const after = runtime({
      app: 'lifecycle',
      store,
      runnables: [ask],
      recover: 'manual',
      lifecycle: { prepare: () => void prepared++ },
    });
    await after.run(ask, { session: 's', input: 'And?' });
    expect(prepared).toBe(0);
    await Promise.all([app.close(), before.close()]);
  },
);

test('a worker that does a round at a time has the run followed up as well', async () => {
  const confirm = tool({
    name: 'confirm',
    description: 'Confirms',
    schema: z.object({}),
    approval: true,
    execute: () => 'confirmed',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'confirm', args: {} }] }, { text: 'done' }]);
  const clerk = agent({ name: 'clerk', model, tools: [confirm] });
  const { app, calls } = noted({}, [clerk]);
  const { pendingApprovals } = await app.run(clerk, { input: 'Hello', session: 's' });
  await app.requests.approve(pendingApprovals[0]?.requestId as string);
  for (let steps = 0; (await app.advance('s', { until: 'round' })).status !== 'done'; steps++)
    expect(steps).toBeLessThan(10);
  const session = await app.sessions.open({ id: 's' });
  await eventually(
    () => ends(session.events).some((end) => end.endsWith('~postProcess completed')),
    { what: 'the end of what was dispatched' },
  );
  expect(calls.filter((call) => call.startsWith('after'))).toEqual(['after completed "done"']);
  await app.close();
});

test('a preparation may ask somebody outside, and waits for the answer', async () => {
  const confirm = tool({
    name: 'confirm',
    description: 'Confirms',
    schema: z.object({}),
    approval: true,
    execute: () => 'confirmed',
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'confirm', args: {} }] },
    { text: 'Welcome.' },
  ]);
  const host = agent({ name: 'host', model, tools: [confirm] });
  const { clerk } = clerkOf();
  const { app, calls } = noted(
    {
      prepare: async (ctx) => {
        ctx.state['greeting'] = (await ctx.call(host, { message: 'Who is it?' })).output ?? null;
      },
    },
    [host],
  );
  const waiting = await app.run(clerk, { input: 'Hello', runId: 'r' });
  expect(waiting).toMatchObject({
    status: 'yielded',
    pendingApprovals: [
      { name: 'confirm', invocationId: expect.stringMatching(/^r\/~prepare\/host/) },
    ],
  });
  await app.requests.approve(waiting.pendingApprovals[0]?.requestId as string);
  const resumed = app.resume(waiting.session);
  expect(await resumed).toMatchObject({ status: 'completed', output: 'done' });
  await resumed.settled();
  expect(waiting.session.state['greeting']).toBe('Welcome.');
  expect(calls.slice(-2)).toEqual(['admit', 'after completed "done"']);
  await app.close();
});

test(
  'what comes after a run is cancelled with the session, and the run keeps ' + 'its result',
  async () => {
    const { clerk } = clerkOf();
    const begun = Promise.withResolvers<void>();
    const { app } = noted({
      postProcess: (ctx) => {
        begun.resolve();
        return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
      },
    });
    const run = app.run(clerk, { input: 'Hello', session: 's', runId: 'r' });
    const { session } = await run;
    await begun.promise;
    await app.cancel('s');
    await run.settled();
    expect(ends(session.events).slice(-2)).toEqual(['r completed', 'r/~postProcess cancelled']);
    expect(await app.run(clerk, { session, input: 'Hello', runId: 'r' })).toMatchObject({
      status: 'completed',
      output: 'done',
    });
    await app.close();
  },
);
