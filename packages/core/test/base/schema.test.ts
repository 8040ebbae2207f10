import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { jsonSchemaOf } from '../../src/base/schema.ts';

/** A schema of `zod/v4` as zod 3.25 has it: without JSON Schema, and it says that it is 4.0. */
function asInZod325(schema: z.ZodType): unknown {
  const { validate, vendor, version } = schema['~standard'];
  const zod = { ...schema._zod, version: { major: 4, minor: 0, patch: 0 } };
  return { _zod: zod, def: schema.def, '~standard': { validate, vendor, version } };
}

class Validator {
  validate(): boolean {
    return true;
  }
}

describe('jsonSchemaOf', () => {
  test('takes schemas of zod', () => {
    expect(jsonSchemaOf(z.object({ id: z.string() }))).toMatchObject({
      schema: { type: 'object', properties: { id: { type: 'string' } } },
    });
  });

  test('takes what z.toJSONSchema gives, also that of older versions', () => {
    const given = z.toJSONSchema(z.object({ id: z.string() }));
    expect(jsonSchemaOf(given)).toMatchObject({ schema: { required: ['id'] } });
    // Zod 3.25 gives it as plain JSON.
    const plain = JSON.parse(JSON.stringify(given)) as object;
    expect(jsonSchemaOf(plain)).toEqual({ schema: plain });
  });

  test.each([
    [
      'a schema of zod 3',
      z3.object({ id: z3.string() }),
      'is a schema of zod 3, which cannot give a JSON Schema: install zod 4.2 or later (npm ' +
        'install zod@4), or pass a JSON Schema object',
    ],
    [
      'a schema of zod/v4 in zod 3.25',
      asInZod325(z.object({ id: z.string() })),
      'is a schema of zod 4.0 (zod/v4 of zod 3.25), which gives a JSON Schema on request ' +
        'only: install zod 4.2 or later (npm install zod@4), or pass z.toJSONSchema(schema)',
    ],
    [
      'a schema of another library',
      { '~standard': { version: 1, vendor: 'tiny', validate: (value: unknown) => ({ value }) } },
      '(of tiny) cannot give a JSON Schema; use a library that implements Standard JSON Schema, ' +
        'such as zod 4.2 or later, or pass a JSON Schema object',
    ],
    [
      'an object with `parse`',
      { parse: () => 1 },
      'is an object of a schema library of an unknown kind (it has `parse`, and no `~standard`). ' +
        'It must be a Standard Schema that gives JSON Schema, such as one of zod 4.2 or ' +
        'later, or ' +
        'a JSON Schema object',
    ],
    [
      'an object of a class',
      new Validator(),
      expect.stringContaining('(it has `validate`, and no `~standard`)'),
    ],
    [
      'an object with another method of such libraries',
      { type: 'object', refine: () => 1 },
      expect.stringContaining('(it has `refine`, and no `~standard`)'),
    ],
    [
      'no object',
      () => 1,
      'must be a Standard Schema (such as z.object({…})) or a JSON Schema object',
    ],
  ])('refuses %s', (_name, schema, reason) => {
    expect(jsonSchemaOf(schema)).toEqual({ reason });
  });
});
