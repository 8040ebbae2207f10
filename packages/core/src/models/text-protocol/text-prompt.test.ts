import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { unreadableAction } from '../../ledger/tool-name.ts';
import { options } from './call-options.fixture.ts';
import { textPrompt } from './text-prompt.ts';

describe('the prompt', () => {
  test('tools are described, calls and results are written out, and the goal comes last', () => {
    const sent = textPrompt({
      ...options,
      prompt: [
        ...options.prompt,
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { q: 'moon' } },
            {
              type: 'tool-call',
              toolCallId: 'b',
              toolName: unreadableAction,
              input: { text: 'look up', problem: 'it is no JSON' },
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'a',
              toolName: 'look',
              output: { type: 'json', value: { km: 384_400 } },
            },
            {
              type: 'tool-result',
              toolCallId: 'b',
              toolName: unreadableAction,
              output: { type: 'error-text', value: 'The answer could not be read.' },
            },
          ],
        },
      ],
    });
    expect(sent.tools).toBeUndefined();
    expect(sent.stopSequences).toEqual(['\nObservation']);
    const [system, question, call, results] = sent.prompt;
    expect(system?.content).toContain('Be brief.\n\nWork in steps.');
    expect(system?.content).toContain(
      '- look: Looks something up\n  Arguments as JSON Schema: {"type":"object"',
    );
    expect(question).toEqual(options.prompt[1]);
    expect(call).toEqual({
      role: 'assistant',
      content: [
        {
          type: 'text',
          text: 'Thought: hm\nAction: {"tool":"look","arguments":{"q":"moon"}}\nAction: look up',
        },
      ],
    });
    expect(results?.role).toBe('user');
    expect(results?.content[0]).toEqual({
      type: 'text',
      text:
        'Observation (look): {"km":384400}\n\n' +
        'Observation: Your last action could not be read, so nothing was run.\n' +
        'What is wrong: it is no JSON\n' +
        'Write it again in one line, in exactly this form, with your own values:\n' +
        'Action: {"tool":"look","arguments":{"q":"value of q"}}\n' +
        'Tools that you can call: look, add.',
    });
    expect(results?.content.at(-1)).toEqual({
      type: 'text',
      text: 'The goal is still: How far is the moon?',
    });
  });

  test.each<[string, NonNullable<LanguageModelV4CallOptions['toolChoice']>, string]>([
    ['required', { type: 'required' }, 'Write an Action now, not a Final Answer.'],
    ['a tool', { type: 'tool', toolName: 'add' }, 'Write an Action with the tool "add" now'],
    ['none', { type: 'none' }, 'Tools cannot be called now.'],
  ])('the choice of tool %s is put into words', (_what, toolChoice, words) => {
    const sent = textPrompt({ ...options, toolChoice });
    expect(sent.toolChoice).toBeUndefined();
    expect(JSON.stringify(sent.prompt.at(-1))).toContain(words.replaceAll('"', '\\"'));
  });

  test('so are the format of the answer and examples', () => {
    const example = {
      question: '1+1?',
      steps: [{ thought: 'add', tool: 'add', arguments: { a: 1 }, observation: '2' }],
      answer: 'Two.',
    };
    const sent = textPrompt(
      { ...options, responseFormat: { type: 'json', schema: { type: 'array' } } },
      [example],
    );
    expect(sent.responseFormat).toBeUndefined();
    expect(sent.prompt[0]?.content).toContain('must fit this JSON Schema: {"type":"array"}');
    expect(sent.prompt[0]?.content).toContain(
      'Question: 1+1?\nThought: add\nAction: ' +
        '{"tool":"add","arguments":{"a":1}}\nObservation (add): 2\nFinal Answer: Two.',
    );
  });

  test('the prompt grows at its end only', () => {
    const round = (count: number): LanguageModelV4CallOptions => ({
      ...options,
      prompt: [
        ...options.prompt,
        ...Array.from({ length: count }, (_, i): LanguageModelV4CallOptions['prompt'] => [
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: `c${i}`, toolName: 'add', input: { i } }],
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: `c${i}`,
                toolName: 'add',
                output: { type: 'text', value: 'ok' },
              },
            ],
          },
        ]).flat(),
      ],
    });
    const [second, third] = [textPrompt(round(2)).prompt, textPrompt(round(3)).prompt];
    expect(third.slice(0, second.length - 1)).toEqual(second.slice(0, -1));
  });
});
