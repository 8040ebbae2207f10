import { type ParallelOptions, parallel, run, step } from 'adjutant';
import { expect, test } from 'vitest';

const good = step({ name: 'good', execute: (ctx) => ctx.complete(1) });
const bad = step({ name: 'bad', execute: (ctx) => ctx.fail('broken') });
const inPlace = {
  failed: true,
  status: 'error',
  error: expect.objectContaining({ message: 'broken' }),
};

type Options = Pick<ParallelOptions, 'failFast' | 'minSuccessful' | 'until'>;

test.each<[string, Options, string, unknown]>([
  ['nothing else', {}, 'error', undefined],
  ['failFast: false alone', { failFast: false }, 'error', undefined],
  ['minSuccessful alone', { minSuccessful: 1 }, 'completed', { good: 1 }],
  ['until alone', { until: 1 }, 'completed', { good: 1 }],
  [
    'failFast: false and minSuccessful',
    { failFast: false, minSuccessful: 1 },
    'completed',
    { good: 1, bad: inPlace },
  ],
  [
    'failFast: false and until',
    { failFast: false, until: 1 },
    'completed',
    { bad: inPlace, good: 1 },
  ],
])('a branch that failed, with %s', async (_, options, status, output) => {
  const both = parallel({ name: 'both', runnables: [bad, good], ...options } as ParallelOptions);
  expect(await run(both)).toMatchObject({ status, ...(output === undefined ? {} : { output }) });
});
