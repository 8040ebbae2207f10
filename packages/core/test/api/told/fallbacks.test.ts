import { agent, run, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

const inChains = (chains: object) => () =>
  runtime({ app: 'shop', supervision: { errors: { chains: chains as never } } });

test.each([
  ['*', 'the chain for all failures without one is called `default`'],
  ['error', 'the chain for all failures without one is called `default`'],
  ['error_permament', 'did you mean `error_permanent`?'],
  ['404', 'HTTP failures are called `http_` and their status, as `http_404`'],
])('a chain for "%s"', (key, hint) => {
  expect(inChains({ [key]: ['fallbackTool', 'report'] })).toThrow(hint);
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
