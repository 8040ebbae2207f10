import { expect, test } from 'vitest';
import { countEnds } from './language-coverage.ts';

const seeds = Array.from({ length: 16 }, (_, index) => index + 1);
const hours = 3;

/** Ends that each node of the language has in some seed: without them a node is drawn for nothing. */
const wanted: Readonly<Record<string, readonly string[]>> = {
  agent: ['completed', 'transferred'],
  step: ['completed'],
  sequence: ['completed'],
  parallel: ['completed'],
  loop: ['completed'],
  call: ['completed'],
  spawn: ['completed'],
  dispatch: ['completed'],
  transfer: ['completed'],
  'effect:rerun': ['success'],
  'effect:report': ['success', 'unknown'],
  'effect:probe': ['success', 'unknown'],
  read: ['success'],
  rerun: ['success'],
  report: ['success', 'unknown'],
  ask: ['success', 'unknown'],
  probe: ['success', 'unknown'],
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
