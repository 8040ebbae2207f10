import { agent, type Event, type Model, runtime, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

/** A model with a small window, which is asked for as many tool results as it is told. */
function windowed(scripted: ScriptedModel, more: Partial<Model> = {}): Model {
  return {
    kind: 'model',
    provider: 'scripted',
    modelId: 'scripted',
    settings: {},
    contextWindow: 4_000,
    load: () => scripted,
    ...more,
  };
}

const reading = (rounds: number) =>
  scriptedModel((_prompt, call) =>
    call < rounds
      ? { toolCalls: [{ name: 'read', args: { page: call } }], usage: null }
      : { text: 'done', usage: null },
  );

async function read(model: Model, page: string, rounds: number): Promise<readonly Event[]> {
  const readPage = tool({
    name: 'read',
    description: 'Reads a page',
    schema: { type: 'object' },
    readOnly: true,
    execute: ({ args }) => `${JSON.stringify(args)} ${page}`,
  });
  const reader = agent({
    name: 'reader',
    model,
    tools: [readPage],
    context: [injectSystemMessage('Read.'), includeHistory()],
    limits: { rounds: rounds + 5 },
  });
  const result = await runtime({ app: 'test' }).run(reader, 'Read on');
  expect(result.output).toBe('done');
  return result.session.events;
}

const compactions = (events: readonly Event[]) =>
  events.filter(({ type }) => type === 'compaction').length;

test(
  '`countTokens` of a model is what its prompts are measured with, and no text is counted ' +
    'twice',
  async () => {
    const counted: string[] = [];
    const ofWords = (text: string): number => {
      counted.push(text);
      return text.split(' ').length;
    };
    const page = 'antidisestablishmentarianism '.repeat(60);
    // By their characters the pages are seven times as many tokens as they have words.
    expect(compactions(await read(windowed(reading(20), { countTokens: ofWords }), page, 20))).toBe(
      0,
    );
    expect(
      counted.filter((text) => text.includes('"page":7') && text.includes('antidis')),
    ).toHaveLength(1);
    expect(compactions(await read(windowed(reading(20)), page, 20))).toBeGreaterThan(0);
  },
);

test(
  'scripts of which a character is nearly a token are not taken for a ' + 'quarter of one',
  async () => {
    const page = '長い本の一頁を読んでいる。'.repeat(40);
    const events = await read(windowed(reading(12)), page, 12);
    // 12 pages of 500 characters: 1,500 tokens by the usual four characters, about 5,000 in truth.
    expect(compactions(events)).toBeGreaterThan(0);
  },
);
