import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type AgentOptions,
  agent,
  type Event,
  memoryStore,
  runtime,
  type Session,
  tool,
  toolResult,
} from 'adjutant';
import { promptAt } from 'adjutant/context';
import {
  appendBoundaries,
  type ScriptedResponse,
  scriptedModel,
  tickingClock,
} from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partedCalls } from '../../parted-calls.ts';

const read = tool({
  name: 'read',
  description: 'Reads a page',
  recovery: 'rerun',
  schema: z.object({ page: z.number() }),
  execute: ({ args }) => `page ${args.page}\n${'a line of text\n'.repeat(60)}`,
});
const same = tool({
  name: 'same',
  description: 'Says the same',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => 'the same words\n'.repeat(60),
});

const reading =
  (rounds: number) =>
  (_prompt: LanguageModelV4Prompt, answered: number): ScriptedResponse =>
    answered < rounds
      ? { toolCalls: [{ name: 'read', args: { page: answered } }] }
      : { text: 'done' };

const compactions = ({ events }: Session) =>
  events.flatMap((event) => (event.type === 'compaction' ? [event] : []));
const decisions = ({ events }: Session) =>
  events.flatMap((event) =>
    event.type === 'decision' && event.component === 'context' ? [event] : [],
  );
const jsonOf = (value: unknown) => JSON.stringify(value);

function expectExact(
  session: Session,
  models: readonly { readonly calls: readonly object[] }[],
): void {
  const received = models.flatMap(({ calls }) =>
    calls.map((call) => canonicalJson({ ...call, abortSignal: undefined } as never)),
  );
  const count = session.events.filter(({ type }) => type === 'model_start').length;
  const rebuilt = Array.from({ length: count }, (_, n) =>
    canonicalJson(promptAt(session, n + 1) as never),
  );
  expect(rebuilt.sort()).toEqual(
    received.map((text) => canonicalJson(JSON.parse(text) as never)).sort(),
  );
}

async function readPages(
  window: number,
  rounds: number,
  options: Partial<AgentOptions> = {},
  isWindowKnown = true,
) {
  const scripted = scriptedModel(reading(rounds), { contextWindow: window, isWindowKnown });
  const reader = agent({
    name: 'reader',
    model: scripted,
    tools: [read, same],
    limits: { rounds: rounds + 5 },
    ...options,
  });
  const result = await runtime({ app: 'library' }).run(reader, 'Read all');
  return { ...result, scripted };
}

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

describe('a provider that refuses the prompt', () => {
  test(
    'of a model whose window is not known: what is old is left out, and the ' + 'answer comes',
    async () => {
      const { session, status, scripted } = await readPages(3_000, 30, {}, false);
      expect(status).toBe('completed');
      expect(scripted.refused).toBeGreaterThan(0);
      expect(compactions(session)[0]).toMatchObject({ reason: 'overflow', strategy: 'trim' });
      // What was refused once is not tried again and again.
      expect(scripted.refused).toBeLessThan(5);
      expectExact(session, [scripted]);
    },
  );

  test('also with the guards off', async () => {
    const { session, status } = await readPages(3_000, 30, { compaction: false }, false);
    expect(status).toBe('completed');
    expect(compactions(session).every(({ reason }) => reason === 'overflow')).toBe(true);
  });

  test(
    'for the results of one round alone: they are shortened, without a step that changes ' +
      'nothing before it',
    async () => {
      const big = tool({
        name: 'big',
        description: 'Much',
        schema: z.object({}),
        recovery: 'rerun',
        execute: () => 'word '.repeat(4_000),
      });
      const scripted = scriptedModel(
        (_prompt, answered) =>
          answered === 0
            ? { toolCalls: [{ name: 'big' }, { name: 'big', args: {} }] }
            : { text: 'done' },
        { contextWindow: 5_000, isWindowKnown: false },
      );
      const { session, output } = await runtime({ app: 'library' }).run(
        agent({ name: 'reader', model: scripted, tools: [big] }),
        'Go',
      );
      expect(output).toBe('done');
      expect(
        compactions(session).map(({ strategy, resultLimit, covers }) => [
          strategy,
          resultLimit,
          covers.length,
        ]),
      ).toEqual([['shorten', 2_000, 0]]);
      expect(scripted.refused).toBe(1);
      expect(jsonOf(scripted.calls.at(-1)?.prompt)).toContain('[...truncated]');
      expectExact(session, [scripted]);
    },
  );

  test(
    'with nothing to leave out: a later model with a larger window is asked, also by another ' +
      'process',
    async () => {
      const make = () => {
        const small = scriptedModel(() => ({ text: 'never' }), {
          modelId: 'small',
          contextWindow: 1_000,
        });
        const large = scriptedModel(() => ({ text: 'done' }), {
          modelId: 'large',
          contextWindow: 20_000,
        });
        return { small, large, reader: agent({ name: 'reader', model: [small, large] }) };
      };
      const { small, large, reader } = make();
      const { session, output } = await runtime({
        app: 'library',
        ports: { clock: tickingClock() },
      }).run(reader, 'long '.repeat(2_000));
      expect(output).toBe('done');
      expect([small.calls.length, large.calls.length]).toEqual([1, 1]);
      expectExact(session, [small, large]);
      const cut =
        session.events.findIndex(
          (event) => event.type === 'decision' && event.decision === 'fallback',
        ) + 1;
      expect(cut).toBeGreaterThan(0);
      const again = make();
      const app = runtime({ app: 'library', store: memoryStore(), runnables: [again.reader] });
      const restored = await app.sessions.restore({
        ...session.toJSON(),
        events: session.events.slice(0, cut),
      });
      expect((await app.resume(restored))?.output).toBe('done');
      expect([again.small.calls.length, again.large.calls.length]).toEqual([0, 1]);
    },
  );

  test('with nothing to leave out: the agent fails at once and says what to do', async () => {
    const scripted = scriptedModel(() => ({ text: 'never' }), {
      contextWindow: 1_000,
      isWindowKnown: false,
    });
    const { status, error, session } = await runtime({ app: 'library' }).run(
      agent({ name: 'reader', model: scripted }),
      'long '.repeat(2_000),
    );
    expect([status, scripted.refused]).toEqual(['error', 1]);
    expect(error).toMatchObject({
      code: 'model_context_overflow',
      message: expect.stringContaining('use a model with a larger window'),
    });
    expect(decisions(session).map(({ decision }) => decision)).toEqual(['give_up']);
    expect(compactions(session)).toEqual([]);
  });
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
    // What is done about a prompt that was refused is no matter of these options.
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
