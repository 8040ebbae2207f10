import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import { toolResult } from './result.ts';
import { type Tool, type ToolContext, tool } from './tool.ts';

const base = { name: 'sample', description: 'A sample', execute: () => null };

describe('types of tool()', () => {
  test(
    'what somebody outside gives is typed by yieldSchema, and is there when the ' + 'tool runs',
    () => {
      tool({
        name: 'confirm',
        description: '',
        schema: z.object({ order: z.string() }),
        yieldSchema: z.object({ approved: z.boolean(), note: z.string().default('') }),
        prepare: (ctx) => {
          expectTypeOf(ctx.input).toEqualTypeOf<undefined>();
          return ctx.args;
        },
        execute: (ctx) => {
          expectTypeOf(ctx.input).toEqualTypeOf<{ approved: boolean; note: string }>();
          return ctx.input.approved;
        },
        finalize: (ctx) => {
          expectTypeOf(ctx.input).toEqualTypeOf<{ approved: boolean; note: string }>();
          return ctx.result;
        },
      });
    },
  );

  test('what its own check sees are the validated arguments', () => {
    tool({
      ...base,
      schema: z.object({ a: z.number() }),
      check: {
        validate: (_result, args) => {
          expectTypeOf(args).toEqualTypeOf<{ a: number }>();
          return args.a > 3 ? 'too much' : undefined;
        },
      },
    });
  });

  test('arguments come from a zod schema, after its transforms and defaults', () => {
    tool({
      name: 'add',
      description: '',
      schema: z.object({
        a: z.number(),
        b: z.string().transform(Number),
        c: z.boolean().default(true),
      }),
      execute: (ctx) => {
        expectTypeOf(ctx.args).toEqualTypeOf<{ a: number; b: number; c: boolean }>();
        expectTypeOf(ctx.args.a).toEqualTypeOf<number>();
        return ctx.args.a;
      },
      prepare: (ctx) => ({ ...ctx.args, a: 1 }),
    });
  });

  test('arguments of a plain JSON Schema are a JSON object, or what execute says they are', () => {
    tool({
      name: 'plain',
      description: '',
      schema: { type: 'object', properties: { city: { type: 'string' } } },
      execute: (ctx) => {
        expectTypeOf(ctx.args).toEqualTypeOf<JsonObject>();
        return null;
      },
    });
    const annotated = tool({
      name: 'annotated',
      description: '',
      schema: {},
      execute: (ctx: ToolContext<{ city: string }>) => ctx.args.city.length,
    });
    expectTypeOf(annotated).toEqualTypeOf<Tool>();
  });

  test('finalize sees the awaited result of execute', () => {
    tool({
      name: 'sync',
      description: '',
      schema: z.object({}),
      execute: () => ({ rows: 3 }),
      finalize: (ctx) => {
        expectTypeOf(ctx.result).toEqualTypeOf<{ rows: number }>();
        return ctx.result.rows;
      },
    });
    tool({
      name: 'async',
      description: '',
      schema: z.object({ id: z.string() }),
      execute: async (ctx) =>
        ctx.args.id === '' ? toolResult.permanent('no id') : { id: ctx.args.id },
      finalize: (ctx) => {
        expectTypeOf(ctx.args).toEqualTypeOf<{ id: string }>();
        expectTypeOf(ctx.result).toEqualTypeOf<{ id: string }>();
        return ctx.result.id;
      },
    });
  });

  test('the output schema binds what execute returns', () => {
    tool({
      name: 'bound',
      description: '',
      schema: z.object({}),
      outputSchema: z.object({ total: z.number() }),
      // @ts-expect-error a string is not the total that the output schema asks for
      execute: () => ({ total: 'three' }),
    });
  });

  test('state is typed by stateSchema', () => {
    tool({
      name: 'stateful',
      description: '',
      schema: z.object({}),
      stateSchema: { session: { count: z.number() } },
      execute: (ctx) => {
        expectTypeOf(ctx.state.count).toEqualTypeOf<number | undefined>();
        return null;
      },
    });
  });
});

describe('tool()', () => {
  test('defaults are safe: report, no attempts of its own, no hints', () => {
    const made = tool({ ...base, schema: z.object({ a: z.number() }) });
    expect(made).toMatchObject({
      recovery: 'report',
      readOnly: false,
      idempotent: false,
      destructive: false,
      timeoutMs: undefined,
    });
    expect(made.retry).toBeUndefined();
    expect(made.requiresPermission).toEqual([]);
    expect(made.inputSchema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
    });
  });

  test.each([{ readOnly: true }, { idempotent: true }])('%j may be run again', (hint) => {
    expect(tool({ ...base, schema: {}, ...hint }).recovery).toBe('rerun');
  });

  test('retry has the documented defaults', () => {
    expect(tool({ ...base, schema: {}, retry: {} }).retry).toEqual({
      attempts: 3,
      initialDelayMs: 1_000,
      maxDelayMs: Number.POSITIVE_INFINITY,
      multiplier: 2,
      jitter: false,
    });
  });

  test('the retries of a definition may be given to another one', () => {
    const first = tool({ ...base, schema: {}, retry: { attempts: 5 } });
    expect(tool({ ...base, schema: {}, retry: first.retry ?? {} }).retry).toEqual(first.retry);
  });

  test('definitions are frozen and do not follow later changes of the schema object', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const made = tool({ ...base, schema });
    schema.properties.a.type = 'number';
    expect(made.inputSchema).toMatchObject({ properties: { a: { type: 'string' } } });
    expect(Object.isFrozen(made)).toBe(true);
    expect(Object.isFrozen(made.inputSchema['properties'])).toBe(true);
  });

  test('a JSON Schema without a type describes an object', () => {
    expect(tool({ ...base, schema: { properties: {} } }).inputSchema).toEqual({
      type: 'object',
      properties: {},
    });
  });

  const union = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a') }),
    z.object({ kind: z.literal('b') }),
  ]);
  test('a union of objects is shown as an object', () => {
    expect(tool({ ...base, schema: union }).inputSchema['type']).toBe('object');
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['empty name', { name: '' }, /letters, digits/],
    ['space in the name', { name: 'a b' }, /letters, digits/],
    ['dot at the end', { name: 'a.' }, /letters, digits/],
    ['name that is no string', { name: 7 }, /letters, digits/],
    ['long name', { name: 'x'.repeat(65) }, /at most 64/],
    [
      'name space that makes it too long',
      { name: `${'x'.repeat(40)}.${'y'.repeat(23)}` },
      /at most 64/,
    ],
    ['no description', { description: undefined }, /description/],
    ['no execute', { execute: undefined }, /execute/],
    [
      'repetition',
      { onRepeat: 'retry' },
      /`onRepeat` must be one of 'confirm', 'refuse', 'allow', not "retry"/,
    ],
    [
      'recovery',
      { recovery: 'check' },
      /`recovery` must be 'report', 'rerun', 'ask' or a probe, not "check"/,
    ],
    ['approval', { approval: 'always' }, /`approval` must be an object, not "always"/],
    [
      'part of an approval',
      { approval: { expires: 5 } },
      /`approval` must be an object without `expires`/,
    ],
    [
      'escalation',
      { approval: { onExpire: 'escalate' } },
      /`approval` must be an object that says with `escalateTo`/,
    ],
    [
      'execute',
      { execute: undefined },
      /`execute` must be a function, unless the tool has a `yieldSchema`/,
    ],
    [
      'an option that does not exist',
      { approvals: true },
      /no option `approvals` \(did you mean `approval`\?\)/,
    ],
    ['a misspelt option', { timeotMs: 5 }, /did you mean `timeoutMs`/],
    [
      'an approval that nobody may give',
      { approval: { mayDecide: [] } },
      /`mayDecide` is a list of at least one id/,
    ],
    [
      'an escalation to nobody',
      { approval: { escalateTo: [] } },
      /`escalateTo` is a list of at least one id/,
    ],
    [
      'a way to ask without what is asked for',
      { yieldOptions: { expiresInMs: 5 } },
      /it needs a `yieldSchema`/,
    ],
    ['retry that is a number', { retry: 3 }, /`retry` must be an object/],
    ['a misspelt option of retry', { retry: { initialDelay: 3 } }, /did you mean `initialDelayMs`/],
    ['a former name', { retry: { maxAttempts: 3 } }, /it is called `attempts` now/],
    ['contradiction', { readOnly: true, destructive: true }, /contradict/],
    ['timeout of zero', { timeoutMs: 0 }, /timeoutMs/],
    ['timeout that is no number', { timeoutMs: Number.NaN }, /timeoutMs/],
    ['no attempts', { retry: { attempts: 0 } }, /attempts/],
    ['negative delay', { retry: { initialDelayMs: -1 } }, /initialDelayMs/],
    ['shrinking delay', { retry: { multiplier: 0.5 } }, /multiplier/],
    ['no schema', { schema: undefined }, /Standard Schema/],
    ['array as schema', { schema: [] }, /Standard Schema/],
    ['schema of a string', { schema: z.string() }, /object of arguments/],
    ['JSON Schema of an array', { schema: { type: 'array' } }, /object of arguments/],
    ['JSON Schema with a function in it', { schema: { default: () => 1 } }, /not JSON Schema/],
    [
      'schema without JSON form',
      { schema: z.object({ when: z.date() }) },
      /cannot be written as JSON Schema/,
    ],
    [
      'library without JSON Schema',
      { schema: { '~standard': { version: 1, vendor: 'tiny', validate: () => ({ value: 1 }) } } },
      /tiny/,
    ],
  ])('refuses: %s', (_, change, message) => {
    const options = { ...base, schema: z.object({}), ...change } as Parameters<typeof tool>[0];
    expect(() => tool(options)).toThrow(
      expect.objectContaining({ code: 'invalid_tool', message: expect.stringMatching(message) }),
    );
  });
});
