import {
  type AgentOptions,
  agent,
  type Hooks,
  type JsonValue,
  type Runtime,
  run,
  runtime,
  tool,
} from 'adjutant';
import type { Guardrail } from 'adjutant/guardrails';
import { replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** Looks the same thing up three times, and then says it. */
function looking(options: Partial<AgentOptions> = {}) {
  const lookUp = tool({
    name: 'lookUp',
    description: 'Looks up',
    schema: z.object({ what: z.string() }),
    readOnly: true,
    execute: () => 'nothing new',
  });
  const model = scriptedModel((prompt) => {
    const results = prompt.filter(({ role }) => role === 'tool').length;
    return results < 3
      ? { toolCalls: [{ name: 'lookUp', args: { what: 'news' } }] }
      : { text: 'There is nothing new.' };
  });
  return agent({ name: 'reader', model, tools: [lookUp], ...options });
}

const appOf = (options: Partial<AgentOptions>): Runtime =>
  runtime({ app: 'app', runnables: [looking(options)] });

const louder: Hooks = {
  afterModel: (_ctx, result) => ({
    ...result,
    stepEvents: result.stepEvents.map((event) =>
      event.type === 'assistant' ? { ...event, text: `${event.text}!` } : event,
    ),
  }),
};
const noticed: Hooks = {
  afterTool: (_ctx, _call, result) => ({
    ...result,
    content: `${String(result.content)} (${String(result.status)})`,
  }),
};
const refuses: Guardrail = {
  name: 'refuses',
  output: () => ({ action: 'deny', message: 'It says nothing.' }),
};
const withheld: Guardrail = {
  name: 'withheld',
  toolResult: () => ({
    action: 'transform',
    value: '[withheld]' as JsonValue,
    reasoning: 'Nobody may know.',
  }),
};

const changes: readonly (readonly [name: string, options: Partial<AgentOptions>])[] = [
  ['a hook that changes answers', { hooks: louder }],
  ['a hook that changes results', { hooks: noticed }],
  ['a guardrail of answers', { supervision: { guardrails: [refuses] } }],
  ['a guardrail of results', { supervision: { guardrails: [withheld] } }],
  ['a goal', { goal: { check: () => ({ ok: false, reason: 'It is not enough.' }) } }],
  ['an earlier warning of loops', { supervision: { loops: { warnAt: 2 } } }],
];

test.each(changes)(
  '%s that is new is found behind what was recorded without it',
  async (_name, options) => {
    const { session } = await run(looking(), 'Read');
    const { divergence } = await replay(session, appOf(options));
    expect(divergence?.seq).toBeGreaterThan(3);
  },
);

test.each(changes)('%s that is as it was is no divergence', async (_name, options) => {
  const { session } = await run(looking(options), 'Read');
  expect((await replay(session, appOf(options))).divergence).toBeUndefined();
});
