import { expect, test } from 'vitest';
import { findBadRules } from './redaction-rules.ts';

function reasonOf(source: string): string | undefined {
  return findBadRules({ fields: [], patterns: [{ source, flags: '' }] });
}

test.each([
  '(?:a+)+b',
  '(.*a){25}$',
  '(a?){40}b',
  '(a{1,2}){40}b',
  '(?:(?:a|a)(?:a|a)){30}b',
  '(?:x{2,3}?y){20}',
  '((a+)b){2,}',
])('/%s/ may take for ever', (source) => {
  expect(reasonOf(source)).toMatch(/may take for ever/);
});

test.each([
  '\\b\\d{3}-\\d{2}-\\d{4}\\b',
  '[\\w.]+@[\\w.]+',
  '(?:\\d{4}[ -]?){4}',
  '(?:25[0-5]|1?\\d?\\d)(?:\\.(?:25[0-5]|1?\\d?\\d)){3}',
  '[A-Z]{2}\\d{2}(?: ?[A-Z0-9]{4}){3,7}',
  '(?:(?:ab){2}){20}',
  '(?<!\\d)(?:\\+49)?1\\d+',
])('/%s/ does not', (source) => {
  expect(reasonOf(source)).toBeUndefined();
});
