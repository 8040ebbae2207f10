import { expect, test } from 'vitest';
import { nameOf, pathOf } from './paths.ts';

const names = ['a', 'a%zz', '100% a/b', 'a%2Fb', '%', 'a b+c', '?x#y;&=', 'größe/€', 'a%25', '..a'];

test.each(names)('the name %j comes back from its address, which has one part for it', (name) => {
  const path = pathOf('triggers', name);
  const parts = path.split('/');
  expect(parts).toHaveLength(3);
  expect(new URL(path, 'http://localhost').pathname).toBe(path);
  expect(nameOf(parts[2] ?? '')).toBe(name);
});

test('a part that nobody has escaped is the name itself', () => {
  expect(nameOf('a%zz')).toBe('a%zz');
  expect(nameOf('100% a')).toBe('100% a');
});

test('half a character in a name makes no address that fails', () => {
  expect(nameOf(pathOf('sessions', 'a\ud800').slice('/sessions/'.length))).toBe('a\ufffd');
});
