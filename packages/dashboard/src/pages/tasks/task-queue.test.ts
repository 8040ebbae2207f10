import type { ServerTask } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import {
  levelBeside,
  queueRows,
  taskFiltersOf,
  taskStatus,
  tasksAddress,
  whyWords,
} from './task-queue.ts';

function task(id: string, priority: ServerTask['priority'], name = id): ServerTask {
  return {
    id,
    session: `task-${id}`,
    name,
    agent: 'clerk',
    priority,
    state: 'queued',
    queue: 'default',
    requester: 'ann',
    submittedAt: 0,
    attempts: 1,
    roundsCompleted: 0,
  };
}

test('A filter goes into the address and comes back', () => {
  const filters = { level: 'high', find: 'letters & mail' } as const;
  const address = tasksAddress(filters, 'a/b');
  expect(address.startsWith('/tasks/a%2Fb?')).toBe(true);
  expect(taskFiltersOf(address.slice(address.indexOf('?')))).toEqual(filters);
  expect(tasksAddress({})).toBe('/tasks');
  expect(taskFiltersOf('?level=urgent&find=')).toEqual({});
});

function shown(rows: ReturnType<typeof queueRows>): readonly string[] {
  return rows.map((row) => (row.kind === 'level' ? `${row.level.name} ${row.count}` : row.task.id));
}

test('Tasks stand below their levels, in the order of the queue', () => {
  const tasks = [task('c', 'low'), task('a', 'high'), task('b', 'high')];
  expect(shown(queueRows(tasks, {}))).toEqual([
    'Realtime 0',
    'High 2',
    'a',
    'b',
    'Normal 0',
    'Low 1',
    'c',
    'Background 0',
  ]);
});

test('One level can be shown alone, and tasks are found by their words', () => {
  const tasks = [task('a', 'high', 'Letters'), task('b', 'high', 'Mail'), task('c', 'low')];
  expect(shown(queueRows(tasks, { level: 'high', find: 'LETT' }))).toEqual(['High 1', 'a']);
});

test('The levels beside a level end at both ends', () => {
  expect(levelBeside('normal', -1)).toBe('high');
  expect(levelBeside('normal', 1)).toBe('low');
  expect(levelBeside('realtime', -1)).toBeUndefined();
  expect(levelBeside('background', 1)).toBeUndefined();
});

test('Each state has a ring and a word', () => {
  expect(taskStatus('timeout')).toEqual(['failed', 'Out of time']);
  expect(taskStatus('suspended')).toEqual(['held', 'Held']);
});

test('The reason of a wait is short, and names times as the reader reads them', () => {
  const timeOf = (at: number): string => `<${at}>`;
  const text = 'It does not begin before 1970-01-01T00:00:00.005Z.';
  expect(whyWords({ block: { kind: 'not_before', at: 5 }, text }, timeOf)).toBe('not before <5>');
  expect(whyWords({ text: 'It is next.' }, timeOf)).toBe('it is next');
  expect(whyWords({ block: { kind: 'rate', key: 'mail', at: 7 }, text }, timeOf)).toBe(
    'the rate “mail” lets the next one begin at <7>',
  );
});
