import {
  type Agent,
  agent,
  type JsonValue,
  type Loop,
  loop,
  parallel,
  type Runnable,
  run,
  type Sequence,
  type Step,
  sequence,
  step,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

type OutputOf<R> = R extends Runnable<infer Output> ? Output : never;
type Failed = Extract<NonNullable<OutputOf<typeof shown>>['sum'], { failed: true }>;

const model = scriptedModel([{ text: '{"n":1}' }]);
const total = step({ name: 'total', execute: (ctx) => ctx.complete({ total: 3 }) });
const quiet = step({ name: 'quiet', execute: () => undefined });
const words = step({ name: 'words', execute: (ctx) => ctx.respond('a word') });
const shown = parallel({
  name: 'shown',
  runnables: [
    step({ name: 'sum', execute: (ctx) => ctx.complete(1) }),
    step({ name: 'bad', execute: (ctx) => ctx.fail('no') }),
    step({ name: 'none', execute: () => undefined }),
  ],
  failFast: false,
  minSuccessful: 1,
});

describe('the output of a step', () => {
  test('is what its body completes with', async () => {
    expectTypeOf(total).toEqualTypeOf<Step<{ total: number }, 'total'>>();
    expectTypeOf(words).toEqualTypeOf<Step<string, 'words'>>();
    expectTypeOf(quiet).toEqualTypeOf<Step<undefined, 'quiet'>>();
    const { output } = await run(total);
    expect(output?.total.toFixed(1)).toBe('3.0');
  });

  test('is the union of all its ends', () => {
    const mixed = step({
      name: 'mixed',
      execute: async (ctx) => {
        if (ctx.random('a') > 0.9) return ctx.fail('no');
        if (ctx.random('b') > 0.9) return ctx.skip();
        if (ctx.random('c') > 0.9) return total;
        if (ctx.random('d') > 0.9) return ctx.transfer(words);
        return ctx.complete([1, 2]);
      },
    });
    expectTypeOf<OutputOf<typeof mixed>>().toEqualTypeOf<
      undefined | { total: number } | string | number[]
    >();
  });

  test('keeps the literal types of a union, and widens a literal that is written there', () => {
    const mood = 'happy' as 'happy' | 'sad';
    const moody = step({ name: 'moody', execute: (ctx) => ctx.complete(mood) });
    const plain = step({ name: 'plain', execute: (ctx) => ctx.complete('happy') });
    expectTypeOf<OutputOf<typeof moody>>().toEqualTypeOf<'happy' | 'sad'>();
    expectTypeOf<OutputOf<typeof plain>>().toEqualTypeOf<string>();
  });

  test('is JSON, and what is returned must be an end of a step', () => {
    step({
      name: 'wrong',
      // @ts-expect-error: a Date is not JSON
      execute: (ctx) => ctx.complete({ at: new Date(0) }),
    });
    // @ts-expect-error: a number is no end of a step
    step({ name: 'number', execute: () => 3 });
    const promised = step({ name: 'promised', execute: () => new Promise(() => undefined) });
    expectTypeOf<OutputOf<typeof promised>>().toEqualTypeOf<unknown>();
  });

  test('and its data have the type of the schema `input`', () => {
    step({
      name: 'typed',
      input: z.object({ id: z.string() }),
      execute: (ctx) => {
        expectTypeOf(ctx.input.data).toEqualTypeOf<{ id: string }>();
        expectTypeOf(ctx.message).toEqualTypeOf<string | undefined>();
      },
    });
    step({
      name: 'untyped',
      execute: (ctx) => {
        expectTypeOf(ctx.input?.data).toEqualTypeOf<JsonValue | undefined>();
      },
    });
  });
});

describe('the output of a sequence', () => {
  test('is that of its last part', async () => {
    const job = sequence({ name: 'job', runnables: [quiet, words, total] });
    expectTypeOf(job).toEqualTypeOf<Sequence<{ total: number }, 'job'>>();
    expect((await run(job)).output?.total).toBe(3);
  });

  test('is that of the last part that has any', async () => {
    const job = sequence({ name: 'job', runnables: [total, quiet] });
    expectTypeOf<OutputOf<typeof job>>().toEqualTypeOf<{ total: number }>();
    expect((await run(job)).output?.total).toBe(3);
  });

  test('is any of its parts when it is made of a list', () => {
    const parts: Step<number>[] = [];
    expectTypeOf<OutputOf<ReturnType<typeof ofList>>>().toEqualTypeOf<number>();
    function ofList() {
      return sequence({ name: 'listed', runnables: parts });
    }
  });
});

describe('a part of a sequence that has a schema', () => {
  const named = (input: { readonly [key: string]: z.ZodType }) =>
    step({ name: 'named', input: z.object(input), execute: () => undefined });
  const needsTotal = step({
    name: 'needs',
    input: z.object({ total: z.number(), unit: z.string().optional() }),
    execute: (ctx) => ctx.complete(ctx.input.data.total),
  });
  const needsOther = step({
    name: 'other',
    input: z.object({ other: z.string() }),
    execute: (ctx) => ctx.complete(ctx.input.data.other),
  });
  const maybeOther = step({
    name: 'maybe',
    execute: (ctx) => ctx.complete(ctx.message === '' ? { other: 'a' } : { total: 1 }),
  });
  const anything = step({ name: 'anything', execute: (ctx) => ctx.complete({} as JsonValue) });

  test('takes what the part before it gives', async () => {
    const job = sequence({ name: 'job', runnables: [total, quiet, needsTotal] });
    expectTypeOf<OutputOf<typeof job>>().toEqualTypeOf<number>();
    expect((await run(job)).output).toBe(3);
  });

  test('may take what is not known, is one of several, or has any members', () => {
    sequence({ name: 'first', runnables: [needsOther] });
    sequence({ name: 'unknown', runnables: [anything, needsOther] });
    sequence({ name: 'quiet', runnables: [quiet, needsOther] });
    sequence({ name: 'union', runnables: [maybeOther, needsOther] });
    sequence({ name: 'record', runnables: [total, named({})] });
    sequence({ name: 'list', runnables: [total, ...([] as Step[]), needsOther] });
  });

  test('is refused what lacks a member that it needs', async () => {
    // @ts-expect-error: the total has no `other`
    const job = sequence({ name: 'job', runnables: [total, needsOther] });
    expect((await run(job)).error?.code).toBe('invalid_input');
    // @ts-expect-error: a part without output passes the total on
    sequence({ name: 'passed', runnables: [total, quiet, needsOther] });
    // @ts-expect-error: a text has no members
    sequence({ name: 'text', runnables: [words, needsOther] });
  });
});

describe('the output of a parallel', () => {
  test('has the outputs of its branches by their names', async () => {
    const both = parallel({ name: 'both', runnables: [total, words, quiet] });
    expectTypeOf<OutputOf<typeof both>>().toEqualTypeOf<{
      readonly total: { total: number };
      readonly words: string;
      readonly quiet: null;
    }>();
    const { output } = await run(both);
    expect(output).toEqual({ total: { total: 3 }, words: 'a word', quiet: null });
    // @ts-expect-error: there is no such branch
    expect(output?.other).toBeUndefined();
  });

  test('may lack branches with `until`', () => {
    const first = parallel({ name: 'first', runnables: [total, words], until: 1 });
    expectTypeOf<OutputOf<typeof first>>().toEqualTypeOf<{
      readonly total?: { total: number };
      readonly words?: string;
    }>();
    expect(first.until).toBe(1);
  });

  test('tells of failed branches with `failFast: false`', async () => {
    expectTypeOf<OutputOf<typeof shown>>().toEqualTypeOf<{
      readonly sum: number | Failed;
      readonly bad: Failed;
      readonly none: null | Failed;
    }>();
    const { output } = await run(shown);
    expect(output).toMatchObject({
      sum: 1,
      bad: { failed: true, status: 'error', error: { code: 'step_failed', message: 'no' } },
      none: null,
    });
    const sum = output?.sum;
    expect(typeof sum === 'object' ? sum.error?.message : sum?.toFixed(1)).toBe('1.0');
  });

  test('may lack branches with `minSuccessful`', async () => {
    const some = parallel({
      name: 'some',
      runnables: [total, step({ name: 'bad', execute: (ctx) => ctx.fail('no') })],
      minSuccessful: 1,
    });
    expectTypeOf<OutputOf<typeof some>>().toEqualTypeOf<{
      readonly total?: { total: number };
      readonly bad?: never;
    }>();
    expect((await run(some)).output).toEqual({ total: { total: 3 } });
  });

  test('has agents under their literal names', () => {
    const pair = parallel({
      name: 'pair',
      runnables: [
        agent({ name: 'facts', model, output: z.object({ n: z.number() }) }),
        agent({ name: 'mood', model }),
      ],
    });
    expectTypeOf<OutputOf<typeof pair>>().toEqualTypeOf<{
      readonly facts: { n: number };
      readonly mood: string;
    }>();
  });
});

test('the output of a loop is that of its part, and its condition sees it', async () => {
  const count = step({
    name: 'count',
    execute: (ctx) => ctx.complete({ n: (ctx.input?.data as { n: number } | undefined)?.n ?? 0 }),
  });
  const three = loop({
    name: 'three',
    runnable: count,
    maxIterations: 3,
    while: ({ output }) => (output?.n ?? 0) < 3,
  });
  expectTypeOf(three).toEqualTypeOf<Loop<{ n: number }, 'three'>>();
  expect((await run(three)).output?.n).toBe(0);
});

test('a runnable of any output fits where runnables are asked for', () => {
  const all: Runnable[] = [total, quiet, words, shown, agent({ name: 'a', model })];
  const some: Agent<string> = agent({ name: 'b', model });
  expect([...all, some]).toHaveLength(6);
});
