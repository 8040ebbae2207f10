import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { coerceToJson, findJsonDefect } from './json.ts';
import { secret } from './secret.ts';

const key = secret('STRIPE_KEY', 'sk_live_123456');

test('a secret shows its name wherever it is shown', () => {
  const shown = [
    JSON.stringify({ key }),
    String(key),
    `${key}`,
    inspect(key),
    inspect({ deep: { key } }),
    JSON.stringify(coerceToJson({ key })),
  ];
  for (const text of shown) {
    expect(text).toContain('STRIPE_KEY');
    expect(text).not.toContain('sk_live');
  }
  expect(Object.values(key)).toEqual(['STRIPE_KEY']);
  expect(structuredCloneOf(key)).not.toContain('sk_live');
});

test('it gives itself only when asked, and is no JSON', () => {
  expect(key.reveal()).toBe('sk_live_123456');
  expect(findJsonDefect({ key })).toEqual({ path: '$.key', found: 'an instance of Secret' });
});

function structuredCloneOf(value: unknown): string {
  return JSON.stringify(structuredClone(value));
}
