/** Suites with a command of their own, `npm run test:<suite>`. They are not part of `npm test`. */
export const suites = {
  /** The API as people write it first: what they are told, and what its types infer and cost. */
  api: ['packages/*/test/api/**/*.test.ts'],
  /** The store contract on what is slow: PostgreSQL, and stores with encryption. */
  contracts: ['packages/*/test/contracts/**/*.test.ts'],
  /** Values made up at random for all that comes in from outside. */
  fuzz: ['packages/*/test/fuzz/**/*.test.ts'],
  /** Everything with everything: places to crash with manners to crash, routes with callers. */
  matrices: ['packages/*/test/matrices/**/*.test.ts'],
  /** Regression tests of faults that reviews found, each file named after its point. */
  repairs: ['packages/*/test/repairs/**/*.test.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Suite = keyof typeof suites;

/** Folder of the reports in JSON, from which `.ci/run` counts. */
export const reportsFolder = 'dist/tests';
