import { agent, run, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';

const withSchema = (schema: unknown) => () =>
  tool({ name: 'find', description: 'Finds', schema: schema as object as never, execute: () => 1 });

test('a schema of zod 3 is refused with what to install', () => {
  expect(withSchema(z3.object({ id: z3.string() }))).toThrow(
    'The tool "find" cannot be defined: `schema` is a schema of zod 3, which cannot give a JSON ' +
      'Schema: install zod 4.2 or later (npm install zod@4), or pass a JSON Schema object.',
  );
});

test('an object with `parse` is told as one of an unknown library', () => {
  expect(withSchema({ parse: () => 1 })).toThrow(
    'The tool "find" cannot be defined: `schema` is an object of a schema library of an unknown ' +
      'kind (it has `parse`, and no `~standard`). It must be a Standard Schema that gives JSON ' +
      'Schema, such as one of zod 4.2 or later, or a JSON Schema object.',
  );
});

test('plain JSON Schema of z.toJSONSchema in zod 3.25 checks the arguments of calls', async () => {
  const given = z.toJSONSchema(z.object({ id: z.string().min(3), tags: z.array(z.string()) }));
  const schema = JSON.parse(JSON.stringify(given)) as unknown;
  const model = scriptedModel([
    { toolCalls: [{ name: 'find', args: { id: 'a', tags: [] } }] },
    { toolCalls: [{ name: 'find', args: { id: 'abc', tags: ['x'] } }] },
    { text: 'Done.' },
  ]);
  const { session } = await run(agent({ name: 'a', model, tools: [withSchema(schema)()] }), 'Find');
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.result.status] : [],
  );
  expect(results).toEqual(['error_permanent', 'success']);
});

test('the schema of an answer and of an input are told in the same way', () => {
  const old = z3.object({}) as never;
  const model = scriptedModel([]);
  expect(() => agent({ name: 'a', model, output: old })).toThrow(/is a schema of zod 3, which/);
  expect(() => agent({ name: 'a', model, input: old })).toThrow(/`input` is a schema of zod 3, /);
});
