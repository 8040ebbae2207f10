import {
  agent,
  agentTool,
  loop,
  parallel,
  run,
  type Step,
  type StepOptions,
  sequence,
  step,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusalOf } from './refusal.ts';

const model = scriptedModel([], { defaultResponse: { text: 'Done.' } });
const clerk = agent({ name: 'clerk', model });
const schema = z.object({ a: z.number() });
/** The parameters of a tool as the SDKs of MCP and of Claude take them. */
const shape = { city: z.string(), days: z.number() };
const execute = () => undefined;
const any = (written: object) => written as never;
const toolOptions = { name: 't', description: 'Does it', execute };

describe('a schema under the name of another system is not left out silently', () => {
  test.each<[string, () => unknown, string]>([
    [
      'inputSchema of a step',
      () => step(any({ name: 's', inputSchema: schema, execute })),
      'The step "s" cannot be defined: there is no option `inputSchema` (it is `input` here).',
    ],
    [
      'outputSchema of a step',
      () => step(any({ name: 's', outputSchema: schema, execute })),
      'no option `outputSchema` (ctx.complete(value) gives the output its type; check the value ' +
        'before it)',
    ],
    [
      'inputSchema of a sequence',
      () => sequence(any({ name: 's', runnables: [clerk], inputSchema: schema })),
      'no option `inputSchema` (data is checked by the part that gets it: step({ input: schema }))',
    ],
    [
      'outputSchema of a parallel',
      () => parallel(any({ name: 'p', runnables: [clerk], outputSchema: schema })),
      'no option `outputSchema` (the output is made of those of the parts)',
    ],
    [
      'inputSchema of a loop',
      () => loop(any({ name: 'l', runnable: clerk, inputSchema: schema })),
      'no option `inputSchema` (data is checked by the part that gets it: step({ input: schema }))',
    ],
    [
      'outputSchema of an agent',
      () => agent(any({ name: 'a', model, outputSchema: schema })),
      'no option `outputSchema` (it is `output` here)',
    ],
    [
      'inputSchema of a tool',
      () => tool(any({ ...toolOptions, inputSchema: schema })),
      'no option `inputSchema` (it is `schema` here)',
    ],
    [
      'inputSchema of a tool beside its schema',
      () => tool(any({ ...toolOptions, schema, inputSchema: z.object({}) })),
      '`inputSchema` must be the one that the spread definition has ' +
        '(a new schema goes into `schema`)',
    ],
    [
      'outputSchema of an agent as a tool',
      () => agentTool(clerk, any({ outputSchema: schema })),
      'no option `outputSchema` (the agent has it: agent({ output: schema }))',
    ],
  ])('%s', (_name, act, told) => {
    expect(refusalOf(act)).toContain(told);
  });

  test('a list of options has documented ones only', () => {
    expect(refusalOf(() => step(any({ name: 's', colour: 'red', execute })))).toContain(
      'no option `colour` (the options are name, description, execute, input, ',
    );
  });

  test('a step that is spread keeps its schema, and takes no other one beside it', async () => {
    const first = step({ name: 'first', input: schema, execute: (ctx) => ctx.complete(1) });
    const second = step({ ...(first as unknown as StepOptions), name: 'second' });
    expect((second as Step).inputSchema).toEqual(first.inputSchema);
    expect(
      refusalOf(() => step(any({ ...first, inputSchema: z.object({ b: z.string() }) }))),
    ).toContain(
      '`inputSchema` must be the one that the spread definition has ' +
        '(a new schema goes into `input`)',
    );
  });
});

describe('fields in the place of a schema are refused', () => {
  const made = 'is a plain object with schemas in it: write z.object({ city: …, days: … })';

  test.each<[string, () => unknown, string]>([
    ['a tool', () => tool(any({ ...toolOptions, schema: shape })), `\`schema\` ${made}`],
    [
      'the result of a tool',
      () => tool(any({ ...toolOptions, schema, outputSchema: shape })),
      `\`outputSchema\` ${made}`,
    ],
    [
      'the input that a tool waits for',
      () => tool(any({ ...toolOptions, schema, yieldSchema: shape })),
      `\`yieldSchema\` ${made}`,
    ],
    ['an agent as a tool', () => agentTool(clerk, any({ schema: shape })), `\`schema\` ${made}`],
    [
      'the input of a step',
      () => step(any({ name: 's', input: shape, execute })),
      `the schema of its \`input\` ${made}`,
    ],
    [
      'the input of an agent',
      () => agent(any({ name: 'a', model, input: shape })),
      `the schema of its \`input\` ${made}`,
    ],
    [
      'the output of an agent',
      () => agent(any({ name: 'a', model, output: shape })),
      `the schema of its output ${made}`,
    ],
    [
      'JSON Schema with a schema of a library inside',
      () => tool(any({ ...toolOptions, schema: { type: 'object', properties: shape } })),
      '`schema` has a schema of a library in it, at `properties.city`: write all of it as ' +
        'z.object({ … }), or all of it as JSON Schema',
    ],
    [
      'fields of JSON Schema without an object around them',
      () => tool(any({ ...toolOptions, schema: { city: { type: 'string' } } })),
      '`schema` is not JSON Schema: fields belong into { type:',
    ],
    [
      'a number for the result of a tool',
      () => tool(any({ ...toolOptions, schema, outputSchema: 5 })),
      '`outputSchema` must be a Standard Schema',
    ],
  ])('%s', (_name, act, told) => {
    expect(refusalOf(act)).toContain(told);
  });

  test('a question', async () => {
    const asks = step({
      name: 'asks',
      execute: async (ctx) => {
        await ctx.ask('where', any({ message: 'Where?', schema: shape }));
      },
    });
    const { status, error } = await run(asks);
    expect([status, error?.message]).toEqual([
      'error',
      'The question "where" cannot begin: `schema` is a plain object with schemas in it: write ' +
        'z.object({ city: …, days: … }).',
    ]);
  });

  test.each<[string, object]>([
    ['nothing is asked for', {}],
    ['a field is called like a keyword', { type: 'object', properties: { type: {} } }],
    ['only some rules are given', { properties: { a: { type: 'string' } } }],
    ['a default and an enum hold lists', { type: 'object', default: { a: [1] } }],
  ])('JSON Schema is taken as it is: %s', (_name, written) => {
    expect(refusalOf(() => tool(any({ ...toolOptions, schema: written })))).toBe(
      'nothing was refused',
    );
  });
});
