import {
  type AgentOptions,
  agent,
  type Middleware,
  type Renderer,
  run,
  runtime,
  sequence,
  step,
} from 'adjutant';
import {
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  setToolChoice,
} from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

let warnings: (Error & { readonly code?: string })[] = [];
const keep = (warning: Error): void => void warnings.push(warning);

beforeEach(() => {
  warnings = [];
  process.on('warning', keep);
});

afterEach(() => {
  process.off('warning', keep);
});

/** Node emits a warning in the next tick. */
const emitted = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function asking(options: Partial<AgentOptions>) {
  const model = scriptedModel([], { defaultResponse: { text: 'Yes.' } });
  return { model, clerk: agent({ name: 'clerk', model, ...options }) };
}

test('an agent whose `context` sends no message of the user is told once', async () => {
  const { clerk, model } = asking({ context: [injectSystemMessage('You are a clerk.')] });
  await run(clerk, 'Is it open?');
  await run(clerk, 'And now?');
  await emitted();
  expect(model.calls[0]?.prompt).toEqual([{ role: 'system', content: 'You are a clerk.' }]);
  expect(warnings.map(({ name, code, message }) => ({ name, code, message }))).toEqual([
    {
      name: 'AdjutantWarning',
      code: 'history_missing',
      message:
        'The prompt of the agent "clerk" has system messages only, so the user\'s message is not ' +
        'sent to the model. Its `context` brings no history: add includeHistory() to the ' +
        'list, or ' +
        'give the text as `instructions` and leave `context` out. ' +
        "includeHistory({ scope: 'none' }) says that this is meant.",
    },
  ]);
});

test('an empty list is told as well', async () => {
  await run(asking({ context: [] }).clerk, 'Is it open?');
  await emitted();
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^The prompt of the agent "clerk" is empty, so the user's message is not/,
    ),
  ]);
});

test('instructions beside such a list do not bring the history', async () => {
  await run(asking({ instructions: 'Be brief.', context: [setToolChoice('none')] }).clerk, 'Hi');
  await emitted();
  expect(warnings).toHaveLength(1);
});

const lastUserOnly: Renderer = (context) => {
  const history = context.includeHistory('own').events.filter(({ type }) => type === 'user');
  return context.withEvents([...context.events, ...history.slice(-1)]);
};
const bringsHistory: Middleware = { name: 'history', context: [includeHistory()] };

test.each<[string, Partial<AgentOptions>]>([
  ['instructions alone', { instructions: 'Be brief.' }],
  ['the history', { context: [injectSystemMessage('Be brief.'), includeHistory()] }],
  [
    'a renderer of its own that brings the history',
    { context: [injectSystemMessage('Be brief.'), (context) => context.includeHistory('all')] },
  ],
  [
    'a renderer of its own that picks a message',
    { context: [injectSystemMessage('Be brief.'), lastUserOnly] },
  ],
  [
    'a user message that holds the task',
    { context: [injectSystemMessage('Be brief.'), injectUserMessage('Say yes.')] },
  ],
  [
    'middleware that brings the history',
    { context: [injectSystemMessage('Be brief.')], middleware: [bringsHistory] },
  ],
  [
    'a hook that brings the history',
    {
      context: [injectSystemMessage('Be brief.')],
      hooks: { beforeModel: (_ctx, prompt) => prompt.includeHistory('ancestors') },
    },
  ],
  [
    'a list that says that no history is meant',
    { context: [injectSystemMessage('Say yes.'), includeHistory({ scope: 'none' })] },
  ],
])('%s: nothing is told', async (_name, options) => {
  expect((await run(asking(options).clerk, 'Is it open?')).status).toBe('completed');
  await emitted();
  expect(warnings).toEqual([]);
});

test('an agent that nobody has said anything to is not told', async () => {
  const { clerk } = asking({ context: [injectSystemMessage('Write a poem.')] });
  const line = sequence({
    name: 'line',
    runnables: [clerk, step({ name: 'end', execute: () => undefined })],
  });
  await runtime({ app: 'poems', runnables: [line] }).run(line, {});
  await emitted();
  expect(warnings).toEqual([]);
});
