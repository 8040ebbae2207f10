import { run, type StepContext, step } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** Returns the error for a person whose step waits, or does something, in this way. */
async function toldOf(work: (ctx: StepContext) => unknown): Promise<string | undefined> {
  const body = step({
    name: 'body',
    execute: async (ctx) => {
      await work(ctx);
    },
  });
  return (await run(body)).error?.message;
}

type Written = readonly never[];
const written = (...args: readonly unknown[]): Written => args as Written;
const asks = (...args: readonly unknown[]) =>
  toldOf((ctx) => (ctx.ask as (...given: Written) => unknown)(...written(...args)));
const sleeps = (...args: readonly unknown[]) =>
  toldOf((ctx) => (ctx.sleep as (...given: Written) => unknown)(...written(...args)));

describe('a question as people write it first', () => {
  test('without a key', async () => {
    expect(await asks('Which colour?')).toBe(
      'A question cannot begin: the key comes first, then the question: ' +
        'ctx.ask(\'key\', "Which colour?").',
    );
  });

  test('as options without a key', async () => {
    expect(await asks({ message: 'Which colour?', schema: z.string() })).toBe(
      'A question cannot begin: the key comes first, then the question: ' +
        "ctx.ask('key', { message: 'Which colour?' }).",
    );
  });

  test.each([
    ['question', 'it is `message` here'],
    ['title', 'it is `message` here'],
    ['resumeSchema', 'it is `schema` here'],
    ['suspendSchema', 'it is `details` here and needs no schema'],
    ['timeout', 'it is `expiresInMs` here'],
  ])('with the option %s', async (option, hint) => {
    expect(await asks('colour', { message: 'Which colour?', [option]: {} })).toBe(
      `The question "colour" cannot begin: there is no option \`${option}\` (${hint}).`,
    );
  });

  test('twice under one key', async () => {
    const twice = toldOf((ctx) =>
      Promise.all([ctx.ask('colour', 'Which?'), ctx.ask('colour', 'Which other?')]),
    );
    expect(await twice).toBe(
      '"colour" cannot be the key of a child or an effect: it names another child of the same ' +
        'body already. Each call, question, sleep and effect of a body has a key of its own; in ' +
        'a loop, add its number: "colour 2".',
    );
  });
});

describe('a sleep as people write it first', () => {
  const first = 'A sleep cannot begin: the key comes first, then the time: ';

  test.each<[string, readonly unknown[], string]>([
    ['a time without a key', [1_000], `${first}ctx.sleep('key', 1000).`],
    ['a text alone', ['5 minutes'], `${first}ctx.sleep('key', 60_000).`],
    ['a date without a key', [new Date(0)], `${first}ctx.sleep('key', { until: date }).`],
    ['an end without a key', [{ until: 0 }], `${first}ctx.sleep('key', { until: date }).`],
    [
      'a date that is no end',
      ['noon', new Date(0)],
      'The sleep "noon" cannot begin: a date is given as an end: ' +
        "ctx.sleep('noon', { until: date }).",
    ],
    [
      'words',
      ['noon', '5 minutes'],
      'The sleep "noon" cannot begin: the time must be a number of milliseconds from 0, or ' +
        '{ until } with a date or epoch milliseconds, and no later than dates can be.',
    ],
  ])('%s', async (_name, args, told) => {
    expect(await sleeps(...args)).toBe(told);
  });
});

test('an effect without a key', async () => {
  const told = await toldOf((ctx) =>
    (ctx.effect as (...given: Written) => unknown)(...written(() => 'sent')),
  );
  expect(told).toBe(
    "An effect cannot begin: the key comes first, then the function: ctx.effect('key', () => …).",
  );
});
