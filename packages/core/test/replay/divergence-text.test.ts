import { type Divergence, divergenceText } from 'adjutant/replay';
import { expect, test } from 'vitest';

const at = {
  seq: 7,
  path: 'run/clerk',
  kind: 'prompt',
  subject: 'In model call 1 of clerk: the system prompt changed',
} as const;

test('texts are compared line by line, without the lines that they share', () => {
  const divergence: Divergence = {
    ...at,
    differences: [
      {
        path: 'system[0].content',
        recorded: 'You sell pens.\nBe kind.\nBe brief.',
        replayed: 'You sell pens.\nBe quick.\nBe brief.',
      },
    ],
  };
  expect(divergenceText(divergence)).toBe(
    [
      'First divergence at event 7 (run/clerk): prompt',
      '  In model call 1 of clerk: the system prompt changed.',
      '  system[0].content',
      '      (1 line before)',
      '    - "Be kind."',
      '    + "Be quick."',
    ].join('\n'),
  );
});

test('what came without being recorded, and what did not come, stand on their side', () => {
  const came: Divergence = {
    ...at,
    path: '',
    kind: 'control_flow',
    subject: 'The start of the step "b" is not recorded',
    replayed: { type: 'x' },
    differences: [],
  };
  expect(divergenceText(came)).toBe(
    'First divergence at event 7: control flow\n  The start of the step "b" is not ' +
      'recorded.\n  + {"type":"x"}',
  );
  const left: Divergence = { ...at, subject: 'It does not come', recorded: [1], differences: [] };
  expect(divergenceText(left)).toBe(
    'First divergence at event 7 (run/clerk): prompt\n  It does not come.\n  - [1]',
  );
});

test('values that are something else show both sides', () => {
  const divergence: Divergence = {
    ...at,
    differences: [
      { path: 'maxOutputTokens', recorded: 10, replayed: 20 },
      { path: 'tools', recorded: ['a'] },
    ],
  };
  expect(divergenceText(divergence).split('\n').slice(2)).toEqual([
    '  maxOutputTokens',
    '    - 10',
    '    + 20',
    '  tools',
    '    - ["a"]',
  ]);
});

/** Everything that a terminal obeys but the ends of lines. */
const obeyed = /(?!\n)\p{Cc}|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

test('nothing in it acts on a terminal, wherever it stands', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\u2028';
  const divergence: Divergence = {
    seq: 1,
    path: `run/${evil}`,
    kind: 'arguments',
    subject: `The call of ${evil} differs`,
    differences: [
      { path: `args.${evil}`, recorded: evil, replayed: { [evil]: evil } },
      { path: 'text', recorded: `${evil}\na`, replayed: `b\n${evil}` },
    ],
  };
  const text = divergenceText(divergence);
  expect(text).not.toMatch(obeyed);
  expect(text.split('\n')).toHaveLength(10);
});

test('huge values and many differences are cut off, and it says so', () => {
  const huge: Divergence = {
    ...at,
    differences: Array.from({ length: 40 }, (_, index) => ({
      path: `p${index}`,
      recorded: 'x'.repeat(1_000_000),
      replayed: index,
    })),
  };
  const text = divergenceText(huge);
  expect(text.length).toBeLessThan(40_000);
  expect(text).toContain('… (1000002 characters)');
  expect(text.endsWith('  … and 28 more')).toBe(true);
  const lines: Divergence = {
    ...at,
    differences: [
      { path: 'text', recorded: 'a\n'.repeat(100_000), replayed: 'b\n'.repeat(100_000) },
    ],
  };
  expect(divergenceText(lines).split('\n').length).toBeLessThan(100);
});
