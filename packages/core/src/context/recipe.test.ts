import { expect, test } from 'vitest';
import { z } from 'zod';
import { run, session } from '../in-memory-app.ts';
import { agent } from '../runnables/agent.ts';
import type { Renderer } from '../runnables/render-context.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { promptOf } from './recipe.ts';
import { includeHistory } from './renderers.ts';

test(
  'promptOf rebuilds the call from a session, with values that are kept outside ' + 'the ledger',
  async () => {
    const model = scriptedModel([{ text: 'long' }]);
    const large = await session('library');
    await run(agent({ name: 'reader', model }), { session: large, input: 'x'.repeat(100_000) });
    const start = large.events.find((event) => event.type === 'model_start');
    const { prompt } = promptOf(large, start?.seq ?? 0);
    expect(prompt).toEqual(model.calls[0]?.prompt);
    expect(promptOf(large.events, start?.seq ?? 0, large.ledger.resolve).prompt).toEqual(prompt);
  },
);

test('an event that is no model call has no prompt', async () => {
  const desk = await session('library');
  desk.addMessage('hello');
  expect(() => promptOf(desk, 1)).toThrowError(
    expect.objectContaining({ code: 'prompt_not_found' }),
  );
  expect(() => promptOf(desk.events, 99)).toThrowError(
    expect.objectContaining({ code: 'prompt_not_found' }),
  );
});

test('what a renderer makes of an event is recorded as what it is', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'done' }]);
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    execute: () => 'secret',
  });
  const redact: Renderer = (context) =>
    context.withEvents(
      context.events.map((event) =>
        event.type === 'tool_result'
          ? { ...event, result: { ...event.result, content: 'redacted' } }
          : event,
      ),
    );
  const { session: desk } = await run(
    agent({ name: 'reader', model, tools: [look], context: [includeHistory(), redact] }),
    'Go',
  );
  const starts = desk.events.filter((event) => event.type === 'model_start');
  expect(JSON.stringify(model.calls[1]?.prompt)).toContain('redacted');
  expect(starts.map(({ seq }) => promptOf(desk, seq).prompt)).toEqual(
    model.calls.map(({ prompt }) => prompt),
  );
});

test('a prompt of an encoder that is not known is not guessed', async () => {
  const { session: desk } = await run(
    agent({ name: 'reader', model: scriptedModel([{ text: 'done' }]) }),
    'Go',
  );
  const events = desk.events.map((event) =>
    event.type === 'model_start'
      ? { ...event, recipe: { ...event.recipe, encoder: 99 as 1 } }
      : event,
  );
  const seq = events.find(({ type }) => type === 'model_start')?.seq ?? 0;
  expect(() => promptOf(events, seq)).toThrowError(
    expect.objectContaining({
      code: 'prompt_not_found',
      message: expect.stringContaining('encoder 99'),
    }),
  );
});
