import { configDefaults, defineConfig } from 'vitest/config';
import { shared, sharedTest } from './vitest.shared.ts';

export default defineConfig({
  ...shared,
  test: {
    ...sharedTest,
    include: ['packages/*/{src,test}/**/*.test.ts', '{examples,docs,browser-tests}/**/*.test.ts'],
    // They have a command of their own, see vitest.repairs.config.ts.
    exclude: [...configDefaults.exclude, 'packages/*/test/repairs/**'],
    // .ci/run counts from the file.
    reporters: process.env['CI']
      ? ['default', ['json', { outputFile: 'dist/test-results.json' }]]
      : ['default'],
  },
});
