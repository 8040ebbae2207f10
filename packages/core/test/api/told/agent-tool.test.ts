import { agent, agentTool, run, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const model = scriptedModel([]);
const expert = agent({ name: 'expert', model });
const inTool = (options: object) => () => agentTool(expert, options);

test.each([
  ['parameters', z.object({}), 'it is `schema` here'],
  ['inputSchema', z.object({}), 'it is `schema` here'],
  ['inputBuilder', () => '', 'it is `input` here'],
  ['customOutputExtractor', () => '', 'it is `result` here'],
  ['failureErrorFunction', () => '', 'it is `failure` here'],
  ['onError', () => '', 'it is `failure` here'],
  ['toolName', 'ask', 'it is `name` here'],
  ['toolDescription', 'Asks', 'it is `description` here'],
  ['needsApproval', true, 'it is `approval` here'],
  ['results', () => '', 'did you mean `result`?'],
])('an option as it is called elsewhere: %s', (name, value, hint) => {
  expect(inTool({ [name]: value })).toThrow(
    `The tool "expert" cannot be defined: there is no option \`${name}\` (${hint}).`,
  );
});

test('an agent whose name cannot be that of a tool', () => {
  expect(() => agentTool(agent({ name: 'my expert', model }))).toThrow(
    'The tool "my expert" cannot be defined: a name consists of letters, digits, "_" or "-", ' +
      'with name spaces before dots; give the tool another one: agentTool(agent, { name }).',
  );
  expect(agentTool(agent({ name: 'my expert', model }), { name: 'ask' }).name).toBe('ask');
});

test('something that is no schema', () => {
  expect(inTool({ schema: { topic: 'string' } })).toThrow(
    'The tool "expert" cannot be defined: `schema` is not JSON Schema: fields belong into { type:',
  );
});

/** Returns the text for a model whose call of a tool does not fit. */
async function toldModel(made: ReturnType<typeof tool>, args: object): Promise<unknown> {
  const caller = scriptedModel([
    { toolCalls: [{ name: made.name, args: args as never }] },
    { text: 'Done.' },
  ]);
  const { session } = await run(agent({ name: 'caller', model: caller, tools: [made] }), 'Go');
  return session.events.find((event) => event.type === 'tool_result')?.result.content;
}

test('a model that calls an agent without a message reads what is missing', async () => {
  expect(await toldModel(agentTool(expert), {})).toContain(
    '- $.message: came nothing, expected a string',
  );
});

test.each([
  ['a must be a number (was missing)', 'a number'],
  ['must be at least 3', 'at least 3'],
  ['Invalid type: Expected number but received undefined', 'number'],
  ['Invalid input: expected number, received undefined', 'number'],
  ['a is a required field', 'a is a required field'],
])('a message of another schema library is no half of a sentence: %s', async (message, told) => {
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'other',
      validate: () => ({ issues: [{ message, path: ['a'] }] }),
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  };
  const count = tool({ name: 'count', description: 'Counts', schema, execute: () => 1 });
  expect(await toldModel(count, {})).toMatch(
    new RegExp(`- \\$\\.a: came nothing, expected ${told}$`, 'm'),
  );
});
