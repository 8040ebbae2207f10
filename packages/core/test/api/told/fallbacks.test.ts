import { agent, run, runtime, ToolFailure, tool } from 'adjutant';
import { advanceTime, model as answer, runTest, scriptedModel, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

const inChains = (chains: object) => () =>
  runtime({ app: 'shop', supervision: { errors: { chains: chains as never } } });

test.each([
  ['*', 'the chain for all failures without one is called `default`'],
  ['error', 'the chain for all failures without one is called `default`'],
  ['error_permament', 'did you mean `error_permanent`?'],
  ['5xx', 'HTTP failures are called `http_` and their status, as `http_404`'],
  ['404', 'HTTP failures are called `http_` and their status, as `http_404`'],
])('a chain for "%s"', (key, hint) => {
  expect(inChains({ [key]: ['fallbackTool', 'report'] })).toThrow(hint);
});

test('a chain may have the name of any error type that a tool may give', async () => {
  for (const key of ['network', 'foo_bar', 'shop.out_of_stock'])
    expect(inChains({ [key]: ['report'] })).not.toThrow();
  const order = tool({
    name: 'order',
    description: 'Orders',
    schema: z.object({}),
    execute: () => {
      throw new ToolFailure('None left.', { errorType: 'shop.out_of_stock' });
    },
  });
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([{ toolCalls: [{ name: 'order' }] }, { text: 'Done.' }]),
    tools: [order],
    supervision: {
      errors: { chains: { 'shop.out_of_stock': [{ hint: 'Look for another.' }, 'report'] } },
    },
  });
  const { session } = await run(clerk, 'Go');
  expect(JSON.stringify(session.events)).toContain('Look for another.');
});

test.each<[string, () => never]>([
  [
    'an error',
    () => {
      throw new Error('boom');
    },
  ],
  [
    'a 404',
    () => {
      throw Object.assign(new Error('no'), { statusCode: 404 });
    },
  ],
])('a tool with a `fallback` that throws %s falls back at the first call', async (_, execute) => {
  const schema = z.object({});
  const archive = tool({ name: 'archive', description: 'Old', schema, execute: () => 'old' });
  const look = tool({ name: 'look', description: 'New', schema, fallback: 'archive', execute });
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]);
  const { session } = await run(agent({ name: 'a', model, tools: [look, archive] }), 'Go');
  const result = session.events.findLast((event) => event.type === 'tool_result')?.result;
  expect(result?.content).toBe('old');
});

test('a `fallback` that is no tool of the agent is told in the decision', async () => {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    fallback: 'archiv',
    execute: () => {
      throw new Error('boom');
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]);
  const { session } = await run(agent({ name: 'a', model, tools: [look] }), 'Go');
  expect(explain(session)[0]?.why).toContain('Its fallback tool "archiv" does not exist.');
});

/** The result of a call of a tool that reads and fails in this way, with an archive behind it. */
async function resultOf(thrown: () => Error, supervision: object = {}) {
  const schema = z.object({});
  const archive = tool({ name: 'archive', description: 'Old', schema, execute: () => 'old' });
  let runs = 0;
  const look = tool({
    name: 'look',
    description: 'New',
    schema,
    fallback: 'archive',
    readOnly: true,
    execute: () => {
      runs++;
      throw thrown();
    },
  });
  const reader = agent({
    name: 'reader',
    model: scriptedModel([]),
    tools: [look, archive],
    supervision,
  });
  const { events } = await runTest(reader, [
    user('Go'),
    answer({ toolCalls: [{ name: 'look' }] }),
    advanceTime(8_000),
    answer('Done.'),
  ]);
  const result = events.findLast((event) => event.type === 'tool_result')?.result;
  const why = explain(events, { components: ['error_router'] }).at(-1)?.why;
  return { content: result?.content, runs, why };
}

const http = (status: number) => () => Object.assign(new Error('no'), { statusCode: status });
const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

test.each<[string, () => Error, number]>([
  ['a 403', http(403), 1],
  ['a 500', http(500), 3],
  ['a refused connection', refused, 3],
])('a tool that reads falls back after its attempts on %s', async (_, thrown, runs) => {
  expect(await resultOf(thrown)).toMatchObject({ content: 'old', runs });
});

test('a chain that is cut short by `attempts` still comes to the fallback', async () => {
  const { content, runs, why } = await resultOf(http(500), { errors: { attempts: 1 } });
  expect([content, runs]).toEqual(['old', 2]);
  expect(why).toBe(
    'It failed with http_500 2 times in a row, and 1 attempts are all that one cause gets: ' +
      'another tool is run in its place.',
  );
});

test('so does a call whose failures have a new cause each time', async () => {
  let status = 500;
  const { content } = await resultOf(() => http(status++)(), { errors: { attempts: 2 } });
  expect(content).toBe('old');
});
