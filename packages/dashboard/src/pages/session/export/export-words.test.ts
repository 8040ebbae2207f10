import { expect, test } from 'vitest';
import { exportedWords, fieldsOf } from './export-words.ts';

const fileWith = (removed: object): string =>
  `{\n"format": "adjutant-ledger",\n"redaction": ${JSON.stringify({ removed })},\n"events": []\n}\n`;

test('keys are read with commas between them, each once', () => {
  expect(fieldsOf(' email, customer.name,,email ')).toEqual(['email', 'customer.name']);
  expect(fieldsOf('  ')).toEqual([]);
});

test('it is said how much was taken out, and which key stood nowhere', () => {
  expect(exportedWords(fileWith({}), [])).toBe('Saved, nothing had to be taken out.');
  expect(exportedWords(fileWith({ 'field email': 2, 'secret key': 1 }), ['email', 'mail'])).toBe(
    'Saved, 3 values taken out. Nothing more stood under mail.',
  );
});
