import { agent, type Event, runtime, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { inspectPrompt } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { impatient, serving } from '../client/serving.ts';
import { callerOf } from './caller.ts';

const counted = () => {
  const count = tool({
    name: 'count',
    description: 'Counts',
    schema: z.object({}),
    execute: () => 'counted '.repeat(10_000),
  });
  const model = scriptedModel(
    [{ toolCalls: [{ name: 'count', args: {} }] }, { text: 'All counted.' }],
    { contextWindow: 90_000 },
  );
  return agent({ name: 'counter', model, instructions: 'You count.', tools: [count] });
};

const startsOf = (events: readonly Event[]): readonly number[] =>
  events.flatMap(({ type, seq }) => (type === 'model_start' ? [seq] : []));

test('the prompt of each model call comes in sections, as `inspectPrompt` gives it', async () => {
  const counter = counted();
  const { app, url } = await serving({ runnables: [counter] });
  const { session } = await app.run(counter, { session: 's', input: 'Count' });
  const starts = startsOf(session.events);
  expect(starts).toHaveLength(2);
  for (const seq of starts) {
    const prompt = await impatient(url).sessions.prompt('s', seq);
    expect(prompt).toEqual({ ...inspectPrompt(session, seq), window: 90_000 });
    expect(prompt.call).toEqual(promptOf(session, seq));
  }
});

test('a model that the app has no more tells no window', async () => {
  const app = runtime({ app: 'shop' });
  const { session } = await app.run(counted(), { session: 's', input: 'Count' });
  const other = runtime({
    app: 'shop',
    store: app.store,
    runnables: [agent({ name: 'counter', model: scriptedModel([], { modelId: 'other' }) })],
  });
  const { body } = await callerOf(other).get(
    `/v1/sessions/s/prompts/${startsOf(session.events)[0]}`,
  );
  expect(body).toMatchObject({ agent: 'counter', sections: expect.any(Array) });
  expect(body).not.toHaveProperty('window');
  await app.close();
});

test('an event without a prompt, a wrong place and an unknown session are refused', async () => {
  const counter = counted();
  const app = runtime({ app: 'shop', runnables: [counter] });
  await app.run(counter, { session: 's', input: 'Count' });
  const { get } = callerOf(app);
  expect(await get('/v1/sessions/s/prompts/1')).toMatchObject({
    status: 404,
    body: { code: 'prompt_not_found', detail: expect.stringContaining('model_start') },
  });
  expect((await get('/v1/sessions/s/prompts/9999')).body.code).toBe('prompt_not_found');
  for (const wrong of ['0', 'x', '1.5', '-1'])
    expect(await get(`/v1/sessions/s/prompts/${wrong}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  expect(await get('/v1/sessions/none/prompts/1')).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
});
