/** Suites with a command of their own, `npm run test:<suite>`. They are not part of `npm test`. */
export const suites = {
  /**
   * The API as people write it first: what they are told, what its types infer and cost, and what
   * other test runners and the published declarations make of it.
   */
  api: [
    'packages/*/test/api/**/*.test.ts',
    'packages/core/test/testing/jest/**/*.test.ts',
    'packages/core/test/testing/matchers/types.test.ts',
  ],
  /** Pages in a real Chromium. */
  browser: ['browser-tests/*.test.ts'],
  /** The dashboard as it is built, in a real Chromium on a real server. */
  dashboard: ['browser-tests/dashboard/**/*.test.ts'],
  /**
   * The store contract on SQLite and PostgreSQL, stores with encryption around all of them, and
   * messages between processes over Redis.
   */
  contracts: [
    'packages/*/test/contracts/**/*.test.ts',
    'packages/core/test/stores/encrypted/**/*.test.ts',
    'packages/core/test/redis/**/*.test.ts',
    'packages/core/test/bus/redis.test.ts',
  ],
  /** Values made up at random for all that comes in from outside. */
  fuzz: ['packages/*/test/fuzz/**/*.test.ts'],
  /** Everything with everything: places to crash with manners to crash, routes with callers. */
  matrices: [
    'packages/*/test/matrices/**/*.test.ts',
    // Each scenario, stopped at each of its places.
    'packages/core/test/engine/app/recovery.test.ts',
  ],
  /** Plans, graphs and routers: their stories, laws, crashes and replays. */
  plans: ['packages/core/test/plan/**/*.test.ts'],
  /** Several processes on one store: killed, stopped, taken over, told things by each other. */
  processes: [
    'packages/server/test/processes/**/*.test.ts',
    'packages/server/test/**/{processes,idempotency-across-processes}.test.ts',
    'packages/core/test/{engine,services,stores/sqlite}/**/{process,processes}.test.ts',
    'packages/core/test/{engine,services}/**/*-{processes,another-process}.test.ts',
  ],
  /** The command line as programs that are started, served, interrupted and stopped. */
  programs: [
    'packages/cli/test/{server,interruption,real-program}.test.ts',
    'packages/cli/test/dashboard/serve.test.ts',
  ],
  /** Regression tests of faults that reviews found, each file named after its point. */
  repairs: ['packages/*/test/repairs/**/*.test.ts'],
  /**
   * The simulation itself: `simulate()` of users, the language of programs, what it compares, and
   * bugs that it must find.
   */
  simulation: ['packages/core/test/{simulation,testing/simulation}/**/*.test.ts'],
  /** Temporal as the engine, on a real server; its packages have a lockfile of their own. */
  temporal: ['packages/temporal/test/**/*.test.ts'],
  /** The terminal app in a pseudo-terminal: keys go in, cells of the screen are read. */
  terminal: ['packages/cli/test/terminal/**/*.test.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Suite = keyof typeof suites;

/** Folder of the reports in JSON, from which `.ci/run` counts. */
export const reportsFolder = 'dist/tests';
