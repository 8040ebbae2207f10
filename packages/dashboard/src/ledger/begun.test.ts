import { expect, test } from 'vitest';
import { isMadeOnly, mayBeMadeOnly } from './begun.ts';
import type { LedgerEvent } from './event-pages.ts';

function events(...list: readonly object[]): readonly LedgerEvent[] {
  return list.map((event, i) => ({ seq: i + 1, at: 0, ...event })) as unknown as LedgerEvent[];
}

const shared = { type: 'invocation_start', invocationId: 'run_1', name: 'chase', mode: 'root' };
const fork = { type: 'decision', component: 'fork', data: { session: 'fork', at: 1 } };
const edits = [
  { type: 'decision', component: 'edit', decision: 'state' },
  { type: 'state_change', scope: 'session', changes: [] },
  { type: 'decision', component: 'edit', decision: 'message' },
  { type: 'user', invocationId: 'run_1', text: 'Otherwise.', replaces: 'one' },
];

test('a fork with its edits alone has not begun', () => {
  expect(isMadeOnly('fork', events(shared, fork))).toBe(true);
  expect(isMadeOnly('fork', events(shared, fork, ...edits))).toBe(true);
});

test('a fork that goes on has begun, and so has a session that is none', () => {
  const resumed = { type: 'invocation_resume', invocationId: 'run_1' };
  expect(isMadeOnly('fork', events(shared, fork, ...edits, resumed))).toBe(false);
  const message = { type: 'user', invocationId: 'run_2', text: 'Go on.' };
  expect(isMadeOnly('fork', events(shared, fork, message))).toBe(false);
  expect(isMadeOnly('chase', events(shared))).toBe(false);
  // The fork of a fork that has begun shares the decision of the first one.
  expect(isMadeOnly('other', events(shared, fork))).toBe(false);
});

test('only an active session to which nothing was written since can be one', () => {
  const session = { status: 'active', agent: 'chase', createdAt: 5_000, updatedAt: 4_999 } as const;
  expect(mayBeMadeOnly(session)).toBe(true);
  expect(mayBeMadeOnly({ ...session, updatedAt: 6_500 })).toBe(false);
  expect(mayBeMadeOnly({ ...session, status: 'completed' })).toBe(false);
});
