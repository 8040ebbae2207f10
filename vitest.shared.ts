import { join } from 'node:path';

/** The packages resolve to their source, so that tests need no build. */
const conditions = ['adjutant-source'];

// Processes and worker threads that tests start load TypeScript: its types are stripped once for
// all of them. Set here, because Node reads it when a process starts.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');

/** Options of Vitest that all suites share. */
export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
};

export const sharedTest = {
  setupFiles: ['./vitest.setup.ts'],
  // Tests wait for events, not for time. Only one that hangs meets these limits, however many
  // programs share the machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Tests wait for processes and databases more than they work: no core is kept free.
  maxWorkers: '100%',
  execArgv: [
    // Modules that Node itself loads, like those of users of the command line, see the sources too.
    ...conditions.map((condition) => `--conditions=${condition}`),
    // Node strips types by a WebAssembly module; V8 of Node 24 may crash when a worker thread
    // compiles one of its wrappers anew while another thread ends (`FreeDeadCode`).
    '--wasm-wrapper-tiering-budget=1000000000',
  ],
};
