import { agent, type PromptText, run } from 'adjutant';
import { injectSystemMessage } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const model = scriptedModel([]);
const fails = () => {
  throw new Error('no db');
};

test.each<[string, PromptText]>([
  ['throws', fails],
  ['rejects', async () => fails()],
])('`instructions` that %s are named with the agent', async (_, instructions) => {
  const { status, error } = await run(agent({ name: 'clerk', model, instructions }), 'Hi');
  expect([status, error?.code, error?.message]).toEqual([
    'error',
    'prompt_text',
    'The `instructions` of the agent "clerk" threw: no db.',
  ]);
});

test('so is a message of `context`', async () => {
  const clerk = agent({ name: 'clerk', model, context: [injectSystemMessage(fails)] });
  expect((await run(clerk, 'Hi')).error?.message).toBe(
    'The text of a system message of the prompt of "clerk" threw: no db.',
  );
});
