import { expect, test } from 'vitest';
import { sqlite } from '../../../src/stores/sqlite/index.ts';

/** As JavaScript calls it, where no compiler has checked the options. */
const unchecked = sqlite as (...args: readonly unknown[]) => unknown;

test.each<[readonly unknown[], string]>([
  [[], 'The store sqlite cannot be made: the path comes first'],
  [[''], 'the path comes first'],
  [[{ path: 'x.db' }], 'the path comes first'],
  [
    ['x.db', { synchronous: 'off' }],
    "The store x.db cannot be made: `synchronous` must be one of 'full', 'normal', not \"off\".",
  ],
  [['x.db', { busyTimeoutMs: -1 }], '`busyTimeoutMs` must be a whole number from 0, not -1'],
  [
    ['x.db', { busyTimeout: 5 }],
    'there is no option `busyTimeout` (did you mean `busyTimeoutMs`?)',
  ],
  [['x.db', 'full'], 'the options must be an object, not "full"'],
])('sqlite(%j) is refused', (args, message) => {
  expect(() => unchecked(...args)).toThrow(
    expect.objectContaining({ code: 'invalid_store', message: expect.stringContaining(message) }),
  );
});

test('options that are not set are those that are left out', async () => {
  await sqlite(':memory:', { busyTimeoutMs: 0 }).close();
  await (unchecked(':memory:', { synchronous: undefined }) as ReturnType<typeof sqlite>).close();
});
