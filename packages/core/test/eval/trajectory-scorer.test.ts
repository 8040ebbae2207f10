import { type EvalCaseInput, toolTrajectory } from 'adjutant/eval';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scoreOf, trialOf, type WrittenCall } from './trial-of.ts';

type Tools = NonNullable<NonNullable<EvalCaseInput['expect']>['tools']>;

describe('toolTrajectory', () => {
  const a = { name: 'a', args: {} };
  const b = { name: 'b', args: {} };
  const c = { name: 'c', args: {} };
  test.each<
    [string, 'exact' | 'in_order' | 'any_order' | 'subset', Tools, readonly WrittenCall[], number]
  >([
    ['the same', 'exact', [a, b], ['a', 'b'], 1],
    ['none, as expected', 'exact', [], [], 1],
    ['one too many', 'exact', [a], ['a', 'b'], 0.5],
    ['one too few', 'exact', [a, b], ['a'], 0.5],
    ['another order', 'exact', [a, b], ['b', 'a'], 0.5],
    ['one, and none expected', 'exact', [], ['a'], 0],
    ['none, and one expected', 'exact', [a], [], 0],
    ['the same twice', 'exact', [a], ['a', 'a'], 0.5],
    ['others between', 'in_order', [a, c], ['x', 'a', 'b', 'c'], 1],
    ['another order', 'in_order', [a, b], ['b', 'a'], 0.5],
    ['none expected', 'in_order', [], ['a'], 1],
    ['another order and others', 'any_order', [a, b], ['b', 'x', 'a'], 1],
    ['one missing', 'any_order', [a, b], ['b'], 0.5],
    ['one call for two expected ones', 'any_order', [a, a], ['a'], 0.5],
    ['fewer than expected', 'subset', [a, b], ['b'], 1],
    ['none at all', 'subset', [a, b], [], 1],
    ['one that is not expected', 'subset', [a, b], ['a', 'x'], 0.5],
    ['one too often', 'subset', [a], ['a', 'a'], 0.5],
  ])('%s (%s)', async (_, match, expected, calls, score) => {
    const found = await scoreOf(
      toolTrajectory({ match }),
      await trialOf({ input: 'Hi', expect: { tools: expected } }, [{ calls }]),
    );
    expect(found).toMatchObject({ score, passed: score === 1 });
  });

  test.each<[string, 'exact' | 'partial' | 'ignore', Tools[number], WrittenCall, boolean]>([
    [
      'equal',
      'exact',
      { name: 'f', args: { x: 1, y: [2, { z: 'a' }] } },
      ['f', { y: [2, { z: 'a' }], x: 1 }],
      true,
    ],
    ['one more', 'exact', { name: 'f', args: { x: 1 } }, ['f', { x: 1, y: 2 }], false],
    ['one more', 'partial', { name: 'f', args: { x: 1 } }, ['f', { x: 1, y: 2 }], true],
    [
      'one more deep inside',
      'partial',
      { name: 'f', args: { x: { y: 1 } } },
      ['f', { x: { y: 1, z: 2 } }],
      true,
    ],
    ['one missing', 'partial', { name: 'f', args: { x: 1, y: 2 } }, ['f', { x: 1 }], false],
    ['other kinds', 'exact', { name: 'f', args: { x: 1 } }, ['f', { x: '1' }], false],
    ['any, when none are expected', 'exact', { name: 'f' }, ['f', { x: 1 }], true],
    [
      'others, which count for nothing',
      'ignore',
      { name: 'f', args: { x: 1 } },
      ['f', { x: 2 }],
      true,
    ],
    [
      'others, where the call says otherwise',
      'ignore',
      { name: 'f', args: { x: 1 }, match: 'partial' },
      ['f', { x: 2, y: 1 }],
      false,
    ],
    [
      'one more, where the call says so',
      'exact',
      { name: 'f', args: { x: 1 }, match: 'partial' },
      ['f', { x: 1, y: 2 }],
      true,
    ],
    [
      'a pattern',
      'exact',
      { name: 'f', args: { city: /^ban/i } },
      ['f', { city: 'Bangalore' }],
      true,
    ],
    [
      'a pattern with memory',
      'exact',
      { name: 'f', args: { city: /ban/gi } },
      ['f', { city: 'Bangalore' }],
      true,
    ],
    [
      'a written pattern',
      'exact',
      { name: 'f', args: { city: { $regex: '^ban', $flags: 'i' } } },
      ['f', { city: 'Bangalore' }],
      true,
    ],
    [
      'a pattern that does not match',
      'exact',
      { name: 'f', args: { city: { $regex: '^Ban' } } },
      ['f', { city: 'Pune' }],
      false,
    ],
    [
      'a pattern for a number',
      'exact',
      { name: 'f', args: { n: /^4\d$/ } },
      ['f', { n: 42 }],
      true,
    ],
    ['a pattern for a list', 'exact', { name: 'f', args: { n: /4/ } }, ['f', { n: [4] }], false],
    ['anything', 'exact', { name: 'f', args: { id: { $any: true } } }, ['f', { id: null }], true],
    [
      'anything, and nothing there',
      'exact',
      { name: 'f', args: { id: { $any: true } } },
      ['f', {}],
      false,
    ],
    [
      'lists of other lengths',
      'partial',
      { name: 'f', args: { x: [1] } },
      ['f', { x: [1, 2] }],
      false,
    ],
    ['an inherited name', 'partial', { name: 'f', args: { toString: 'x' } }, ['f', {}], false],
    [
      'arguments that are no object',
      'exact',
      { name: 'f', args: { x: 1 } },
      ['f', 'not json'],
      false,
    ],
  ])('arguments: %s (%s)', async (_, args, expected, call, fits) => {
    const found = await scoreOf(
      toolTrajectory({ args }),
      await trialOf({ input: 'Hi', expect: { tools: [expected] } }, [{ calls: [call] }]),
    );
    expect(found?.passed).toBe(fits);
  });

  test(
    'a call that fits several expectations does not take the place of one that fits only ' +
      'there',
    async () => {
      const expected = [
        { name: 'f', args: { x: { $any: true as const } } },
        { name: 'f', args: { x: 1 } },
      ];
      const trial = await trialOf({ input: 'Hi', expect: { tools: expected } }, [
        {
          calls: [
            ['f', { x: 1 }],
            ['f', { x: 2 }],
          ],
        },
      ]);
      expect((await scoreOf(toolTrajectory({ match: 'any_order' }), trial))?.score).toBe(1);
    },
  );

  test(
    'each turn is compared with what is expected of it, and turns that were not reached have ' +
      'called nothing',
    async () => {
      const written = {
        turns: [
          { user: 'One', expect: { tools: [a] } },
          { user: 'Two' },
          { user: 'Three', expect: { tools: [b] } },
        ],
      };
      expect(
        await scoreOf(
          toolTrajectory(),
          await trialOf(written, [{ calls: ['a'] }, { calls: ['x'] }, { calls: ['b'] }]),
        ),
      ).toMatchObject({
        score: 1,
      });
      const found = await scoreOf(toolTrajectory(), await trialOf(written, [{ calls: ['a'] }]));
      expect(found?.score).toBe(0.5);
      expect(found?.explanation).toBe(
        'In turn 3: Expected b({}): it was not called. 0 of 1 expected calls fit; called: no tool.',
      );
    },
  );

  test('says what to look at', async () => {
    const expected = [{ name: 'search', args: { query: 'weather Bangalore' } }];
    const trial = await trialOf({ input: 'Hi', expect: { tools: expected } }, [
      { calls: [['search', { query: 'weather Pune' }], 'mail'] },
    ]);
    expect((await scoreOf(toolTrajectory(), trial))?.explanation).toBe(
      'Expected search({"query":"weather Bangalore"}): query: "weather Pune" instead of ' +
        '"weather Bangalore". Not expected: mail({}). 0 of 1 expected calls fit; called: ' +
        'search, mail.',
    );
  });

  test('says nothing of cases that expect nothing', async () => {
    expect(
      await scoreOf(toolTrajectory(), await trialOf({ input: 'Hi' }, [{ calls: ['a'] }])),
    ).toBeUndefined();
  });

  test('can look at the calls of one agent only', async () => {
    const trial = await trialOf({ input: 'Hi', expect: { tools: [a] } }, [{ calls: ['a', 'b'] }]);
    const calls = trial.toolCalls.map((call) => ({
      ...call,
      agent: call.name === 'b' ? 'other' : 'assistant',
    }));
    expect(
      (await scoreOf(toolTrajectory({ agent: 'assistant' }), { ...trial, toolCalls: calls }))
        ?.score,
    ).toBe(1);
  });

  test('a share is a share', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 });
    return fc.assert(
      fc.asyncProperty(
        names,
        names,
        fc.constantFrom('exact', 'in_order', 'any_order', 'subset'),
        async (expected, made, match) => {
          const trial = await trialOf(
            { input: 'Hi', expect: { tools: expected.map((name) => ({ name })) } },
            [{ calls: made }],
          );
          const found = await scoreOf(toolTrajectory({ match }), trial);
          expect(found?.score).toBeGreaterThanOrEqual(0);
          expect(found?.score).toBeLessThanOrEqual(1);
          if (match === 'exact')
            expect(found?.passed).toBe(JSON.stringify(expected) === JSON.stringify(made));
        },
      ),
      { numRuns: 60 },
    );
  });
});
