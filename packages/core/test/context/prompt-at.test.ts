import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  agent,
  agentTool,
  memoryStore,
  parallel,
  runtime,
  type Session,
  sequence,
  tool,
  toolResult,
} from 'adjutant';
import { promptAt, promptOf } from 'adjutant/context';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect, test } from 'vitest';
import { z } from 'zod';

interface Recording {
  readonly calls: readonly object[];
}

const app = () => runtime({ app: 'exact', store: memoryStore() });
const page = tool({
  name: 'page',
  description: 'Gives a page',
  recovery: 'rerun',
  schema: z.object({ n: z.number() }),
  execute: ({ args }) => `page ${args.n} ${'text '.repeat(200)}`,
});
const paging =
  (rounds: number) =>
  (_prompt: LanguageModelV4Prompt, answered: number): ScriptedResponse =>
    answered < rounds ? { toolCalls: [{ name: 'page', args: { n: answered } }] } : { text: 'done' };

const bytesOf = (call: object): string =>
  canonicalJson(
    JSON.parse(JSON.stringify({ ...call, abortSignal: undefined, headers: undefined })),
  );

/**
 * Every call of the session against what the models received, in the order in which each received
 * it.
 */
function expectExact(session: Session, models: readonly Recording[]): void {
  const starts = session.events.filter(({ type }) => type === 'model_start');
  const shown = starts.map((_start, index) => bytesOf(promptAt(session, index + 1)));
  const received = models.flatMap(({ calls }) => calls.map(bytesOf));
  expect(shown.length).toBeGreaterThan(0);
  if (models.length === 1) expect(shown).toEqual(received);
  else expect(shown.toSorted()).toEqual(received.toSorted());
}

const scenarios: Readonly<
  Record<
    string,
    () => Promise<{ session: Session; models: readonly Recording[]; expected?: string }>
  >
> = {
  'a plain run': async () => {
    const model = scriptedModel((_prompt, call) => paging(3)([], call));
    const { session } = await app().run(agent({ name: 'a', model, tools: [page] }), 'Go');
    return { session, models: [model] };
  },
  'after trimming': async () => {
    const scripted = scriptedModel(paging(25), { contextWindow: 2_500 });
    const { session } = await app().run(
      agent({ name: 'a', model: scripted, tools: [page], maxSteps: 40 }),
      'Go',
    );
    return { session, models: [scripted], expected: 'compaction' };
  },
  'after summaries': async () => {
    const scripted = scriptedModel(paging(25), { contextWindow: 2_500 });
    const summary = scriptedModel([], { defaultResponse: { text: 'Pages.' }, modelId: 'summary' });
    const reader = agent({
      name: 'a',
      model: scripted,
      tools: [page],
      maxSteps: 40,
      compaction: { model: summary },
    });
    const { session } = await app().run(reader, 'Go');
    return { session, models: [scripted, summary], expected: 'compaction' };
  },
  'after recovery from refused prompts': async () => {
    const scripted = scriptedModel(paging(30), { contextWindow: 3_000, isWindowKnown: false });
    const { session } = await app().run(
      agent({ name: 'a', model: scripted, tools: [page], maxSteps: 40 }),
      'Go',
    );
    expect(scripted.refused).toBeGreaterThan(0);
    return { session, models: [scripted], expected: 'compaction' };
  },
  'in a second run of a session that was compacted': async () => {
    const scripted = scriptedModel(
      (prompt, answered) => (answered === 12 ? { text: 'first' } : paging(30)(prompt, answered)),
      {
        contextWindow: 2_500,
      },
    );
    const reader = agent({ name: 'a', model: scripted, tools: [page], maxSteps: 40 });
    const desk = app();
    await desk.run(reader, { session: 's', input: 'Go' });
    const { session } = await desk.run(reader, { session: 's', input: 'More' });
    return { session, models: [scripted], expected: 'compaction' };
  },
  'in a fork of a session that was compacted': async () => {
    const scripted = scriptedModel(
      (prompt, answered) => (answered === 20 ? { text: 'first' } : paging(30)(prompt, answered)),
      {
        contextWindow: 2_500,
      },
    );
    const reader = agent({ name: 'a', model: scripted, tools: [page], maxSteps: 40 });
    const desk = app();
    await desk.run(reader, { session: 's', input: 'Go' });
    const fork = await desk.sessions.fork('s', { id: 'fork' });
    const { session } = await desk.run(reader, { session: fork, input: 'Otherwise' });
    return { session, models: [scripted], expected: 'compaction' };
  },
  'in a run that was resumed in the middle': async () => {
    const scripted = scriptedModel(
      (prompt) => {
        const next =
          Math.max(
            -1,
            ...[...JSON.stringify(prompt).matchAll(/page (\d+)/g)].map(([, n]) => Number(n)),
          ) + 1;
        return next < 12 ? { toolCalls: [{ name: 'page', args: { n: next } }] } : { text: 'done' };
      },
      { contextWindow: 2_500 },
    );
    const reader = agent({ name: 'a', model: scripted, tools: [page] });
    const { session } = await app().run(reader, { input: 'Go', runId: 'run' });
    const cut = session.events.findIndex(({ type }) => type === 'compaction') + 1;
    const made = session.events.slice(0, cut).filter(({ type }) => type === 'model_start').length;
    const again = runtime({ app: 'exact', store: memoryStore(), runnables: [reader] });
    const restored = await again.sessions.restore({
      ...session.toJSON(),
      events: session.events.slice(0, cut),
    });
    const before = scripted.calls.length;
    await again.resume(restored);
    return {
      session: restored,
      models: [{ calls: [...scripted.calls.slice(0, made), ...scripted.calls.slice(before)] }],
      expected: 'compaction',
    };
  },
  'with a hook that changes the prompt': async () => {
    const model = scriptedModel((_prompt, call) => paging(3)([], call));
    const hooked = agent({
      name: 'a',
      model,
      tools: [page],
      hooks: {
        beforeModel: (_ctx, prompt) =>
          prompt.append({ type: 'synthetic', role: 'user', text: `Round ${prompt.round}` }),
      },
    });
    const { session } = await app().run(hooked, 'Go');
    expect(JSON.stringify(model.calls[1])).toContain('Round 2');
    return { session, models: [model] };
  },
  'with facts, doubts and failures': async () => {
    const odd = tool({
      name: 'page',
      description: 'Fails and remembers',
      schema: z.object({ n: z.number() }),
      execute: (ctx) => {
        ctx.remember(`Read ${ctx.args.n}`, { key: 'progress' });
        return ctx.args.n === 1
          ? toolResult.permanent('No such page', {
              errorType: 'http_404',
              alternatives: ['search'],
            })
          : { found: ctx.args.n };
      },
    });
    const model = scriptedModel((_prompt, call) => paging(4)([], call));
    const { session } = await app().run(agent({ name: 'a', model, tools: [odd] }), 'Go');
    return { session, models: [model], expected: 'memory' };
  },
  'in branches, sequences and agents that tools call': async () => {
    const models = Array.from({ length: 4 }, () =>
      scriptedModel((_prompt, call) => paging(2)([], call)),
    );
    const [left, right, inner] = models.map((model, index) =>
      agent({ name: `a${index}`, model, tools: [page] }),
    );
    if (left === undefined || right === undefined || inner === undefined)
      throw new Error('Three agents are needed.');
    const outerModel = scriptedModel([
      { toolCalls: [{ name: 'a2', args: { message: 'Help' } }] },
      { text: 'done' },
    ]);
    const outer = agent({ name: 'outer', model: outerModel, tools: [agentTool(inner)] });
    const all = sequence({
      name: 'all',
      runnables: [parallel({ name: 'both', runnables: [left, right] }), outer],
    });
    const { session } = await app().run(all, 'Go');
    return { session, models: [...models, outerModel] };
  },
};

test.each(Object.entries(scenarios))(
  'promptAt gives, to the byte, what the model received: %s',
  async (_name, scenario) => {
    const { session, models, expected } = await scenario();
    if (expected !== undefined)
      expect(session.events.some(({ type }) => type === expected)).toBe(true);
    expectExact(session, models);
  },
);

test(
  'promptAt leaves out what landed while it was seen whether the prompt is to be ' + 'made shorter',
  async () => {
    const asked = Promise.withResolvers<void>();
    const landed = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const searching = scriptedModel([
      { toolCalls: [{ name: 'find', args: {} }] },
      { text: 'found' },
    ]);
    const childModel: typeof searching = {
      ...searching,
      doStream: async (options) => {
        if (searching.calls.length === 1) {
          landed.resolve();
          await sent.promise;
        }
        return searching.doStream(options);
      },
    };
    const find = tool({
      name: 'find',
      description: 'Finds out',
      recovery: 'rerun',
      schema: z.object({}),
      execute: async (ctx) => {
        await asked.promise;
        ctx.remember('It is blue');
      },
    });
    const finder = agent({ name: 'finder', model: childModel, tools: [find] });
    const begin = tool({
      name: 'begin',
      description: 'Begins the search',
      recovery: 'rerun',
      schema: z.object({}),
      execute: async (ctx) => {
        await ctx.spawn(finder, { message: 'Find' });
        return 'word '.repeat(12_000);
      },
    });
    const failing = {
      ...scriptedModel([], { modelId: 'summary' }),
      doStream: async () => {
        asked.resolve();
        await landed.promise;
        throw new Error('no');
      },
    };
    const outerModel = scriptedModel(
      (_prompt, call) => {
        if (call === 2) sent.resolve();
        return call > 1
          ? { text: 'done' }
          : { toolCalls: [call === 0 ? { name: 'begin' } : { name: 'page', args: { n: 1 } }] };
      },
      { contextWindow: 100_000 },
    );
    const outer = agent({
      name: 'outer',
      model: outerModel,
      tools: [begin, page],
      compaction: { model: failing, compactAt: 0.01, overlap: 0 },
    });
    const { session } = await runtime({
      app: 'exact',
      store: memoryStore(),
      runnables: [finder],
    }).run(outer, 'Go');
    const starts = session.events.filter(
      (event) => event.type === 'model_start' && event.agent === 'outer',
    );
    expect(session.events.some(({ type }) => type === 'memory')).toBe(true);
    const shown = starts.map(({ seq }) => bytesOf(promptOf(session, seq)));
    expect(shown).toEqual(outerModel.calls.map(bytesOf));
  },
);

test('promptAt counts from 1 and says how many calls there are', async () => {
  const { session } = await app().run(
    agent({ name: 'a', model: scriptedModel([{ text: 'done' }]) }),
    'Go',
  );
  for (const n of [0, 2, 1.5]) {
    expect(() => promptAt(session, n)).toThrowError(
      expect.objectContaining({
        code: 'prompt_not_found',
        message: expect.stringContaining('1 model calls'),
      }),
    );
  }
});

test(
  'each prompt of a run begins with the whole prompt before it, except right behind a ' +
    'compaction',
  async () => {
    const scripted = scriptedModel(paging(25), { contextWindow: 2_500 });
    const { session } = await app().run(
      agent({ name: 'a', model: scripted, tools: [page], maxSteps: 40 }),
      'Go',
    );
    const starts = session.events.flatMap((event) =>
      event.type === 'model_start' ? [event.seq] : [],
    );
    let compactions = 0;
    for (let i = 1; i < starts.length; i++) {
      const isCompacted = session.events
        .slice(starts[i - 1], starts[i])
        .some(({ type }) => type === 'compaction');
      const before = scripted.calls[i - 1]?.prompt ?? [];
      const after = scripted.calls[i]?.prompt ?? [];
      const sharesAll = JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before);
      expect({ i, sharesAll }).toEqual({ i, sharesAll: !isCompacted });
      if (isCompacted) compactions++;
    }
    expect(compactions).toBeGreaterThan(0);
  },
);
