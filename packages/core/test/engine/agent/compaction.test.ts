import {
  type AgentOptions,
  agent,
  type Event,
  memoryStore,
  runtime,
  tool,
  toolResult,
} from 'adjutant';
import {
  appendBoundaries,
  type ScriptedResponse,
  scriptedModel,
  tickingClock,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partedCalls } from '../../parted-calls.ts';
import {
  compactions,
  decisions,
  expectExact,
  jsonOf,
  read,
  reading,
  readPages,
  same,
} from './compacted-pages.ts';

test(
  'what is old is left out at 80 % of the window: a decision with a count, no parted call, ' +
    'and every prompt can be shown again',
  async () => {
    const { session, status, scripted } = await readPages(6_000, 40);
    expect([status, scripted.refused]).toEqual(['completed', 0]);
    const [first] = compactions(session);
    expect(first).toMatchObject({
      strategy: 'trim',
      reason: 'window',
      overlap: 0,
      dropped: { tool_call: expect.any(Number), tools: { read: expect.any(Number) } },
    });
    expect(first?.tokensAfter).toBeLessThan(first?.tokensBefore ?? 0);
    expect(decisions(session)).toHaveLength(compactions(session).length);
    expect(decisions(session)[0]).toMatchObject({
      decision: 'trim',
      reasoning: expect.stringMatching(/about \d+ tokens, \d+ % of the 6000/),
    });
    expect(scripted.calls.flatMap(({ prompt }) => partedCalls(prompt))).toEqual([]);
    expect(jsonOf(scripted.calls.at(-1)?.prompt)).toMatch(
      /Read all.*\[\d+ earlier messages were left out here to make room\.\]/,
    );
    expectExact(session, [scripted]);
  },
);

test('each event is covered once, and the count of what was left out goes on', async () => {
  const { session } = await readPages(6_000, 60);
  const covered = compactions(session).flatMap(({ covers }) => covers);
  expect(new Set(covered).size).toBe(covered.length);
  const counts = compactions(session).map(({ summary }) => Number(/\[(\d+) /.exec(summary)?.[1]));
  expect(counts.length).toBeGreaterThan(2);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
});

describe('with a model for summaries', () => {
  const summarised = async (answer: ScriptedResponse) => {
    const summariser = scriptedModel([], { modelId: 'summary', defaultResponse: answer });
    const settings = { retry: { attempts: 1 } };
    const once = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'summary',
      settings,
      load: () => summariser,
    };
    const result = await readPages(6_000, 40, { compaction: { model: once } });
    return { ...result, summariser };
  };

  test(
    'a child of the agent writes it: recorded, exact, with the newest messages ' + 'beside it',
    async () => {
      const { session, scripted, summariser } = await summarised({ text: 'Pages were read.' });
      expect(scripted.refused).toBe(0);
      expect(compactions(session)[0]).toMatchObject({
        strategy: 'summary',
        overlap: 3,
        summary: expect.stringContaining('Pages were read.'),
      });
      const children = session.events.filter(
        (event) => event.type === 'invocation_start' && event.invocationId.includes('/compaction#'),
      );
      expect(children).toHaveLength(compactions(session).length);
      const after =
        scripted.calls.find(({ prompt }) => jsonOf(prompt).includes('Pages were read.'))?.prompt ??
        [];
      expect(after.map(({ role }) => role).slice(0, 3)).toEqual(['user', 'user', 'assistant']);
      expect(jsonOf(after).split('Pages were read.')).toHaveLength(2);
      expect(summariser.calls[0]?.tools).toBeUndefined();
      // The second summary is made of the first one and of what came after it.
      expect(jsonOf(summariser.calls[1]?.prompt)).toContain('Pages were read.');
      expect(jsonOf(summariser.calls[1]?.prompt)).not.toContain('page 0');
      expectExact(session, [scripted, summariser]);
    },
  );

  test(
    'what stayed beside a summary goes with the next one, and nothing is ' + 'covered twice',
    async () => {
      const { session, scripted } = await summarised({ text: 'Pages were read.' });
      const made = compactions(session);
      const covered = made.flatMap(({ covers }) => covers);
      expect(made.length).toBeGreaterThan(2);
      expect(new Set(covered).size).toBe(covered.length);
      const pages = [...jsonOf(scripted.calls.at(-1)?.prompt).matchAll(/"page (\d+)/g)].map(
        ([, page]) => Number(page),
      );
      // The newest pages without a gap: no page of an earlier overlap is left among them.
      expect(pages).toEqual(
        Array.from({ length: pages.length }, (_, index) => 40 - pages.length + index),
      );
    },
  );

  test.each([
    ['is empty', { text: ' \n' }],
    ['fails', { error: new Error('no') }],
  ])('a summary that %s is not used: what is old is left out', async (_name, answer) => {
    const { session, status, scripted } = await summarised(answer);
    expect([status, scripted.refused]).toEqual(['completed', 0]);
    expect(new Set(compactions(session).map(({ strategy }) => strategy))).toEqual(
      new Set(['trim']),
    );
  });

  test(
    'a process that stops anywhere leaves a run that goes on to the same answer with exact ' +
      'prompts',
    async () => {
      const make = () => {
        const scripted = scriptedModel(
          (prompt) => {
            const pages = [...jsonOf(prompt).matchAll(/page (\d+)/g)].map(([, page]) =>
              Number(page),
            );
            const next = Math.max(-1, ...pages) + 1;
            return next < 9
              ? { toolCalls: [{ name: 'read', args: { page: next } }] }
              : { text: 'done' };
          },
          { contextWindow: 2_500 },
        );
        const summariser = scriptedModel([], {
          modelId: 'summary',
          defaultResponse: { text: 'Some were read.' },
        });
        const reader = agent({
          name: 'reader',
          model: scripted,
          tools: [read],
          compaction: { model: summariser, overlap: 1 },
        });
        return { scripted, summariser, reader };
      };
      const whole = make();
      const { session } = await runtime({ app: 'library', ports: { clock: tickingClock() } }).run(
        whole.reader,
        { input: 'Read', runId: 'run' },
      );
      expect(compactions(session).length).toBeGreaterThan(1);
      const covers = compactions(session).map((event) => event.covers.length);
      for (const cut of appendBoundaries(session.events)) {
        if (cut < 2 || cut === session.events.length) continue;
        const { reader, scripted } = make();
        const app = runtime({ app: 'library', store: memoryStore(), runnables: [reader] });
        const restored = await app.sessions.restore({
          ...session.toJSON(),
          events: session.events.slice(0, cut),
        });
        const result = await app.resume(restored);
        expect({ cut, output: result?.output }).toEqual({ cut, output: 'done' });
        expect({ cut, covers: compactions(restored).map((event) => event.covers.length) }).toEqual({
          cut,
          covers,
        });
        for (const call of scripted.calls) expect(partedCalls(call.prompt)).toEqual([]);
      }
    },
  );
});

test('the loop detector still counts calls that were left out of the prompt', async () => {
  const scripted = scriptedModel(
    (_prompt, answered) =>
      answered < 12
        ? {
            toolCalls: [
              answered % 3 === 0 ? { name: 'same' } : { name: 'read', args: { page: answered } },
            ],
          }
        : { text: 'done' },
    { contextWindow: 2_000 },
  );
  const { session } = await runtime({ app: 'library' }).run(
    agent({ name: 'reader', model: scripted, tools: [read, same] }),
    'Go',
  );
  expect(compactions(session).length).toBeGreaterThan(1);
  const third = session.events.filter(
    (event) => event.type === 'tool_result' && event.name === 'same',
  )[2];
  expect(third).toMatchObject({ notes: [expect.any(String)] });
});

test(
  'a call of which nobody knows whether it took effect stays in the prompt with ' + 'its result',
  async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      execute: () => toolResult.unknown('Nobody knows.'),
    });
    const scripted = scriptedModel(
      (_prompt, answered) => {
        if (answered === 0) return { toolCalls: [{ name: 'pay' }] };
        return answered < 20
          ? { toolCalls: [{ name: 'read', args: { page: answered } }] }
          : { text: 'done' };
      },
      { contextWindow: 3_000 },
    );
    const { session } = await runtime({ app: 'library' }).run(
      agent({ name: 'reader', model: scripted, tools: [pay, read] }),
      'Go',
    );
    expect(compactions(session).length).toBeGreaterThan(1);
    expect(
      session.events.some(
        (event: Event) => event.type === 'tool_result' && event.result.status === 'unknown',
      ),
    ).toBe(true);
    expect(jsonOf(scripted.calls.at(-1)?.prompt)).toContain('"toolName":"pay"');
  },
);

test('the message that a run was started with stays when others come later', async () => {
  const app = runtime({ app: 'library' });
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    recovery: 'rerun',
    schema: z.object({}),
    execute: async () => {
      await app.send('s', 'Use blue ink');
      await app.send('s', 'Be quick');
      return 'asked';
    },
  });
  const scripted = scriptedModel(
    (_prompt, answered) => {
      if (answered === 1) return { toolCalls: [{ name: 'ask' }] };
      return answered < 16
        ? { toolCalls: [{ name: 'read', args: { page: answered } }] }
        : { text: 'done' };
    },
    { contextWindow: 2_500 },
  );
  const reader = agent({ name: 'reader', model: scripted, tools: [read, ask] });
  const { session } = await app.run(reader, { session: 's', input: 'Copy all pages' });
  expect(compactions(session).length).toBeGreaterThan(1);
  const last = jsonOf(scripted.calls.at(-1)?.prompt);
  expect(last).toContain('Copy all pages');
  expect(last).toContain('Be quick');
  expect(last).not.toContain('Use blue ink');
});

test('the options of an agent come before those of its runtime', async () => {
  const run = async (shared: AgentOptions['compaction'], own: AgentOptions['compaction']) => {
    const scripted = scriptedModel(reading(30), { contextWindow: 6_000 });
    const reader = agent({
      name: 'reader',
      model: scripted,
      tools: [read],
      limits: { rounds: 40 },
      ...(own === undefined ? {} : { compaction: own }),
    });
    const app = runtime({
      app: 'library',
      ...(shared === undefined ? {} : { compaction: shared }),
    });
    // These options do not concern a refused prompt.
    return compactions((await app.run(reader, 'Go')).session).filter(
      ({ reason }) => reason === 'window',
    ).length;
  };
  expect(await run(undefined, undefined)).toBeGreaterThan(0);
  expect(await run(false, undefined)).toBe(0);
  expect(await run(undefined, false)).toBe(0);
  expect(await run(false, {})).toBeGreaterThan(0);
  expect(await run({ trimAt: 0.3 }, undefined)).toBeGreaterThan(
    await run({ trimAt: 0.3 }, { trimAt: 0.9 }),
  );
});
