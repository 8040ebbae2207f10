import { agent, type Renderer, runtime, type Session, sequence } from 'adjutant';
import { includeHistory, wrapUserMessages } from 'adjutant/context';
import type { Guardrail } from 'adjutant/guardrails';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { read } from './compacted-pages.ts';

const hideNumbers: Guardrail = {
  name: 'numbers',
  input: ({ text }) => ({
    action: 'transform',
    value: text.replaceAll('4111-1111', '[a number]'),
    reason: 'It has a number.',
  }),
};

const compactions = ({ events }: Session) =>
  events.flatMap((event) => (event.type === 'compaction' ? [event] : []));
const isShown = (model: ScriptedModel, text: string) =>
  model.calls.some(({ prompt }) => JSON.stringify(prompt).includes(text));
const readPages = (rounds: number) =>
  scriptedModel(
    (_prompt, answered) =>
      answered < rounds
        ? { toolCalls: [{ name: 'read', args: { page: answered } }] }
        : { text: 'done' },
    {
      contextWindow: 2_500,
    },
  );

test.each<[string, readonly Renderer[]]>([
  ['as they are', [includeHistory()]],
  ['wrapped', [includeHistory(), wrapUserMessages((text) => `The user says: ${text}`)]],
])(
  'what a guardrail takes out of messages neither the agent nor its summariser reads: messages %s',
  async (_name, context) => {
    const scripted = readPages(12);
    const summary = scriptedModel([], {
      modelId: 'summary',
      defaultResponse: { text: 'Pages were read.' },
    });
    const reader = agent({
      name: 'reader',
      model: scripted,
      tools: [read],
      context,
      supervision: { guardrails: [hideNumbers] },
      compaction: { model: summary },
    });
    const { output } = await runtime({ app: 'library' }).run(reader, 'My card is 4111-1111');
    expect(output).toBe('done');
    expect(summary.calls.length).toBeGreaterThan(0);
    for (const called of [scripted, summary]) {
      expect(isShown(called, '4111-1111')).toBe(false);
      expect(isShown(called, 'My card is [a number]')).toBe(true);
    }
  },
);

test('a summariser reads nothing that its agent is not shown', async () => {
  const scripted = readPages(12);
  const summary = scriptedModel([], {
    modelId: 'summary',
    defaultResponse: { text: 'Pages were read.' },
  });
  const first = agent({ name: 'first', model: scriptedModel([{ text: 'Between us' }]) });
  const reader = agent({
    name: 'reader',
    model: scripted,
    tools: [read],
    context: [includeHistory({ scope: 'own' })],
    compaction: { model: summary },
  });
  await runtime({ app: 'library' }).run(
    sequence({ name: 'both', runnables: [first, reader] }),
    'Go',
  );
  expect(summary.calls.length).toBeGreaterThan(0);
  expect(isShown(summary, 'page 0')).toBe(true);
  expect(isShown(summary, 'Between us')).toBe(false);
});

test.each([4_000, 100_000])(
  'a summary of %i characters is cut off, so that it makes room',
  async (length) => {
    const scripted = readPages(30);
    const summary = scriptedModel([], {
      modelId: 'summary',
      defaultResponse: { text: 'word '.repeat(length / 5) },
      contextWindow: 100_000,
    });
    const reader = agent({
      name: 'reader',
      model: scripted,
      tools: [read],
      limits: { rounds: 40 },
      compaction: { model: summary },
    });
    const { status, session } = await runtime({ app: 'library' }).run(reader, 'Go');
    expect([status, scripted.refused]).toEqual(['completed', 0]);
    const summaries = compactions(session).filter(({ strategy }) => strategy === 'summary');
    expect(summaries.length).toBeGreaterThan(0);
    for (const { tokensBefore, tokensAfter, summary: text } of summaries) {
      expect(tokensAfter).toBeLessThan(tokensBefore);
      expect(text).toContain('[...truncated]');
    }
  },
);

test('what one model refused does not bind the model that stands in for it', async () => {
  let page = 0;
  const small = scriptedModel(
    () => {
      if (page === 10) return { error: new Error('gone') };
      return { toolCalls: [{ name: 'read', args: { page: page++ } }] };
    },
    { modelId: 'small', contextWindow: 2_000, isWindowKnown: false },
  );
  const large = scriptedModel(
    () =>
      page < 40 ? { toolCalls: [{ name: 'read', args: { page: page++ } }] } : { text: 'done' },
    {
      modelId: 'large',
      contextWindow: 100_000,
    },
  );
  const reader = agent({
    name: 'reader',
    model: [small, large],
    tools: [read],
    limits: { rounds: 60 },
  });
  const { session, output } = await runtime({ app: 'library' }).run(reader, 'Go');
  expect(output).toBe('done');
  const changed = session.events.findIndex(
    (event) => event.type === 'decision' && event.decision === 'fallback',
  );
  expect(compactions(session).length).toBeGreaterThan(0);
  expect(session.events.slice(changed).filter(({ type }) => type === 'compaction')).toEqual([]);
});

test('what stays beside a summary is so little that the next one is not due at once', async () => {
  const scripted = readPages(40);
  const summary = scriptedModel([], {
    modelId: 'summary',
    defaultResponse: { text: 'word '.repeat(100) },
  });
  const reader = agent({
    name: 'reader',
    model: scripted,
    tools: [read],
    limits: { rounds: 50 },
    compaction: { model: summary },
  });
  const { session, status } = await runtime({ app: 'library' }).run(reader, 'Go');
  expect(status).toBe('completed');
  const { length } = compactions(session);
  expect(length).toBeGreaterThan(5);
  expect(length).toBeLessThan(25);
});
