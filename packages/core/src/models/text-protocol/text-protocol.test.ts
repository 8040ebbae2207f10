import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { agent, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { unreadableAction } from '../../ledger/tool-name.ts';
import type { ModelAnswer } from '../answer.ts';
import { callModel } from '../call.ts';
import { options } from './call-options.fixture.ts';
import { TextAnswer } from './text-answer.ts';
import { textPrompt } from './text-prompt.ts';
import { textProtocol } from './text-protocol.ts';

/** Returns the answer that the wrapped model makes of a text, in short. */
async function read(
  text: string,
  more: {
    chunks?: readonly string[];
    finishReason?: 'stop' | 'length';
    options?: LanguageModelV4CallOptions;
  } = {},
) {
  const inner = scriptedModel([
    { chunks: more.chunks ?? [text], finishReason: more.finishReason ?? 'stop' },
  ]);
  const answer: ModelAnswer = await callModel(
    await textProtocol(inner).load(),
    more.options ?? options,
    systemClock,
    undefined,
  );
  return {
    thoughts: answer.thoughts.map((part) => part.text),
    texts: answer.texts.map((part) => part.text),
    calls: answer.toolCalls.map(({ name, args, invalid }) =>
      invalid === undefined ? { name, args } : { name, raw: args },
    ),
    finishReason: answer.finishReason,
  };
}

const look = { name: 'look', args: { q: 'moon' } };

const unread = (text: string, problem: string) => ({
  calls: [{ name: unreadableAction, args: { text, problem } }],
});

describe('an answer', () => {
  test.each<[string, string, Partial<Awaited<ReturnType<typeof read>>>]>([
    [
      'plain text',
      'About 384,400 km.',
      { thoughts: [], texts: ['About 384,400 km.'], calls: [], finishReason: 'stop' },
    ],
    [
      'a final answer',
      'Thought: I know it.\nFinal Answer: far\n\nvery far',
      { thoughts: ['I know it.'], texts: ['far\n\nvery far'], calls: [] },
    ],
    [
      'an action',
      'Thought: look\nAction: {"tool": "look", "arguments": {"q": "moon"}}',
      { thoughts: ['look'], texts: [], calls: [look], finishReason: 'tool-calls' },
    ],
    ['action and args', 'Action: {"action": "look", "args": {"q": "moon"}}', { calls: [look] }],
    [
      'action and action_input',
      'Action: {"action": "look", "action_input": {"q": "moon"}}',
      { calls: [look] },
    ],
    [
      'arguments that are JSON in a string',
      'Action: {"tool": "look", "arguments": "{\\"q\\": \\"moon\\"}"}',
      { calls: [look] },
    ],
    [
      'a tool and its input in two lines',
      'Action: look\nAction Input: {"q": "moon"}',
      { calls: [look] },
    ],
    [
      'an action without arguments',
      'Action: {"tool": "add"}',
      { calls: [{ name: 'add', args: {} }] },
    ],
    [
      'several actions',
      'Action: {"tool": "look", "arguments": {"q": "moon"}}\nAction: {"tool": "add"}',
      { calls: [look, { name: 'add', args: {} }] },
    ],
    [
      'a list of actions',
      'Action: [{"tool": "look", "arguments": {"q": "moon"}}, {"tool": "add"}]',
      { calls: [look, { name: 'add', args: {} }] },
    ],
    [
      'a fence',
      'Action:\n```json\n{\n  "tool": "look",\n  "arguments": {"q": "moon"}\n}\n```',
      { calls: [look] },
    ],
    ['single quotes', "Action: {'tool': 'look', 'arguments': {'q': 'moon'}}", { calls: [look] }],
    [
      'typographic quotes',
      'Action: {“tool”: “look”, “arguments”: {“q”: “moon”}}',
      { calls: [look] },
    ],
    [
      'trailing commas',
      'Action: {"tool": "look", "arguments": {"q": "moon",},}',
      { calls: [look] },
    ],
    ['a missing end', 'Action: {"tool": "look", "arguments": {"q": "moon"', { calls: [look] }],
    [
      'words behind the JSON',
      'Action: {"tool": "look", "arguments": {"q": "moon"}} and then I see',
      { calls: [look] },
    ],
    [
      'bold markers',
      '**Thought:** hm\n**Action:** {"tool": "look", "arguments": {"q": "moon"}}',
      { thoughts: ['hm'], calls: [look] },
    ],
    [
      'numbered markers',
      'Thought 1: hm\nAction 1: {"tool": "look", "arguments": {"q": "moon"}}',
      { thoughts: ['hm'], calls: [look] },
    ],
    [
      'words before the action',
      'I will look.\nAction: {"tool": "look", "arguments": {"q": "moon"}}',
      { texts: ['I will look.'], calls: [look] },
    ],
    [
      'an action without its marker',
      '{"tool": "look", "arguments": {"q": "moon"}}',
      { texts: [], calls: [look] },
    ],
    [
      'the same in a fence',
      '```json\n{"tool": "look", "arguments": {"q": "moon"}}\n```',
      { texts: [], calls: [look] },
    ],
    [
      'everything in a fence',
      '```\nThought: hm\nFinal Answer: 1\n```',
      { thoughts: ['hm'], calls: [] },
    ],
    [
      'JSON that is an answer',
      '{"action": "buy", "args": 3}',
      { texts: ['{"action": "buy", "args": 3}'], calls: [] },
    ],
    [
      'the final answer as an action',
      'Action: {"action": "Final Answer", "action_input": "42"}',
      { texts: ['42'], calls: [], finishReason: 'stop' },
    ],
    [
      'an invented observation',
      'Action: {"tool": "add"}\nObservation (add): 7\nFinal Answer: 7',
      { texts: [], calls: [{ name: 'add', args: {} }] },
    ],
    [
      'an invented observation behind bare JSON',
      '{"tool": "add"}\nObservation: 7',
      { texts: [], calls: [{ name: 'add', args: {} }] },
    ],
    [
      'an answer beside an action',
      'Action: {"tool": "add"}\nFinal Answer: 7',
      { texts: [], calls: [{ name: 'add', args: {} }] },
    ],
    [
      'markers in the final answer',
      'Final Answer: Steps:\nAction: call them',
      { texts: ['Steps:\nAction: call them'], calls: [] },
    ],
    [
      'words that begin like markers',
      'Thoughtful people\nActionable: yes',
      { thoughts: [], texts: ['Thoughtful people\nActionable: yes'], calls: [] },
    ],
    [
      'an unknown tool',
      'Action: {"tool": "fly", "arguments": {}}',
      { calls: [{ name: 'fly', args: {} }] },
    ],
    [
      'an action beyond repair',
      'Action: use the tool "look" please',
      unread(
        'use the tool "look" please',
        'it is neither JSON nor the name of a tool with its arguments',
      ),
    ],
    [
      'an action beyond repair that names a tool',
      'Action: tool = "look" of the moon',
      unread(
        'tool = "look" of the moon',
        'it is neither JSON nor the name of a tool with its arguments',
      ),
    ],
    ['an empty action', 'Action:', unread('', 'nothing follows "Action:"')],
  ])('%s', async (_what, text, expected) => {
    expect(await read(text)).toMatchObject(expected);
  });

  test('arguments that were cut off are not completed', async () => {
    const text = 'Action: {"tool": "look", "arguments": {"q": "moo';
    expect((await read(text, { finishReason: 'length' })).calls).toEqual([
      {
        name: unreadableAction,
        args: {
          text: text.slice('Action: '.length),
          problem:
            'it was cut off before its end: a string has no closing quote; it begins at ' +
            'character 37: "moo',
        },
      },
    ]);
    const whole = 'Action: {"tool": "add"}\nAction: {"tool": "look", "arguments": {"q": "moon"}}';
    expect((await read(whole, { finishReason: 'length' })).calls).toEqual([
      { name: 'add', args: {} },
      look,
    ]);
  });

  test('what is cut off behind an invented observation was no part of the answer', async () => {
    const cut = { finishReason: 'length' } as const;
    expect(await read('About 7.\nObservation: so m', cut)).toMatchObject({
      texts: ['About 7.'],
      finishReason: 'stop',
    });
    // The action is whole, so its missing bracket is added.
    const action = 'Action: {"tool": "look", "arguments": {"q": "moon"}\nObservation: it';
    expect(await read(action, cut)).toMatchObject({ calls: [look], finishReason: 'tool-calls' });
    const whole = textProtocol(scriptedModel([{ text: 'About 7.\nObservation: so m', ...cut }]));
    const generated = await (await whole.load()).doGenerate(options);
    expect(generated).toMatchObject({ finishReason: { unified: 'stop' } });
  });

  test('an answer that is nothing but an invented observation is asked for again', async () => {
    const model = scriptedModel([
      { text: 'Observation: Sorry, I am too', finishReason: 'length' },
      { text: 'Final Answer: 7' },
    ]);
    const app = runtime({ app: 'text', defaults: { modelRetry: { initialDelayMs: 1 } } });
    const add = tool({ name: 'add', description: 'Adds', schema: z.object({}), execute: () => 7 });
    const adder = agent({ name: 'adder', model: textProtocol(model), tools: [add] });
    expect(await app.run(adder, 'Add.')).toMatchObject({ status: 'completed', output: '7' });
    await app.close();
  });

  test('thoughts and the final answer are streamed as they come', () => {
    const parts: LanguageModelV4StreamPart[] = [];
    const answer = new TextAnswer(options, (part) => parts.push(part));
    for (const delta of ['Thou', 'ght: I kn', 'ow.\nFinal An', 'swer: th', 'ree'])
      answer.push(delta);
    expect(parts.map((part) => ('delta' in part ? part.delta : part.type))).toEqual([
      'reasoning-start',
      'I kn',
      'ow.',
      'reasoning-end',
      'text-start',
      'th',
      'ree',
    ]);
  });

  test('any cut into pieces gives the same', async () => {
    const piece = fc.constantFrom(
      'Thought: ',
      'thought',
      'Action: ',
      'Action',
      '{"tool": "look", "arguments": {"q": "moon"}}',
      '{"tool": "add"',
      'Observation (look): ',
      '**Final Answer:** ',
      'Final Answer:',
      '\n',
      '  ',
      '```',
      '*',
      'text ',
      '🌒',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
        async (pieces, sizes) => {
          const text = pieces.join('');
          fc.pre(text !== '');
          const chunks: string[] = [];
          for (let at = 0, i = 0; at < text.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            chunks.push(text.slice(at, at + size));
            at += size;
          }
          expect(await read(text, { chunks })).toEqual(await read(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('many blanks in small pieces take no long time', async () => {
    // 20 seconds, when all blanks were looked at for each new one.
    const chunks = Array.from({ length: 100_000 }, () => '   ');
    expect(await read('', { chunks: [...chunks, 'far', ...chunks] })).toMatchObject({
      texts: ['far'],
      calls: [],
    });
  });

  test('ids of calls go on from those in the prompt', async () => {
    const prompt: LanguageModelV4CallOptions['prompt'] = [
      ...options.prompt,
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'text_7', toolName: 'add', input: {} }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'text_7',
            toolName: 'add',
            output: { type: 'text', value: '1' },
          },
        ],
      },
    ];
    const inner = scriptedModel([{ text: 'Action: {"tool": "add"}' }]);
    const answer = await callModel(
      await textProtocol(inner).load(),
      { ...options, prompt },
      systemClock,
      undefined,
    );
    expect(answer.toolCalls.map(({ providerCallId }) => providerCallId)).toEqual(['text_8']);
  });
});
test('a call without tools stays as it is', async () => {
  const plain: LanguageModelV4CallOptions = {
    prompt: options.prompt,
    responseFormat: { type: 'json' },
  };
  expect(textPrompt(plain)).toBe(plain);
  expect(await read('Thought: x\nAction: y', { options: plain })).toMatchObject({
    texts: ['Thought: x\nAction: y'],
    calls: [],
  });
});

test('options that do not exist are refused', () => {
  expect(() => textProtocol(scriptedModel([]), { example: [] } as never)).toThrow('examples');
});
