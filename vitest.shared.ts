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
  testTimeout: 30_000,
  // Tests wait for processes and databases more than they work: no core is kept free.
  maxWorkers: '100%',
  // Node strips types by a WebAssembly module; V8 of Node 24 may crash when a worker thread
  // compiles one of its wrappers anew while another thread ends (`FreeDeadCode`).
  execArgv: ['--wasm-wrapper-tiering-budget=1000000000'],
};
