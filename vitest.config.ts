import { join } from 'node:path';
import {
  configDefaults,
  defineConfig,
  type Plugin,
  type TestProjectInlineConfiguration,
} from 'vitest/config';
import { type Suite, suites } from './vitest.suites.ts';

/** The packages resolve to their source, so that tests need no build. */
const conditions = ['adjutant-source'];

// Processes and worker threads that tests start load TypeScript: its types are stripped once for
// all of them. Set here, because Node reads it when a process starts.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');

/** Arguments of Node for the processes of Vitest. */
const nodeArguments = [
  // Modules that Node itself loads, like those of users of the command line, see the sources too.
  ...conditions.map((condition) => `--conditions=${condition}`),
  // Node strips types by a WebAssembly module; V8 of Node 24 may crash when a worker thread
  // compiles one of its wrappers anew while another thread ends (`FreeDeadCode`).
  '--wasm-wrapper-tiering-budget=1000000000',
];

/**
 * Rooms whose test files leave nothing behind that another file could meet. Their files share the
 * modules of a process: one with modules of its own works for most of a second before it begins.
 */
const sharing = [
  'packages/*/src/**/*.test.ts',
  'packages/core/test/{base,bus,context,conversation,effects,engine,eval,ledger}/**/*.test.ts',
  'packages/core/test/{ledger-file,middleware,models,notifications}/**/*.test.ts',
  'packages/core/test/{opentelemetry,replay}/**/*.test.ts',
  'packages/core/test/{session,stores,supervision,tools,triggers,views}/**/*.test.ts',
  'packages/core/test/testing/{kit,matchers,run-test}/**/*.test.ts',
  'packages/server/test/*.test.ts',
  'packages/server/test/{access,approvals,client,processes,rest,stream,views}/**/*.test.ts',
];
/** Suites whose files leave nothing behind either. */
const sharingSuites: ReadonlySet<Suite> = new Set(['dashboard', 'processes', 'repairs']);
const ofCommandLine = 'packages/cli/test/**/*.test.ts';
const all = ['packages/*/{src,test}/**/*.test.ts', '{examples,docs,browser-tests}/**/*.test.ts'];
const ofSuites = Object.values(suites).flat();

function project(
  name: string,
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, ...test } };
}

/**
 * Threads of SQLite stores run the bundled worker, as in processes that tests start: one of the
 * sources takes twice as long to begin, and tests open a thousand.
 */
const bundledWorker: Plugin = {
  name: 'bundled-worker',
  transform(code, id) {
    if (!id.endsWith('/packages/core/src/stores/sqlite/connection.ts')) return undefined;
    const worker = join(import.meta.dirname, 'packages/core/dist/stores/sqlite/worker.js');
    const changed = code.replaceAll(/(["'])\.\/worker\.ts\1/g, JSON.stringify(worker));
    if (changed === code) throw new Error('The file of the worker is no longer named there.');
    return changed;
  },
};

/** Projects of `npm test`: `rooms`, `command-line` and `whole`. Each suite is another one. */
export default defineConfig({
  plugins: [bundledWorker],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['./vitest.bundle.ts'],
    setupFiles: ['./vitest.setup.ts'],
    // Tests wait for events, not for time. Only one that hangs meets these limits, however many
    // programs share the machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests wait for processes and databases more than they work: no core is kept free.
    maxWorkers: '100%',
    execArgv: nodeArguments,
    projects: [
      project('rooms', {
        include: sharing,
        exclude: [...configDefaults.exclude, ...ofSuites],
        isolate: false,
      }),
      // They set the time zone and the colours of their process, which other rooms are spared.
      project('command-line', {
        include: [ofCommandLine],
        exclude: [...configDefaults.exclude, ...ofSuites],
        isolate: false,
      }),
      project('whole', {
        include: all,
        exclude: [...configDefaults.exclude, ...sharing, ofCommandLine, ...ofSuites],
      }),
      ...(Object.keys(suites) as Suite[]).map((suite) =>
        project(suite, { include: [...suites[suite]], isolate: !sharingSuites.has(suite) }),
      ),
    ],
  },
});
