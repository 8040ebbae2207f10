import type { ServerSession } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import { addressOf, filtersOf, mergedSessions, pickedWith } from './session-filters.ts';

test('A filter goes into the address and comes back', () => {
  const filters = {
    status: 'error',
    agent: 'clerk',
    user: 'ann & bob',
    text: 'where? #1',
  } as const;
  const address = addressOf(filters);
  expect(filtersOf(address.slice('/sessions'.length))).toEqual(filters);
});

test('The address of everything is short, and empty filters are none', () => {
  expect(addressOf({ status: '', agent: ' ', text: '' })).toBe('/sessions');
  expect(filtersOf('?agent=%20&text=')).toEqual({});
});

test('Statuses and names that nobody knows are left out', () => {
  expect(filtersOf('?status=broken&color=red&user=ann')).toEqual({ user: 'ann' });
});

test('Two sessions can be picked: a third one takes the place of the first', () => {
  expect(pickedWith([], 'a')).toEqual(['a']);
  expect(pickedWith(['a', 'b'], 'c')).toEqual(['b', 'c']);
  expect(pickedWith(['a', 'b'], 'a')).toEqual(['b']);
});

function session(id: string, updatedAt: number): ServerSession {
  return { id, status: 'completed', seq: 1, createdAt: 0, updatedAt };
}

test('The newest page wins over what was read before', () => {
  const read = [session('c', 3), session('b', 2), session('a', 1)];
  // `a` has changed since: it is first now, and no longer last.
  const head = [session('a', 4), session('c', 3)];
  expect(mergedSessions({ head, hasMore: true, read }).map(({ id }) => id)).toEqual([
    'a',
    'c',
    'b',
  ]);
});

test('A session that does not fit any more goes, though it was read before', () => {
  const read = [session('c', 3), session('b', 2), session('a', 1)];
  const head = [session('b', 2)];
  expect(mergedSessions({ head, hasMore: true, read }).map(({ id }) => id)).toEqual(['b', 'a']);
  expect(mergedSessions({ head, hasMore: false, read })).toEqual(head);
});

test('An empty first page hides none of those that follow', () => {
  const read = [session('b', 2), session('a', 1)];
  expect(mergedSessions({ head: [], hasMore: true, read })).toEqual(read);
  expect(mergedSessions({ head: [], hasMore: false, read })).toEqual([]);
});
