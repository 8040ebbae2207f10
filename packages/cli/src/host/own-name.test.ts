import { expect, test } from 'vitest';
import { ownName } from './own-name.ts';

test.each([
  ['/shop/node_modules/.bin/adjutant', 'npx', 'npx adjutant'],
  ['/shop/node_modules/.bin/adjutant', undefined, 'adjutant'],
  ['/usr/bin/adjutant', 'npx', 'adjutant'],
  ['/clone/packages/cli/src/main.ts', 'start', 'npm start -s --'],
  ['/clone/packages/cli/src/main.ts', undefined, 'adjutant'],
  ['/clone/node_modules/vitest/vitest.mjs', 'test', 'adjutant'],
])('%s by %s is started again with %s', (program, event, words) => {
  const started = { argv: ['node', program], env: { npm_lifecycle_event: event } };
  expect(ownName(started).join(' ')).toBe(words);
});
