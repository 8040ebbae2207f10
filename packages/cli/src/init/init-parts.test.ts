import { expect, test } from 'vitest';
import { styleFor } from '../output/style.ts';
import { choiceLine, markAfter } from './choose.ts';
import { modelChoices } from './models.ts';

const style = styleFor(Object.assign(Object.create(process.stdout), { isTTY: false }));
const choices = ['one', 'two', 'three'].map((label) => ({ value: label, label }));

test('a line shows all choices and marks one', () => {
  expect(choiceLine('Store', choices, { marked: 1, columns: 80, style })).toBe(
    'Store         one · › two · three',
  );
});

test('a narrow terminal shows the marked choice and its place', () => {
  expect(choiceLine('Store', choices, { marked: 2, columns: 32, style })).toBe(
    'Store         › three (3 of 3)',
  );
});

test.each([
  [{ name: 'right' }, 0, 1],
  [{ name: 'right' }, 2, 0],
  [{ name: 'left' }, 0, 2],
  [{ sequence: '3' }, 0, 2],
  [{ sequence: '4' }, 0, 0],
  [{ name: 'x', sequence: 'x' }, 1, 1],
  [{ name: 'return' }, 1, 'taken'],
] as const)('after %o the mark at %d is at %s', (key, marked, after) => {
  expect(markAfter(key, marked, 3)).toBe(after);
});

test('models are offered by the keys that are set, then local ones, at last the rules', () => {
  const env = { ANTHROPIC_API_KEY: 'x', OPENAI_API_KEY: 'y', GEMINI_API_KEY: '' };
  expect(modelChoices(env, ['qwen3:latest', 'llama3.2:3b']).map(({ label }) => label)).toEqual([
    'openai:gpt-5-mini (OPENAI_API_KEY found)',
    'claude:claude-sonnet-4-5 (ANTHROPIC_API_KEY found)',
    'ollama:qwen3',
    'ollama:llama3.2:3b',
    'rehearsal',
  ]);
});

test('the model of ADJUTANT_MODEL comes first, once', () => {
  expect(modelChoices({ ADJUTANT_MODEL: 'rehearsal' }, [])).toEqual([
    { value: 'rehearsal', label: 'rehearsal (ADJUTANT_MODEL)' },
  ]);
});
