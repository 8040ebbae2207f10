import { expect, test } from 'vitest';
import { ownName } from './own-name.ts';

const source = '--conditions=adjutant-source';

test.each([
  ['/shop/node_modules/.bin/adjutant', 'npx', [], 'npx adjutant'],
  ['/shop/node_modules/.bin/adjutant', undefined, [], 'adjutant'],
  ['/usr/bin/adjutant', 'npx', [], 'adjutant'],
  ['/clone/packages/cli/src/main.ts', 'start', [source], 'npm start -s --'],
  [
    '/clone/packages/cli/src/main.ts',
    undefined,
    [source],
    `node ${source} packages/cli/src/main.ts`,
  ],
  ['/other/cli/src/main.ts', undefined, [source], `node ${source} /other/cli/src/main.ts`],
  [
    '/clone/node_modules/@adjutant/cli/dist/main.js',
    'start',
    [],
    'node node_modules/@adjutant/cli/dist/main.js',
  ],
  ['/clone/node_modules/vitest/vitest.mjs', 'test', [], 'adjutant'],
  ['/clone/report.ts', undefined, [], 'adjutant'],
])('%s by %s is started again with %s', (program, event, execArgv, words) => {
  const env = { npm_lifecycle_event: event };
  const started = { argv: ['node', program], execArgv, env, cwd: () => '/clone' };
  expect(ownName(started).join(' ')).toBe(words);
});
