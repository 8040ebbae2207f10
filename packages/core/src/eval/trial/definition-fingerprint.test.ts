import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
} from '../../context/renderers.ts';
import { type AgentOptions, agent } from '../../runnables/agent.ts';
import { sequence } from '../../runnables/sequence.ts';
import { step } from '../../runnables/step.ts';
import { scriptedModel } from '../../testing/kit/scripted-model.ts';
import { tool } from '../../tools/tool.ts';
import { definitionFingerprint } from './definition-fingerprint.ts';

const search = (more: object = {}) =>
  tool({
    name: 'search',
    description: 'Searches',
    schema: z.object({ query: z.string() }),
    execute: () => 'found',
    ...more,
  });
const base = (more: Partial<AgentOptions> = {}) =>
  agent({
    name: 'a',
    model: scriptedModel([]),
    context: [injectSystemMessage('Be kind.'), includeHistory()],
    tools: [search()],
    ...more,
  } as AgentOptions);
const print = (more?: Partial<AgentOptions>): string => definitionFingerprint(base(more));

describe('the name of a definition', () => {
  test('is the same for the same definition, made anew', () => {
    expect(print()).toBe(print());
    const whole = (): string =>
      definitionFingerprint(
        sequence({ name: 's', runnables: [base(), step({ name: 'b', execute: () => undefined })] }),
      );
    expect(whole()).toBe(whole());
  });

  test.each<[string, Partial<AgentOptions>]>([
    [
      'the text of its instructions',
      { context: [injectSystemMessage('Be short.'), includeHistory()] },
    ],
    [
      'the source of its instructions',
      {
        context: [
          injectSystemMessage(({ state }) => `Mode ${String(state['session']?.['mode'])}`),
          includeHistory(),
        ],
      },
    ],
    [
      'instructions that need a run',
      {
        context: [
          injectSystemMessage(({ state }) => String((state['user'] as { name: string }).name)),
          includeHistory(),
        ],
      },
    ],
    [
      'its renderers',
      {
        context: [
          injectSystemMessage('Be kind.'),
          enrichUserMessages(({ message }) => `> ${message}`),
          includeHistory(),
        ],
      },
    ],
    ['its model', { model: scriptedModel([], { modelId: 'other' }) }],
    ['its limits', { limits: { rounds: 3 } }],
    ['a description of a tool', { tools: [search({ description: 'Finds' })] }],
    [
      'the schema of a tool',
      { tools: [search({ schema: z.object({ query: z.string(), limit: z.number() }) })] },
    ],
    ['the code of a tool', { tools: [search({ execute: () => 'nothing' })] }],
    ['its output', { output: z.object({ answer: z.string() }) }],
    ['its version', { version: '2' }],
    ['a hook', { hooks: { beforeAgent: () => undefined } }],
  ])('changes with %s', (_, more) => {
    expect(print(more)).not.toBe(print());
  });

  test('changes with a part deep inside, and with the tools of the app', () => {
    const nested = (execute: () => undefined): string =>
      definitionFingerprint(
        sequence({
          name: 's',
          runnables: [sequence({ name: 't', runnables: [step({ name: 'b', execute })] })],
        }),
      );
    expect(nested(() => undefined)).not.toBe(
      nested(() => {
        return undefined;
      }),
    );
    expect(definitionFingerprint(base(), [search()])).not.toBe(print());
    expect(definitionFingerprint(base(), [search()])).toBe(
      definitionFingerprint(base(), [search()]),
    );
  });

  test('comes to an end where a definition refers to itself', () => {
    const ring: { own?: unknown } = {};
    ring.own = ring;
    const stateful = { ...base(), supervision: ring } as ReturnType<typeof base>;
    expect(definitionFingerprint(stateful)).toBe(definitionFingerprint(stateful));
  });
});
