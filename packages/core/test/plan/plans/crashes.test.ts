import {
  appendBoundaries,
  type CrashManner,
  continueFrom,
  crashPoints,
  runWhole,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { doneTwice, replanned, reviewed } from '../../crash/plan-scenarios.ts';

const manners: readonly CrashManner[] = ['copied', 'given-back', 'before', 'after', 'twice'];

test.each(Object.entries({ replanned, reviewed }))(
  'a plan (%s) stopped at any boundary goes on to the same end',
  async (_name, make) => {
    const { points } = await crashPoints(make, { manners, appends: 'batched', every: 3 });
    expect(points).toBeGreaterThanOrEqual(manners.length);
  },
);

test('no finished subtask is done again, wherever the process stops', async () => {
  const whole = await runWhole(replanned);
  expect(whole.outcome.result).toMatchObject({ status: 'completed', output: { last: { n: 8 } } });
  expect(whole.events.filter(({ type }) => type === 'plan')).toHaveLength(2);
  for (const cut of appendBoundaries(whole.events)) {
    const { events, outcome } = await continueFrom(replanned, whole.events.slice(0, cut));
    expect(outcome.result.status).toBe('completed');
    expect(doneTwice(events)).toEqual([]);
  }
});
