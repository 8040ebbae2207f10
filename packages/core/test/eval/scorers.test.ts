import {
  cost,
  type EvalCaseInput,
  groundedness,
  latency,
  responseMatch,
  rubric,
  scorer,
  stateMatch,
  steps,
  tokenOverlap,
  tokens,
} from 'adjutant/eval';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scoreOf, trialOf, type WrittenCall } from './trial-of.ts';

describe('responseMatch', () => {
  test.each<
    [
      string,
      Parameters<typeof responseMatch>[0],
      NonNullable<NonNullable<EvalCaseInput['expect']>['response']>,
      string,
      number,
    ]
  >([
    ['exact', { match: 'exact' }, 'It is 28 °C.', '  It is\n28 °C. ', 1],
    ['exact, other letters', { match: 'exact' }, 'Yes', 'yes', 0],
    ['exact, letters of no account', { match: 'exact', ignoreCase: true }, 'Yes', 'yes', 1],
    ['contains', { match: 'contains' }, 'partly cloudy', 'It is Partly  Cloudy.', 1],
    [
      'contains, letters of account',
      { match: 'contains', ignoreCase: false },
      'Cloudy',
      'cloudy',
      0,
    ],
    ['regex', { match: 'regex' }, '\\d+ ?c', 'It is 28 C', 1],
    ['regex, none', { match: 'regex' }, '^\\d+$', 'It is 28', 0],
    ['overlap of the same', {}, 'It is 28C', 'it is 28c!', 1],
    ['overlap of nothing', {}, 'one two', 'three four', 0],
    // 2 of 4 words and 2 of 2 expected ones: 2 · 0.5 · 1 / 1.5.
    ['overlap of half', {}, 'red lamp', 'a red desk lamp', 2 / 3],
    [
      'what is said for itself',
      { match: 'exact' },
      { contains: ['red', 'blue'], excludes: 'green' },
      'red and blue',
      1,
    ],
    [
      'two of three',
      {},
      { contains: ['red', 'blue'], excludes: 'green' },
      'red and green and blue',
      2 / 3,
    ],
    ['a regular expression', {}, { matches: /^a.c$/ }, 'abc', 1],
    ['its flags', {}, { matches: '^A', flags: 'i' }, 'abc', 1],
    ['equals', {}, { equals: 'No' }, 'Nope', 0],
    ['letters that are written in two ways', { match: 'exact' }, 'Caf\u00e9', 'Cafe\u0301', 1],
    ['no answer', {}, 'something', '', 0],
  ])('%s', async (_, options, response, says, score) => {
    const found = await scoreOf(
      responseMatch(options),
      await trialOf({ input: 'Hi', expect: { response } }, [{ says }]),
    );
    expect(found?.score).toBeCloseTo(score, 9);
    expect(found?.explanation).not.toBe('');
  });

  test('passes from 0.8 on with overlap, and all with everything else', () => {
    expect([responseMatch().threshold, responseMatch({ match: 'contains' }).threshold]).toEqual([
      0.8, 1,
    ]);
  });

  test('says what is missing', async () => {
    const trial = await trialOf(
      { input: 'Hi', expect: { response: { contains: ['28', 'cloudy'] } } },
      [{ says: 'It is cloudy.' }],
    );
    expect((await scoreOf(responseMatch(), trial))?.explanation).toBe(
      'The answer is not as expected: it does not contain "28". It is "It is cloudy.".',
    );
  });
});

describe('tokenOverlap', () => {
  test('is ROUGE-1: each word counts as often as it is in both', () => {
    expect(tokenOverlap('the cat the cat', 'the cat sat')).toEqual({
      precision: 0.5,
      recall: 2 / 3,
      f1: (2 * 0.5 * (2 / 3)) / (0.5 + 2 / 3),
    });
    expect(tokenOverlap('', '')).toEqual({ precision: 1, recall: 1, f1: 1 });
    expect(tokenOverlap('', 'a')).toEqual({ precision: 0, recall: 0, f1: 0 });
    expect(tokenOverlap('今日は 晴れ', '今日は 雨').f1).toBe(0.5);
  });

  test('is symmetric, 1 with itself, and between 0 and 1', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const { f1, precision, recall } = tokenOverlap(one, other);
        const back = tokenOverlap(other, one);
        expect(f1).toBeCloseTo(back.f1, 12);
        expect(precision).toBeCloseTo(back.recall, 12);
        for (const share of [f1, precision, recall]) expect(share >= 0 && share <= 1).toBe(true);
        expect(tokenOverlap(one, one).f1).toBe(1);
      }),
    );
  });
});

describe('groundedness', () => {
  const weather: WrittenCall = [
    'weather',
    { city: 'Bangalore' },
    { city: 'Bangalore', celsius: 28.4, sky: 'partly cloudy', station: 'ST-0042' },
  ];
  test.each<[string, string, readonly string[]]>([
    ['what the tool said', 'It is 28.4 °C in Bangalore (station ST-0042).', []],
    ['a rounded number', 'It is about 28 degrees.', []],
    ['a number with more digits than its source', 'It is 28.43 degrees.', ['28.43']],
    ['another number', 'It is 31 degrees.', ['31']],
    ['a number with its unit', 'It is 31C.', ['31']],
    ['a name that nobody said', 'It is 28 in Bangalore, says Mr Smith.', ['Mr Smith']],
    ['another identifier', 'Measured by ST-0043.', ['ST-0043']],
    ['an address', 'See https://weather.example/bangalore.', ['https://weather.example/bangalore']],
    ['a quote', 'The service says "partly cloudy".', []],
    ['a made-up quote', 'The service says "very sunny".', ['very sunny']],
    ['what the user said', 'You asked about Pune, Ann.', []],
    ['words that begin sentences', 'Sure. Here it is:\n- Partly cloudy\n* Warm', []],
    ['nothing to look up', 'I do not know.', []],
  ])('%s', async (_, says, notFound) => {
    const trial = await trialOf({ input: 'I am Ann. Weather in Pune?' }, [
      { says, calls: [weather] },
    ]);
    const found = await scoreOf(groundedness(), trial);
    const details = found?.details as
      | { readonly notFound: readonly { readonly text: string }[] }
      | undefined;
    expect(details?.notFound.map(({ text }) => text)).toEqual(notFound);
    expect(found?.passed).toBe(notFound.length === 0);
  });

  test('numbers are read as people write them', async () => {
    const trial = await trialOf({ input: 'Total?' }, [
      {
        says: 'It is $1,299.50, of 17 039 pieces.',
        calls: [['total', {}, { total: 1299.5, pieces: 17039 }]],
      },
    ]);
    expect((await scoreOf(groundedness(), trial))?.score).toBe(1);
  });

  test('what comes later is no evidence for what was said before', async () => {
    const turns = [{ says: 'It is 7.' }, { says: 'It is 7.', calls: [['f', {}, 7] as const] }];
    expect(
      (await scoreOf(groundedness(), await trialOf({ turns: ['A', 'B'] }, turns)))?.score,
    ).toBe(0.5);
  });

  test('kinds and other sources can be chosen', async () => {
    const trial = await trialOf({ input: 'Hi' }, [{ says: 'Call Ada Lovelace at 555.' }]);
    expect((await scoreOf(groundedness({ claims: ['number'] }), trial))?.explanation).toContain(
      'number "555"',
    );
    expect(
      (await scoreOf(groundedness({ sources: () => ['Ada Lovelace, 555'] }), trial))?.score,
    ).toBe(1);
  });

  test('there is nothing to judge without an answer', async () => {
    expect(await scoreOf(groundedness(), await trialOf({ input: 'Hi' }, [{}]))).toBeUndefined();
  });

  test('long texts of the worst kind are done with soon', async () => {
    const says = [
      'A'.repeat(50_000),
      'Ab '.repeat(20_000),
      `${'a_'.repeat(30_000)}1`,
      '1,'.repeat(30_000),
      `"${'x'.repeat(50_000)}`,
      'a@'.repeat(20_000),
    ];
    for (const text of says)
      await scoreOf(groundedness(), await trialOf({ input: 'Hi' }, [{ says: text }]));
  });
});

describe('budgets', () => {
  test.each([
    [
      'latency within',
      latency({ budget: 100 }),
      { durationMs: 100 },
      1,
      /100 ms, which is within the budget of 100 ms/,
    ],
    ['latency over', latency({ budget: 100 }), { durationMs: 400 }, 0.25, /over the budget/],
    ['cost within', cost({ budget: 0.01 }), { cost: 0.005 }, 1, /\$0\.005/],
    ['cost over', cost({ budget: 0.01 }), { cost: 0.02 }, 0.5, /over/],
    ['cost that is not known', cost({ budget: 0.01 }), {}, 0, /`prices`/],
    [
      'cost of no model call',
      cost({ budget: 0.01 }),
      { usage: { inputTokens: 0, outputTokens: 0 } },
      1,
      /\$0/,
    ],
    ['steps within', steps({ budget: 3 }), { steps: 3 }, 1, /3 model calls/],
    ['steps over', steps({ budget: 3 }), { steps: 4 }, 0.75, /over/],
    ['tokens over', tokens({ budget: 10 }), {}, 2 / 3, /15 tokens/],
  ])('%s', async (_, budget, more, score, explanation) => {
    const found = await scoreOf(budget, await trialOf({ input: 'Hi' }, [{ says: 'Ho' }], more));
    expect(found?.score).toBeCloseTo(score, 9);
    expect(found?.passed).toBe(score === 1);
    expect(found?.explanation).toMatch(explanation);
  });

  test('refuse what is no budget', () => {
    expect(() => latency({ budget: 0 })).toThrow(/`budget` must be a number greater than 0/);
    expect(() => steps({} as never)).toThrow(/`budget`/);
    expect(() => cost({ budget: 1, limit: 2 } as never)).toThrow(/no option `limit`/);
  });
});

describe('stateMatch', () => {
  test('compares the keys that are expected', async () => {
    const written = {
      input: 'Hi',
      expect: { state: { mode: 'done', order: { id: { $any: true as const } } } },
    };
    const state = { mode: 'done', order: { id: 7, more: 1 }, other: true };
    expect(await scoreOf(stateMatch(), await trialOf(written, [{}], { state }))).toMatchObject({
      score: 1,
      passed: true,
    });
    const found = await scoreOf(
      stateMatch({ match: 'exact' }),
      await trialOf(written, [{}], { state }),
    );
    expect(found).toMatchObject({
      score: 0.5,
      explanation: 'The state is not as expected: order.more (1) is not expected.',
    });
  });

  test('what is expected of all cases is added to', async () => {
    const both = stateMatch({ expected: { errors: 0, mode: 'x' } });
    const trial = await trialOf({ input: 'Hi', expect: { state: { mode: 'y' } } }, [{}], {
      state: { mode: 'y' },
    });
    expect((await scoreOf(both, trial))?.explanation).toBe(
      'The state is not as expected: errors: nothing instead of 0.',
    );
    expect(await scoreOf(stateMatch(), await trialOf({ input: 'Hi' }, [{}]))).toBeUndefined();
    expect(() => stateMatch({ expected: [] as never })).toThrow(/`expected`/);
  });
});

describe('own scorers', () => {
  test.each([
    ['true', true, 1],
    ['false', false, 0],
    ['a number', 0.4, 0.4],
    ['a score', { score: 0.7, explanation: 'Why', details: { a: 1 } }, 0.7],
  ])('give %s', async (_, given, score) => {
    expect(
      (
        await scoreOf(
          scorer({ name: 'own', score: () => given }),
          await trialOf({ input: 'Hi' }, [{}]),
        )
      )?.score,
    ).toBe(score);
  });

  test.each([
    ['2', 2],
    ['NaN', Number.NaN],
    ['text', 'good' as never],
    ['null', null as never],
    ['no explanation', { score: 1 } as never],
    ['details that are not JSON', { score: 1, explanation: '', details: new Map() as never }],
  ])('are refused for %s', async (_, given) => {
    const own = scorer({ name: 'own', score: () => given });
    await expect(scoreOf(own, await trialOf({ input: 'Hi' }, [{}]))).rejects.toMatchObject({
      code: 'invalid_score',
    });
  });

  test('may have nothing to say', async () => {
    expect(
      await scoreOf(
        scorer({ name: 'own', score: () => undefined }),
        await trialOf({ input: 'Hi' }, [{}]),
      ),
    ).toBeUndefined();
  });

  test('have a name and a function', () => {
    expect(() => scorer({} as never)).toThrow(/`name`/);
    expect(() => scorer({ name: 'x', threshold: 2, score: () => 1 })).toThrow(
      /`threshold` must be a number from 0 to 1/,
    );
  });
});

describe('rubrics of code', () => {
  test('are the mean of the criteria that apply', async () => {
    const found = await scoreOf(
      rubric({
        criteria: {
          short: ({ answer }) => answer.length < 10,
          plain: () => ({ score: 0.5, explanation: 'It has a list.' }),
          cited: () => undefined,
        },
      }),
      await trialOf({ input: 'Hi' }, [{ says: 'Fine' }]),
    );
    expect(found).toMatchObject({
      score: 0.75,
      passed: false,
      explanation: 'plain: It has a list.',
    });
  });

  test('need a model for sentences, and at least one criterion', () => {
    expect(() => rubric({ criteria: { kind: 'It is kind.' } })).toThrow(
      /`model` is missing, which judges the criterion "kind"/,
    );
    expect(() => rubric({ criteria: {} })).toThrow(/`criteria` must be/);
    expect(() => rubric({ criteria: { a: ' ' } })).toThrow(/`criteria` must be/);
  });
});
