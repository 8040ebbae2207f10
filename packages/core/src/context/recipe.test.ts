import { expect, test } from 'vitest';
import { agent } from '../runnables/agent.ts';
import { run, session } from '../runtime.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { promptOf } from './recipe.ts';

test('promptOf rebuilds the call from a session, with values that are kept outside the ledger', async () => {
  const model = scriptedModel([{ text: 'long' }]);
  const large = await session('library');
  await run(agent({ name: 'reader', model }), { session: large, input: 'x'.repeat(100_000) });
  const start = large.events.find((event) => event.type === 'model_start');
  const { prompt } = promptOf(large, start?.seq ?? 0);
  expect(prompt).toEqual(model.calls[0]?.prompt);
  expect(promptOf(large.events, start?.seq ?? 0, large.ledger.resolve).prompt).toEqual(prompt);
});

test('an event that is no model call has no prompt', async () => {
  const desk = await session('library');
  desk.addMessage('hello');
  expect(() => promptOf(desk, 1)).toThrowError(expect.objectContaining({ code: 'prompt_not_found' }));
  expect(() => promptOf(desk.events, 99)).toThrowError(expect.objectContaining({ code: 'prompt_not_found' }));
});
