import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ThinkSplitter } from './think-splitter.ts';
import { type StripThinkTagsOptions, stripThinkTags } from './think-tags.ts';

const tags = ['think', 'thinking'];

interface Split {
  readonly text: string;
  readonly thought: string;
  /** `T` for a text and `R` for a thought, as they follow each other. */
  readonly order: string;
}

function split(deltas: readonly string[]): Split {
  let text = '';
  let thought = '';
  let order = '';
  const splitter = new ThinkSplitter(tags, (piece, isThought) => {
    expect(piece).not.toBe('');
    if (isThought) thought += piece;
    else text += piece;
    const kind = isThought ? 'R' : 'T';
    if (!order.endsWith(kind)) order += kind;
  });
  for (const delta of deltas) splitter.take(delta);
  splitter.end();
  return { text, thought, order };
}

const cases: readonly (readonly [string, Split])[] = [
  ['plain text', { text: 'plain text', thought: '', order: 'T' }],
  ['', { text: '', thought: '', order: '' }],
  ['  leading space stays', { text: '  leading space stays', thought: '', order: 'T' }],
  ['<think>hm</think>answer', { text: 'answer', thought: 'hm', order: 'RT' }],
  ['\n<think>\nhm\n</think>\n\nanswer\n', { text: 'answer\n', thought: 'hm\n', order: 'RT' }],
  ['<THINK>hm</Think>answer', { text: 'answer', thought: 'hm', order: 'RT' }],
  ['<thinking>hm</thinking>answer', { text: 'answer', thought: 'hm', order: 'RT' }],
  [
    'one <think>two</think> three <think>four</think> five',
    { text: 'one three five', thought: 'twofour', order: 'TRTRT' },
  ],
  ['<think>never closed', { text: '', thought: 'never closed', order: 'R' }],
  ['<think>', { text: '', thought: '', order: '' }],
  ['<think></think>answer', { text: 'answer', thought: '', order: 'T' }],
  ['</think>answer', { text: 'answer', thought: '', order: 'T' }],
  ['a < b and <thin', { text: 'a < b and <thin', thought: '', order: 'T' }],
  ['<think>a <think> b</think>c', { text: 'c', thought: 'a <think> b', order: 'RT' }],
  ['<think>a < b </thin</think>c', { text: 'c', thought: 'a < b </thin', order: 'RT' }],
  ['the tag `<think>` is text', { text: 'the tag `<think>` is text', thought: '', order: 'T' }],
  ['<think>ends with `code`</think>c', { text: 'c', thought: 'ends with `code`', order: 'RT' }],
  ['<<think>a</think>b', { text: '<b', thought: 'a', order: 'TRT' }],
  ['<think >no tag', { text: '<think >no tag', thought: '', order: 'T' }],
];

describe('texts with tags', () => {
  test.each(cases)('%j', (text, expected) => {
    expect(split([text])).toEqual(expected);
  });

  test.each(cases)('%j gives the same wherever it is split', (text, expected) => {
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const deltas = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        expect(split(deltas), JSON.stringify(deltas)).toEqual(expected);
      }
    }
    expect(split([...text])).toEqual(expected);
  });
});

const part = fc.constantFrom(
  '<think>',
  '</think>',
  '<thinking>',
  '</THINKING>',
  '<',
  '</',
  '`',
  ' ',
  '\n',
  'think>',
  'word',
  '>',
  'é',
);

test('any text gives the same whole and in any deltas', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.array(fc.nat({ max: 60 })),
      (parts, places) => {
        const text = parts.join('');
        const cuts = [
          0,
          ...places.filter((place) => place < text.length).sort((one, other) => one - other),
          text.length,
        ];
        const deltas = cuts.slice(1).map((cut, i) => text.slice(cuts[i], cut));
        expect(split(deltas)).toEqual(split([text]));
      },
    ),
  );
});

test('what has no tag stays as it is', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !/<\/?think/i.test(text)),
      (text) => {
        expect(split([text]).text).toBe(text);
      },
    ),
  );
});

test('text is not held back longer than it may be a tag', () => {
  const pieces: string[] = [];
  const splitter = new ThinkSplitter(tags, (piece) => pieces.push(piece));
  splitter.take('a <');
  expect(pieces).toEqual(['a ']);
  splitter.take('b');
  expect(pieces).toEqual(['a ', '<b']);
});

test('a long text of signs that may begin a tag takes no longer than others', () => {
  for (const unit of ['<', '</', '<think', '<think>', '</think>', ' ', '`<think>']) {
    split([unit.repeat(100_000)]);
    split([...unit.repeat(20_000)]);
  }
});

function modelOf(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    supportedUrls: { 'image/*': [/x/] },
    doGenerate: async () => ({
      content: [
        { type: 'text', text: '<think>hm</think>answer', providerMetadata: { p: { id: 1 } } },
        { type: 'text', text: 'plain' },
      ],
      finishReason: { unified: 'stop', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    }),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const one of parts) controller.enqueue(one);
          controller.close();
        },
      }),
    }),
  };
}

async function streamed(
  parts: readonly LanguageModelV4StreamPart[],
  options?: StripThinkTagsOptions,
): Promise<readonly LanguageModelV4StreamPart[]> {
  const model = stripThinkTags(options).wrapModel?.(modelOf(parts)) as LanguageModelV4;
  const { stream } = await model.doStream({ prompt: [] } as LanguageModelV4CallOptions);
  const read: LanguageModelV4StreamPart[] = [];
  for await (const one of stream) read.push(one);
  return read;
}

const finish = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: undefined },
} as LanguageModelV4StreamPart;

describe('a model', () => {
  test('streams thoughts as parts of their own', async () => {
    const parts = await streamed([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: '<thi' },
      { type: 'text-delta', id: '1', delta: 'nk>h' },
      { type: 'text-delta', id: '1', delta: 'm</think>ans' },
      { type: 'text-delta', id: '1', delta: 'wer', providerMetadata: { p: { id: 1 } } },
      { type: 'text-end', id: '1' },
      finish,
    ]);
    expect(parts).toEqual([
      { type: 'text-start', id: '1' },
      { type: 'reasoning-start', id: '1:thought-1' },
      { type: 'reasoning-delta', id: '1:thought-1', delta: 'h' },
      { type: 'reasoning-delta', id: '1:thought-1', delta: 'm' },
      { type: 'reasoning-end', id: '1:thought-1' },
      { type: 'text-delta', id: '1', delta: 'ans' },
      { type: 'text-delta', id: '1', delta: 'wer' },
      { type: 'text-delta', id: '1', delta: '', providerMetadata: { p: { id: 1 } } },
      { type: 'text-end', id: '1' },
      finish,
    ]);
  });

  test('ends what it never ended itself', async () => {
    const parts = await streamed([
      { type: 'text-delta', id: '1', delta: '<think>hm' },
      { type: 'text-delta', id: '2', delta: 'a <thin' },
      finish,
    ]);
    expect(parts.map(({ type }) => type)).toEqual([
      'reasoning-start',
      'reasoning-delta',
      'text-delta',
      'reasoning-end',
      'text-delta',
      'finish',
    ]);
    const cut = await streamed([{ type: 'text-delta', id: '1', delta: 'a <thin' }]);
    expect(cut.map((one) => ('delta' in one ? one.delta : ''))).toEqual(['a ', '<thin']);
  });

  test('that does not stream gives thoughts too', async () => {
    const model = stripThinkTags().wrapModel?.(modelOf([])) as LanguageModelV4;
    const { content } = await model.doGenerate({ prompt: [] });
    expect(content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'answer', providerMetadata: { p: { id: 1 } } },
      { type: 'text', text: 'plain' },
    ]);
    expect([model.provider, model.modelId, model.supportedUrls]).toEqual([
      'p',
      'm',
      { 'image/*': [/x/] },
    ]);
  });

  test('has the tags that are given', async () => {
    const parts = await streamed(
      [{ type: 'text-delta', id: '1', delta: '<plan>hm</plan><think>x</think>' }, finish],
      { tags: ['plan'] },
    );
    expect(parts).toContainEqual({ type: 'reasoning-delta', id: '1:thought-1', delta: 'hm' });
    expect(parts).toContainEqual({ type: 'text-delta', id: '1', delta: '<think>x</think>' });
  });
});

test.each([{ tags: [] }, { tags: ['<think>'] }, { tags: 'think' }, { tag: ['think'] }])(
  '%j is refused',
  (options) => {
    expect(() => stripThinkTags(options as StripThinkTagsOptions)).toThrow(
      'stripThinkTags() cannot be set up',
    );
  },
);
