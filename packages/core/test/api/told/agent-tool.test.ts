import { agent, agentTool } from 'adjutant';
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
