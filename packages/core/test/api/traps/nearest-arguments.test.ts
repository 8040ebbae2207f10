import { agent, type JsonObject, run, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const strict = z.strictObject({
  query: z.string(),
  unit: z.enum(['celsius', 'fahrenheit']).optional(),
  places: z.array(z.strictObject({ postcode: z.string() })).optional(),
});
const tolerant = z.object({ query: z.string(), maxResults: z.number() });
const shapes = z.object({
  shape: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('circle'), radius: z.number() }),
    z.strictObject({ kind: z.literal('square'), side: z.number() }),
  ]),
});
const recursive = z.strictObject({
  name: z.string(),
  get children() {
    return z.array(recursive).optional();
  },
});

/** The text that the model reads about a call with these arguments. */
async function toldAbout(args: JsonObject, schema: object): Promise<string> {
  const find = tool({
    name: 'find',
    description: 'Finds',
    schema: schema as JsonObject,
    execute: () => 'found',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'find', args }] }, { text: 'Done.' }]);
  await run(agent({ name: 'finder', model, tools: [find] }), 'Find');
  return JSON.stringify(model.calls[1]?.prompt.at(-1)).replaceAll('\\"', '"');
}

const asJsonSchema = (schema: z.ZodType) =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));

describe.each([
  ['zod', (schema: z.ZodType) => schema],
  ['JSON Schema', asJsonSchema],
])('a call that does not fit a schema of %s', (_, given) => {
  const told = (args: JsonObject, schema: z.ZodType) => toldAbout(args, given(schema));

  test('an unknown argument is told with the nearest one', async () => {
    expect(await told({ query: 'a', units: 'celsius' }, strict)).toContain(
      '$.units: came the string "celsius", expected no member of this name (did you mean "unit"?)',
    );
  });

  test('so is one inside a list', async () => {
    expect(
      await told({ query: 'a', places: [{ postcode: '1' }, { post_code: '2' }] }, strict),
    ).toContain(
      '$.places[1].post_code: came the string "2", expected no member of this name ' +
        '(did you mean "postcode"?)',
    );
  });

  test('one that is like no other is told without a guess', async () => {
    expect(await told({ query: 'a', surprise: 1 }, strict)).toMatch(
      /\$\.surprise: came the number 1, expected no member of this name(?! \()/,
    );
  });

  test('a missing argument is told with the unknown one that may stand for it', async () => {
    const text = await told({ quary: 'a', max_results: 3 }, tolerant);
    expect(text).toContain(
      '$.query: came nothing, expected a string (did you write "quary" for it?)',
    );
    expect(text).toContain(
      '$.maxResults: came nothing, expected a number (did you write "max_results" for it?)',
    );
  });

  test('where the unknown one is told itself, it is told once', async () => {
    const text = await told({ quary: 'a' }, strict);
    expect(text).toContain('expected no member of this name (did you mean "query"?)');
    expect(text).not.toContain('for it?');
  });

  test('a wrong value is told with the nearest one of the list', async () => {
    expect(await told({ query: 'a', unit: 'Farenheit' }, strict)).toContain(
      '$.unit: came the string "Farenheit", expected one of "celsius", "fahrenheit" ' +
        '(did you mean "fahrenheit"?)',
    );
  });

  test('a value that is near to none is told without a guess', async () => {
    expect(await told({ query: 'a', unit: 'kelvin' }, strict)).toMatch(
      /expected one of "celsius", "fahrenheit"(?! \()/,
    );
  });

  test('a schema that refers to itself', async () => {
    expect(await told({ name: 'a', children: [{ name: 'b', childern: [] }] }, recursive)).toContain(
      '(did you mean "children"?)',
    );
  });

  test('names of a million characters', async () => {
    const text = await told({ query: 'a', [`q${'u'.repeat(1_000_000)}`]: 1 }, strict);
    expect(text).not.toContain('did you mean');
  });
});

test('the kind of a union is told with the nearest one', async () => {
  expect(await toldAbout({ shape: { kind: 'circel', radius: 1 } }, shapes)).toContain(
    '(did you mean "circle"?)',
  );
});

test('a short value is near to its other spelling only', async () => {
  const schema = z.object({ axis: z.enum(['x', 'y']) });
  expect(await toldAbout({ axis: 'z' }, schema)).not.toContain('did you mean');
  expect(await toldAbout({ axis: 'X' }, schema)).toContain('(did you mean "x"?)');
});
