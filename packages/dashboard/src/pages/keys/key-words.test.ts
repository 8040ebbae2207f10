import type { ServerKey } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import { boundTo, isAccepted, keyStatus, problemOf } from './key-words.ts';

const day = 86_400_000;

function key(more: Partial<ServerKey> = {}): ServerKey {
  return {
    id: 'k',
    name: 'ci',
    tenant: 'default',
    roles: ['viewer'],
    createdAt: 0,
    createdBy: 'system',
    expiresAt: 100 * day,
    ...more,
  };
}

test('A key is accepted until it expires or is revoked', () => {
  expect(keyStatus(key(), day)).toEqual(['completed', '99 d left']);
  expect(keyStatus(key(), 98 * day)).toEqual(['waiting', '2 d left']);
  expect(keyStatus(key(), 101 * day)).toEqual(['held', 'Expired 1 d ago']);
  expect(keyStatus(key({ revokedAt: day }), 3 * day)).toEqual(['held', 'Revoked 2 d ago']);
  expect(isAccepted(key(), 100 * day)).toBe(false);
  expect(isAccepted(key({ revokedAt: 1 }), 2)).toBe(false);
  expect(isAccepted(key(), 2)).toBe(true);
});

test('What a key is bound to has words', () => {
  expect(boundTo(key())).toBe('the whole tenant');
  expect(boundTo(key({ user: 'ann', agents: ['a', 'b'] }))).toBe('user ann · a, b');
});

test('A new key needs a name, a role, and a user for the role of one', () => {
  expect(problemOf({ name: ' ', user: '', roles: ['viewer'] })).toContain('Name it');
  expect(problemOf({ name: 'ci', user: '', roles: [] })).toContain('role');
  expect(problemOf({ name: 'ci', user: '', roles: ['user'] })).toContain('name the user');
  expect(problemOf({ name: 'ci', user: 'ann', roles: ['user'] })).toBeUndefined();
});
