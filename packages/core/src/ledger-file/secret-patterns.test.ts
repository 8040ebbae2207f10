import { expect, test } from 'vitest';
import { isSensitiveKey } from '../base/text/sensitive-keys.ts';
import { findSecrets } from './secret-patterns.ts';

function secretsIn(text: string): readonly string[] {
  return findSecrets(text).map(({ from, to }) => text.slice(from, to));
}

test.each([
  ['https://api.example.com/v1?token=abcdef&page=2', 'abcdef'],
  ['https://api.example.com/#access_token=abc', 'abc'],
  ['see:password=s', 's'],
  ['token=token', 'token'],
  ['url=https://h/?a=1&api_key=abcdefgh', 'abcdefgh'],
  ['Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['login --password Secret9 --user ann', 'Secret9'],
  ['<soap:x><password>abc123</password></soap:x>', 'abc123'],
  [
    'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX',
    'T00000000/B00000000/XXXXXXXXXXXX',
  ],
])('%s', (text, secret) => {
  expect(secretsIn(text)).toEqual([secret]);
});

test.each([
  'basic understanding',
  'Basic Authentication',
  '--token-file path',
  'https://h/?page=2&max_tokens=30',
  'a: b: c: d',
])('nothing in: %s', (text) => {
  expect(secretsIn(text)).toEqual([]);
});

test('names of secrets may have an addition', () => {
  for (const key of [
    'password2',
    'API_KEY_PROD',
    'privateKeyPem',
    'api_key_v2',
    'secretValue',
    'password_hash',
    'db_pass',
    'sessionKey',
  ])
    expect([key, isSensitiveKey(key)]).toEqual([key, true]);
  for (const key of [
    'maxTokens',
    'passwordPolicy',
    'tokenCount',
    'test2',
    'hash',
    'pass',
    'compass',
    'value',
    'tokens2',
  ])
    expect([key, isSensitiveKey(key)]).toEqual([key, false]);
});

test('texts full of what might be keys are searched in time that grows with their length', () => {
  for (const part of ['ab:', 'password=', '--token ', '<token>', 'https://', 'a=b:']) {
    const times = part.repeat(60_000 / part.length);
    expect(findSecrets(times).length).toBeLessThan(60_000);
  }
});
