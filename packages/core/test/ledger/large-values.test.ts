import {
  agent,
  loop,
  memoryStore,
  parallel,
  run,
  runtime,
  type Session,
  sequence,
  session,
  step,
  tool,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import { isBlobReference } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect, test } from 'vitest';
import { z } from 'zod';

const big = 'x'.repeat(100_000);
/** Large as a whole, of parts that are not. */
const wide = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [`part${i}`, 'y'.repeat(5_000)]),
);
const quiet = z.object({});

function storedSize({ events }: Session): number {
  return Math.max(...events.map((event) => JSON.stringify(event).length));
}

test('a large answer is the output, and the next run sees it whole', async () => {
  const app = runtime({ app: 'large' });
  const model = scriptedModel([{ text: big }, { text: 'short' }]);
  const speaker = agent({ name: 'speaker', model, output: 'said' });
  const first = await app.run(speaker, { input: 'Go', session: 's' });
  expect(first.output).toBe(big);
  expect(first.session.state['said']).toBe(big);
  expect(storedSize(first.session)).toBeLessThan(70_000);
  const second = await app.run(speaker, { input: 'Again', session: 's' });
  expect(canonicalJson(model.calls[1]?.prompt)).toContain(big);
  expect(second.session.state['said']).toBe('short');
});

test(
  'a large message of the user, large arguments and a large result reach model and ' + 'tool whole',
  async () => {
    const seen: unknown[] = [];
    const echo = tool({
      name: 'echo',
      description: 'Echoes',
      schema: z.object({ text: z.string() }),
      execute: ({ args }) => {
        seen.push(args.text);
        return { text: args.text };
      },
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'echo', args: { text: big } }] },
      { text: 'done' },
    ]);
    const result = await run(agent({ name: 'a', model, tools: [echo] }), big);
    expect(seen).toEqual([big]);
    for (const event of result.session.events)
      if (event.type === 'model_start') {
        const { abortSignal: _, ...received } = model.calls[event.round - 1] ?? { prompt: [] };
        expect(
          canonicalJson(
            promptOf(result.session.events, event.seq, result.session.ledger.resolve),
          ) === canonicalJson(received),
        ).toBe(true);
      }
    expect(canonicalJson(model.calls[1]?.prompt).split(big).length - 1).toBe(3);
    expect(storedSize(result.session)).toBeLessThan(70_000);
  },
);

test(
  'a large result is shortened in the prompt for a model with a small window, and stays ' +
    'whole in the ledger',
  async () => {
    const give = tool({ name: 'give', description: 'Gives', schema: quiet, execute: () => big });
    const inner = scriptedModel([{ toolCalls: [{ name: 'give' }] }, { text: 'done' }]);
    const model = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'm',
      settings: {},
      contextWindow: 20_000,
      load: () => inner,
    };
    const result = await run(agent({ name: 'a', model, tools: [give] }), 'Go');
    const prompt = canonicalJson(inner.calls[1]?.prompt);
    expect(prompt).toContain('[...truncated]');
    expect(prompt.length).toBeLessThan(26_000);
    const recorded = result.session.events.find((event) => event.type === 'tool_result');
    expect(
      recorded?.type === 'tool_result' && result.session.ledger.resolve(recorded.result.content),
    ).toBe(big);
  },
);

test.each([
  ['one long text', big],
  ['many short parts', wide],
])('%s goes through steps, calls, parallels, loops and state as it is', async (_name, value) => {
  const take = step({ name: 'take', execute: (ctx) => ctx.complete(ctx.input?.data ?? null) });
  const give = step({ name: 'give', execute: (ctx) => ctx.complete(value) });
  const seen: Record<string, unknown> = {};
  const caller = step({
    name: 'caller',
    execute: async (ctx) => {
      const { output } = await ctx.call(take, { data: value });
      seen['call'] = output;
      ctx.state['kept'] = value;
      seen['own'] = ctx.state['kept'];
      await ctx.call(
        step({
          name: 'reader',
          execute: (inner) => {
            seen['inner'] = inner.state['kept'];
          },
        }),
      );
      seen['after'] = ctx.state['kept'];
      return ctx.complete(output ?? null);
    },
  });
  const result = await run(
    sequence({
      name: 'all',
      runnables: [
        caller,
        parallel({
          name: 'both',
          runnables: [give],
          merge: ({ state }) => ({ merged: state['kept'] }),
        }),
        loop({
          name: 'again',
          runnable: give,
          maxIterations: 2,
          while: ({ output, state }) => {
            seen['loop'] = output ?? value;
            seen['loopState'] = state['kept'];
            return true;
          },
        }),
        parallel({ name: 'last', runnables: [give] }),
      ],
    }),
  );
  expect(result).toMatchObject({ status: 'completed' });
  expect(result.output).toEqual({ give: value });
  expect(seen).toEqual({
    call: value,
    own: value,
    inner: value,
    after: value,
    loop: value,
    loopState: value,
  });
  expect(result.session.state['kept']).toEqual(value);
  expect(result.session.state['merged']).toEqual(value);
  expect(storedSize(result.session)).toBeLessThan(70_000);
});

test(
  'toJSON holds the values, and a copy and a session read from the store ' + 'have them',
  async () => {
    const store = memoryStore();
    const app = runtime({ app: 'large', store });
    const result = await app.run(
      step({
        name: 's',
        execute: (ctx) => {
          ctx.state['kept'] = big;
          return ctx.complete(wide);
        },
      }),
      { session: 's' },
    );
    const snapshot = JSON.parse(JSON.stringify(result.session));
    const restored = await session.fromSnapshot(snapshot);
    expect(restored.state['kept']).toBe(big);
    expect(restored.clone().state['kept']).toBe(big);
    const other = runtime({ app: 'large', store });
    const opened = await other.sessions.open({ id: 's' });
    expect(opened.state['kept']).toBe(big);
    expect(isBlobReference(opened.state['kept'])).toBe(false);
    expect(JSON.parse(JSON.stringify(opened))).toEqual(snapshot);
  },
);

test('a snapshot goes to another app with its large values', async () => {
  const made = await session('one');
  made.state['kept'] = big;
  await made.flush();
  const other = runtime({ app: 'two' });
  const restored = await other.sessions.restore({
    ...JSON.parse(JSON.stringify(made)),
    app: 'two',
  });
  expect(restored.state['kept']).toBe(big);
  const again = await other.run(
    step({ name: 's', execute: (ctx) => ctx.complete(ctx.state['kept'] as string) }),
    { session: restored },
  );
  expect(again.output).toBe(big);
});

test('an open dispatched child with a large input is continued', async () => {
  const store = memoryStore();
  const begun = Promise.withResolvers<void>();
  const wait = step({
    name: 'work',
    execute: (ctx) => {
      begun.resolve();
      return new Promise((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve(undefined)),
      );
    },
  });
  const send = step({
    name: 'send',
    execute: async (ctx) => {
      ctx.dispatch(wait, { data: wide });
      await ctx.call(wait, { data: wide, key: 'near' });
    },
  });
  const first = runtime({ app: 'large', store, runnables: [wait], recover: 'manual' });
  const stopped = first.run(send, { session: 's', runId: 'run' });
  await begun.promise;
  stopped.stop();
  await expect(stopped).rejects.toMatchObject({ code: 'run_stopped' });
  const inputs: unknown[] = [];
  const work = step({
    name: 'work',
    execute: (ctx) => {
      inputs.push(ctx.input?.data);
    },
  });
  const second = runtime({
    app: 'large',
    store,
    runnables: [
      work,
      step({
        name: 'send',
        execute: async (ctx) => {
          ctx.dispatch(work, { data: wide });
          await ctx.call(work, { data: wide, key: 'near' });
        },
      }),
    ],
  });
  expect(await second.resume('s')).toMatchObject({ status: 'completed' });
  expect(inputs).toEqual([wide, wide]);
});

test.each([65_490, 65_505, 65_520, 65_530, 65_540])(
  'a result, an input and a state value of %i characters keep their form',
  async (length) => {
    const text = 'z'.repeat(length);
    const child = step({
      name: 'child',
      execute: (ctx) => ctx.complete(ctx.input?.message === text),
    });
    const give = tool({
      name: 'give',
      description: 'Gives',
      schema: quiet,
      execute: async (ctx) => {
        ctx.state['kept'] = text;
        const { output } = await ctx.call(child, { message: text });
        expect(output).toBe(true);
        return text;
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'give' }] }, { text: 'done' }]);
    const result = await run(agent({ name: 'a', model, tools: [give], output: 'said' }), text);
    expect(result).toMatchObject({ status: 'completed', toolCalls: [{ success: true }] });
    expect(result.session.state['kept']).toBe(text);
    expect(canonicalJson(model.calls[1]?.prompt).split(text).length - 1).toBe(2);
    const copy = await session.fromSnapshot(JSON.parse(JSON.stringify(result.session)));
    expect({ ...copy.state }).toEqual({ ...result.session.state });
  },
);

test(
  'what a tool gives that only looks like a reference stays what it is, also when the ' +
    'session is opened again',
  async () => {
    const store = memoryStore();
    const looksLike = { $blob: 'f'.repeat(64), hash: 'f'.repeat(64), size: 5, preview: '"abc' };
    const give = tool({
      name: 'give',
      description: 'Gives',
      schema: quiet,
      execute: () => looksLike,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'give' }] },
      { text: 'done' },
      { text: 'again' },
    ]);
    const giver = agent({ name: 'a', model, tools: [give] });
    await runtime({ app: 'large', store }).run(giver, { input: big, session: 's' });
    await runtime({ app: 'large', store }).run(giver, { input: 'more', session: 's' });
    expect(canonicalJson(model.calls[2]?.prompt)).toContain(canonicalJson(looksLike));
  },
);
