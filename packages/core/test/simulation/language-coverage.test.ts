import { expect, test } from 'vitest';
import { countEnds } from './language-coverage.ts';

/** Seeds that together come to all ends; a changed language may need others. */
const seeds = [...Array.from({ length: 16 }, (_, index) => index + 1), 25, 42];
const hours = 3;

/** Ends that each node has in some seed: without them it is drawn for nothing. */
const wanted: Readonly<Record<string, readonly string[]>> = {
  agent: ['completed', 'transferred'],
  step: ['completed', 'error'],
  sequence: ['completed', 'error'],
  parallel: ['completed', 'error'],
  loop: ['completed'],
  graph: ['completed'],
  router: ['completed'],
  call: ['completed'],
  spawn: ['completed'],
  dispatch: ['completed'],
  transfer: ['completed'],
  question: ['completed', 'error', 'cancelled'],
  sleep: ['completed', 'cancelled'],
  'effect:rerun': ['success'],
  'effect:report': ['success', 'unknown'],
  'effect:probe:happened': ['success'],
  'effect:probe:not': ['success'],
  'effect:probe:unknown': ['success', 'unknown'],
  'effect:probe:throws': ['success', 'unknown'],
  'effect:report:loses': ['unknown'],
  'effect:report:kept': ['success', 'unknown'],
  'effect:probe:unknown:kept': ['success'],
  'outcome told': ['happened', 'not done', 'failed'],
  'run reopened': ['by people'],
  'run repaired': ['completed', 'error'],
  'message to a question': ['answers'],
  'message to a call': ['answers'],
  message: ['ambiguous'],
  'second lane': ['begun', 'completed', 'cancelled'],
  'two lanes': ['open at once'],
  'value:text': ['completed'],
  'value:colour': ['completed'],
  'value:size': ['completed'],
  'form:text': ['success'],
  'form:number': ['success'],
  'form:colour': ['success'],
  'form:size': ['success'],
  'effect:rerun:retries': ['success'],
  'effect:report:retries': ['success'],
  read: ['success'],
  rerun: ['success'],
  report: ['success', 'unknown'],
  ask: ['success', 'unknown'],
  'probe:happened': ['success'],
  'probe:not': ['success'],
  'probe:unknown': ['success'],
  'probe:throws': ['success', 'unknown'],
  retries: ['success'],
  throws: ['error_permanent'],
  approval: ['success', 'error_blocked'],
  expiring: ['success', 'error_blocked'],
  input: ['success', 'error_blocked'],
  effects: ['success'],
  delegate: ['success'],
  handoff: ['success'],
};

test('each node of the language comes to each of its ends in some seed', async () => {
  const counts = await countEnds(seeds, hours);
  const missing = Object.entries(wanted).flatMap(([node, statuses]) =>
    statuses.map((status) => `${node}: ${status}`).filter((end) => !counts.has(end)),
  );
  expect(missing).toEqual([]);
});
