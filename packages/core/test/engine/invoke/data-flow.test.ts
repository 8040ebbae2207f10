import {
  agent,
  agentTool,
  type Event,
  loop,
  memoryStore,
  parallel,
  run,
  runtime,
  sequence,
  step,
} from 'adjutant';
import { replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** A step that gives the data that it was started with. */
const showing = (name: string) =>
  step({ name, execute: (ctx) => ctx.complete({ [name]: ctx.input?.data ?? null }) });

const starts = (events: readonly Event[]) =>
  Object.fromEntries(
    events.flatMap((event) =>
      event.type === 'invocation_start'
        ? [[event.invocationId.replace('run/', ''), [event.input?.data, event.inputFrom]]]
        : [],
    ),
  );

describe('in a sequence', () => {
  test('a step has the output of the part before, the first one the data of the run', async () => {
    const job = sequence({ name: 'job', runnables: [showing('a'), showing('b')] });
    const { output, session } = await runtime({ app: 'flow' }).run(job, { data: 7, runId: 'run' });
    expect(output).toEqual({ b: { a: 7 } });
    expect(starts(session.events)).toEqual({
      run: [7, undefined],
      a: [7, 'parent'],
      b: [{ a: 7 }, 'sibling'],
    });
  });

  test('a part without output passes on what it was given', async () => {
    const quiet = step({ name: 'quiet', execute: () => undefined });
    const job = sequence({ name: 'job', runnables: [showing('a'), quiet, showing('b')] });
    expect((await run(job, { data: 7 })).output).toEqual({ b: { a: 7 } });
    const late = sequence({ name: 'late', runnables: [quiet, showing('b')] });
    expect((await run(late, { data: 7 })).output).toEqual({ b: 7 });
    expect((await run(late)).output).toEqual({ b: null });
  });

  test('an answer of an agent is the data of the step behind it', async () => {
    const model = scriptedModel([{ text: 'an answer' }]);
    const writer = agent({ name: 'writer', model });
    const job = sequence({ name: 'job', runnables: [writer, showing('b')] });
    expect((await run(job, 'Write')).output).toEqual({ b: 'an answer' });
  });

  test('the prompts of agents are as before', async () => {
    const first = scriptedModel([{ text: 'one' }]);
    const second = scriptedModel([{ text: 'two' }]);
    const job = sequence({
      name: 'job',
      runnables: [
        showing('a'),
        sequence({ name: 'inner', runnables: [agent({ name: 'first', model: first })] }),
        showing('b'),
        agent({ name: 'second', model: second }),
      ],
    });
    await run(job, 'Hello');
    const user = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
    expect(first.calls[0]?.prompt).toMatchObject([user]);
    expect(second.calls[0]?.prompt).toMatchObject([user, { role: 'user' }]);
    expect(JSON.stringify(second.calls[0]?.prompt)).not.toContain('null');
  });

  test('an agent gets the data only when it declares an input', async () => {
    const model = scriptedModel([{ text: 'fine' }]);
    const typed = agent({ name: 'typed', model, input: z.object({ a: z.number() }) });
    const job = sequence({ name: 'job', runnables: [showing('a'), typed] });
    const { session } = await run(job, { data: 7, runId: 'run' });
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain(String.raw`{\"a\":7}`);
    expect(starts(session.events)['typed']).toEqual([{ a: 7 }, 'sibling']);
  });

  test('data that does not fit the input of the next part ends the sequence', async () => {
    const ran: string[] = [];
    const typed = step({
      name: 'typed',
      input: z.object({ id: z.string() }),
      execute: (ctx) => {
        ran.push(ctx.input.data.id);
      },
    });
    const job = sequence({ name: 'job', runnables: [showing('a'), typed] });
    const { status, error, session } = await run(job, { data: 7, runId: 'run' });
    expect({ status, error }).toMatchObject({
      status: 'error',
      error: {
        code: 'invalid_input',
        message: expect.stringContaining('The data for "typed" does not fit its input: $.id'),
      },
    });
    expect(ran).toEqual([]);
    expect(Object.keys(starts(session.events))).toEqual(['run', 'a']);
  });
});

describe('a step with a schema for its data', () => {
  const typed = step({
    name: 'typed',
    input: z.object({ id: z.string(), count: z.number().default(1) }),
    execute: (ctx) => ctx.complete(ctx.input.data.count),
  });

  test('gets what the schema makes of them', async () => {
    expect((await run(typed, { data: { id: 'a' } })).output).toBe(1);
    const job = sequence({ name: 'job', runnables: [typed] });
    expect((await run(job, { data: { id: 'a', count: 3 } })).output).toBe(3);
  });

  test('fails without data, and is not run with data that do not fit', async () => {
    expect(await run(typed, 'Hello')).toMatchObject({
      status: 'error',
      error: { code: 'invalid_input' },
    });
    await expect(run(typed, { data: { id: 3 } })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('needs a schema that can be used', () => {
    expect(() => step({ name: 's', input: { type: 'text' }, execute: () => undefined })).toThrow(
      'the schema of its `input` is not JSON Schema',
    );
  });

  test('is called as a tool with arguments of its schema', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'typed', args: { id: 'a', count: 4 } }] },
      { text: 'done' },
    ]);
    const caller = agent({ name: 'caller', model, tools: [agentTool(typed)] });
    const { session } = await run(caller, 'Go');
    expect(session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { status: 'success', content: 4 },
    });
  });
});

test('branches of a parallel have its data, and iterations those of the one before', async () => {
  const add = step({ name: 'add', execute: (ctx) => ctx.complete(Number(ctx.input?.data) + 1) });
  const job = sequence({
    name: 'job',
    runnables: [
      loop({ name: 'thrice', runnable: add, maxIterations: 3 }),
      parallel({ name: 'both', runnables: [showing('a'), showing('b')] }),
    ],
  });
  expect((await run(job, { data: 1 })).output).toEqual({ a: { a: 4 }, b: { b: 4 } });
});

test('no branch begins when the data does not fit one of them', async () => {
  const typed = step({ name: 'typed', input: z.string(), execute: () => undefined });
  const both = parallel({ name: 'both', runnables: [showing('a'), typed] });
  const { error, session } = await run(both, { data: 1, runId: 'run' });
  expect(error).toMatchObject({ code: 'invalid_input' });
  expect(Object.keys(starts(session.events))).toEqual(['run']);
});

describe('`ctx.message`', () => {
  const telling = step({ name: 'telling', execute: (ctx) => ctx.complete(ctx.message ?? null) });

  test('is the message of the user that the run began with', async () => {
    const app = runtime({ app: 'flow' });
    const session = await app.sessions.open({ id: 's' });
    const job = sequence({ name: 'job', runnables: [showing('a'), telling] });
    expect((await app.run(job, { session, input: 'First' })).output).toBe('First');
    expect((await app.run(job, { session, input: 'Second' })).output).toBe('Second');
    expect((await app.run(job, { session })).output).toBeNull();
    await app.send('s', 'Left for the next run');
    expect((await app.run(job, { session })).output).toBe('Left for the next run');
  });

  test('is that of the nearest caller that gave one', async () => {
    const inner = sequence({ name: 'inner', runnables: [showing('a'), telling] });
    const outer = step({
      name: 'outer',
      execute: async (ctx) => {
        const called = await ctx.call(inner, { message: 'Of the caller' });
        const silent = await ctx.call(telling);
        return ctx.complete([called.output ?? null, silent.output ?? null]);
      },
    });
    expect((await run(outer, 'Of the user')).output).toEqual(['Of the caller', 'Of the user']);
  });

  test('does not change by a message that comes during the run', async () => {
    const store = memoryStore();
    const app = runtime({ app: 'flow', store, recover: 'manual' });
    const seen: (string | undefined)[] = [];
    const gate = Promise.withResolvers<void>();
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        seen.push(ctx.message);
        if (seen.length > 1) return;
        gate.resolve();
        await new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        );
      },
    });
    const running = app.run(work, { session: 's' });
    await gate.promise;
    await app.send('s', 'Hurry');
    running.stop();
    await running.settled();
    await app.resume(work, 's');
    expect(seen).toEqual([undefined, undefined]);
  });
});

describe('ledgers', () => {
  test('of a stopped sequence go on with the recorded input', async () => {
    const store = memoryStore();
    let value = 1;
    const load = step({ name: 'load', execute: (ctx) => ctx.complete(value) });
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const use = step({
      name: 'use',
      execute: async (ctx) => {
        seen.push(ctx.input?.data);
        if (seen.length > 1) return ctx.complete('used');
        gate.resolve();
        return await new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        );
      },
    });
    const job = sequence({ name: 'job', runnables: [load, use, showing('end')] });
    const first = runtime({ app: 'flow', store, recover: 'manual' });
    const running = first.run(job, { session: 's' });
    await gate.promise;
    running.stop();
    await running.settled();
    value = 2;
    const second = runtime({ app: 'flow', store, recover: 'manual' });
    const { output, session } = await second.resume(job, 's');
    expect({ output, seen }).toEqual({ output: { end: 'used' }, seen: [1, 1] });
    value = 1;
    const report = await replay(session, runtime({ app: 'flow', runnables: [job] }));
    expect(report.divergence).toBeUndefined();
  });

  test('written before data flowed are continued and replayed', async () => {
    const seen: unknown[] = [];
    const use = step({
      name: 'use',
      execute: (ctx) => {
        seen.push(ctx.input?.data);
        return ctx.complete('used');
      },
    });
    const load = step({ name: 'load', execute: (ctx) => ctx.complete('loaded') });
    const job = sequence({ name: 'job', runnables: [load, use, load] });
    const app = runtime({ app: 'flow', runnables: [job] });
    const { session } = await app.run(job, { data: 7, runId: 'run' });
    const old = (id: string, until: number) => ({
      ...session.toJSON(),
      id,
      events: session.events.slice(0, until).map((event) => {
        if (event.type !== 'invocation_start' || event.inputFrom === undefined) return event;
        const { input: _input, inputHash: _hash, inputFrom: _from, ...before } = event;
        return before;
      }),
    });
    seen.length = 0;
    const begun = session.events.findIndex(({ invocationId }) => invocationId === 'run/use');
    const restored = await app.sessions.restore(old('old', begun + 1));
    const { output } = await app.resume(job, restored);
    expect({ output, seen }).toEqual({ output: 'loaded', seen: [undefined] });
    expect(starts(restored.events)['load.2']).toEqual(['used', 'sibling']);
    const whole = await app.sessions.restore(old('whole', session.events.length));
    expect((await replay(whole, app)).divergence).toBeUndefined();
  });
});
