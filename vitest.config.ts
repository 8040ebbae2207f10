import { configDefaults, defineConfig } from 'vitest/config';

/** The packages resolve to their source, so that tests need no build. */
const conditions = ['adjutant-source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', '{examples,docs,browser-tests}/**/*.test.ts'],
    // They have a command of their own, see vitest.repairs.config.ts.
    exclude: [...configDefaults.exclude, 'packages/*/test/repairs/**'],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 30_000,
    // Tests wait for processes and databases more than they work: no core is kept free.
    maxWorkers: '100%',
    // .ci/run counts from the file.
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: 'dist/test-results.json' }]] : ['default'],
  },
});
