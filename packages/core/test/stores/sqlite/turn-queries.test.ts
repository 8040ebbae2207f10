import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { turnList, turnQueries } from '../../../src/stores/sqlite/rows/turn-queries.ts';
import { migrations } from '../../../src/stores/sqlite/tables.ts';

/** Names of what a query may read from one end to the other: each has only what is asked for. */
const readWhole = [
  // The names of a worker.
  /^SCAN (names|json_each) VIRTUAL TABLE/,
  // Items and sessions that are due and have no turn, and their union.
  /^SCAN inbox USING (COVERING )?INDEX inbox_without_turn$/,
  /^SCAN \(subquery-\d+\)$/,
];

function planOf(database: DatabaseSync, sql: string): readonly string[] {
  return database
    .prepare(`explain query plan ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
}

function newFile(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  for (const step of migrations)
    if (typeof step === 'string') database.exec(step);
    else step(database);
  return database;
}

test.each(Object.entries(turnQueries))('query %s reads no more than it needs', (_name, sql) => {
  const database = newFile();
  const scans = planOf(database, sql).filter((step) => step.startsWith('SCAN'));
  expect(scans.filter((scan) => !readWhole.some((allowed) => allowed.test(scan)))).toEqual([]);
  database.close();
});

test.each([
  ['oldestOfLevel', 'turns_ready'],
  ['oldestOfTenant', 'turns_ready_of_tenant'],
  ['oldestOfLevelNamed', 'turns_ready_of_name'],
  ['oldestOfFlow', 'turns_of_flow'],
  ['oldestOfFlowNamed', 'turns_of_flow_by_name'],
  ['busyFlows', 'flows_busy'],
  ['behindKey', 'turns_behind_key'],
  ['behindRate', 'turns_behind_rate'],
  ['due', 'turns_resting'],
  ['controlDue', 'turns_control'],
  ['firstResting', 'turns_resting'],
  ['joinable', 'turns_joinable'],
] as const)('query %s finds the first row in the order of index %s', (name, index) => {
  const database = newFile();
  const plan = planOf(database, turnQueries[name]);
  expect(plan.some((step) => new RegExp(`INDEX ${index} \\(`).test(step))).toBe(true);
  const sorts = plan.filter((step) => step.includes('TEMP B-TREE'));
  // The oldest turns of several names are few.
  expect(sorts).toHaveLength(name.endsWith('Named') ? 1 : 0);
  database.close();
});

test('the list of turns of a tenant and app is read in its order', () => {
  const database = newFile();
  const plan = planOf(database, turnList('tenant = ? and app = ?'));
  expect(plan.join()).toMatch(/SEARCH turns USING INDEX turns_by_time \(/);
  expect(plan.join()).not.toContain('TEMP B-TREE');
  database.close();
});
