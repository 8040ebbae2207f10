import { expect, test } from 'vitest';
import { sign, spinnerSign, withAsciiSigns } from '../../../src/tui/text/signs.ts';

test('every sign has a twin for terminals without UTF-8', () => {
  expect([sign('done'), sign('failed'), sign('child')]).toEqual(['✓', '✗', '↳']);
  expect([sign('done', true), sign('failed', true), sign('child', true)]).toEqual([
    '+',
    'x',
    '\\_',
  ]);
  expect([0, 1, 10].map((tick) => spinnerSign(tick))).toEqual(['⠋', '⠙', '⠋']);
  expect([0, 1, 4].map((tick) => spinnerSign(tick, true))).toEqual(['|', '/', '|']);
});

test('texts of the app are written with the twins', () => {
  expect(withAsciiSigns('✓ 3 calls · ↑↓ choose → 1 min …')).toBe(
    '+ 3 calls - up down choose -> 1 min ...',
  );
  expect(withAsciiSigns('␛[31m ␡ ⟨U+202E⟩ ⏎ é\n')).toBe('^[[31m ^? <U+202E> \\n é\n');
});
