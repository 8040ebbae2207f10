import { defineConfig } from 'vitest/config';
import { shared, sharedTest } from './vitest.shared.ts';

/**
 * `npm run test:repairs`: regression tests of faults that reviews found, one file or more for each,
 * named after its point.
 */
export default defineConfig({
  ...shared,
  test: {
    ...sharedTest,
    include: ['packages/*/test/repairs/**/*.test.ts'],
    // No file leaves anything behind that another one could meet: loading the modules once saves a
    // third of the time.
    isolate: false,
    reporters: ['default', ['json', { outputFile: 'dist/repairs-results.json' }]],
  },
});
