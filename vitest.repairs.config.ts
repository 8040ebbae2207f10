import { defineConfig } from 'vitest/config';

/** The packages resolve to their source, so that tests need no build. */
const conditions = ['adjutant-source'];

/** `npm run test:repairs`: regression tests of faults that reviews found, one file or more for each, named after its point. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/test/repairs/**/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 30_000,
    maxWorkers: '100%',
    // No file leaves anything behind that another one could meet: loading the modules once saves a third of the time.
    isolate: false,
    reporters: ['default', ['json', { outputFile: 'dist/repairs-results.json' }]],
  },
});
