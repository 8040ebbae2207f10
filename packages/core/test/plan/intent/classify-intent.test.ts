import { classifyIntent, englishIntents, type IntentRule } from 'adjutant/plan';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const intentOf = classifyIntent(englishIntents);

describe('classifyIntent', () => {
  test.each([
    ['Hello!', 'simple'],
    ['Thanks, that was all', 'simple'],
    ['What does "ledger" mean?', 'simple'],
    ['Search for flights to Paris', 'tool'],
    ['Hi, what is the weather tomorrow?', 'tool'],
    ['Plan a 3-day trip to Paris', 'complex'],
    ['Research the population of Tokyo and calculate 10 % of it', 'complex'],
    ['Thanks, book the flight and then tell Ann', 'complex'],
    ['Please:\n1. read the mail\n2. answer it', 'complex'],
    ['Lorem ipsum', 'tool'],
  ])('%j is %s', (message, intent) => {
    expect(intentOf(message).intent).toBe(intent);
  });

  test('the reasons are those of the intent that counts', () => {
    expect(intentOf('Hi, search for it, and then send it')).toEqual({
      intent: 'complex',
      reasons: ['it names several steps'],
    });
    expect(intentOf('Lorem')).toEqual({ intent: 'tool', reasons: ['no rule matches'] });
  });

  test('words are whole words in any case and script, and phrases bear any space', () => {
    const words = classifyIntent([{ intent: 'complex', when: ['café', 'go  on', 'c++'] }], {
      default: 'simple',
    });
    expect(words('Ein CAFÉ, bitte')).toEqual({ intent: 'complex', reasons: ['it says "CAFÉ"'] });
    expect(words('cafés').intent).toBe('simple');
    expect(words('go\n on').intent).toBe('complex');
    expect(words('I like C++.').intent).toBe('complex');
  });

  test('a pattern with the flag `g` finds the same thing each time', () => {
    const again = classifyIntent([{ intent: 'complex', when: /plan/g }], { default: 'simple' });
    expect([again('plan'), again('plan'), again('plan')].map(({ intent }) => intent)).toEqual(
      Array(3).fill('complex'),
    );
  });

  test('a long message is complex when asked for', () => {
    const long = classifyIntent([], { complexWords: 3, default: 'simple' });
    expect(long('one two')).toEqual({ intent: 'simple', reasons: ['no rule matches'] });
    expect(long('one two three')).toEqual({ intent: 'complex', reasons: ['it has 3 words'] });
  });

  test('the order of the rules changes no intent', () => {
    const rule = fc.record({
      intent: fc.constantFrom('simple', 'tool', 'complex'),
      when: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
    }) as fc.Arbitrary<IntentRule>;
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 6 }),
        fc.array(fc.constantFrom('a', 'b', 'c', 'x'), { maxLength: 5 }),
        (rules, words) => {
          const message = words.join(' ');
          expect(classifyIntent(rules.toReversed())(message).intent).toBe(
            classifyIntent(rules)(message).intent,
          );
        },
      ),
    );
  });

  test.each([
    ['no list', 'rules', 'the rules must be a list'],
    ['an unknown intent', [{ intent: 'hard', when: ['x'] }], "one of 'simple', 'tool', 'complex'"],
    ['no words', [{ intent: 'tool', when: [] }], 'a list of words that are not empty'],
    ['an empty word', [{ intent: 'tool', when: [' '] }], 'a list of words that are not empty'],
    ['no test', [{ intent: 'tool' }], 'rule 0 has no `when`'],
    ['an unknown member', [{ intent: 'tool', when: ['x'], next: 1 }], 'no option `next`'],
  ])('refuses %s', (_what, rules, message) => {
    expect(() => classifyIntent(rules as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });

  test('refuses options that do not exist', () => {
    expect(() => classifyIntent([], { fallback: 'tool' } as never)).toThrow('no option `fallback`');
    expect(() => classifyIntent([], { complexWords: 0 })).toThrow('a whole number from 1');
  });
});
