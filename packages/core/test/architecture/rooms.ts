/** What a room of `packages/core/src` may import; its own files always count as allowed. */
export interface Room {
  /** Rooms whose files it may import in any way. */
  readonly imports: readonly string[];
  /** Rooms of which it may import types only. */
  readonly types?: readonly string[];
  /**
   * No clock, timer, randomness, I/O or Node module: what the room computes depends on its
   * arguments alone.
   */
  readonly pure?: true;
  /** Files of a pure room that hold its effects, by their path in the room. */
  readonly impureFiles?: readonly string[];
  /** Built-in modules that the room may import; any when missing. */
  readonly nodeModules?: readonly string[];
}

const belowEngine = [
  'base',
  'ledger',
  'session',
  'runnables',
  'models',
  'tools',
  'context',
  'supervision',
  'loop',
  'effects',
];

/**
 * The table of ARCHITECTURE.md. A room within a room (`tools/builtin`) is a room of its own: nobody
 * imports it unless its line says so. `stores` is in no line: only `runtime.ts`, `testing` and the
 * package's subpath entries reach it.
 */
export const rooms: Readonly<Record<string, Room>> = {
  base: { imports: [], nodeModules: ['node:crypto'] },
  ledger: { imports: ['base'], pure: true, impureFiles: ['ledger-writer.ts'] },
  session: { imports: ['base', 'ledger'], pure: true },
  supervision: { imports: ['base', 'ledger'], types: ['session', 'tools'], pure: true },
  runnables: {
    imports: ['base', 'ledger', 'session', 'supervision'],
    types: ['models', 'tools'],
    pure: true,
  },
  models: { imports: ['base', 'ledger'] },
  tools: { imports: ['base', 'ledger', 'session', 'supervision'] },
  'tools/builtin': { imports: ['base', 'ledger', 'tools'] },
  context: { imports: ['base', 'ledger', 'session', 'runnables', 'supervision'], pure: true },
  loop: {
    imports: ['base', 'ledger', 'session', 'runnables', 'context', 'supervision'],
    pure: true,
  },
  effects: {
    imports: ['base', 'ledger', 'session', 'models', 'tools', 'context'],
    types: ['runnables', 'loop'],
  },
  middleware: {
    imports: ['base', 'ledger', 'session', 'runnables'],
    types: ['models', 'tools'],
    pure: true,
    impureFiles: ['cli.ts', 'logging.ts'],
  },
  'engine/frame': { imports: belowEngine },
  'engine/invoke': { imports: [...belowEngine, 'engine/frame'] },
  'engine/agent': { imports: [...belowEngine, 'engine/frame', 'engine/invoke'] },
  'engine/run': { imports: [...belowEngine, 'engine/frame', 'engine/invoke', 'engine/agent'] },
  'engine/requests': { imports: [...belowEngine, 'engine/frame', 'engine/run'] },
  'engine/live': { imports: [...belowEngine, 'engine/frame', 'engine/run'] },
  'engine/app': {
    imports: [
      ...belowEngine,
      'engine/frame',
      'engine/invoke',
      'engine/run',
      'engine/requests',
      'engine/live',
    ],
  },
  stores: { imports: ['base', 'ledger'] },
  redis: { imports: ['base'], types: ['engine/live'] },
  opentelemetry: {
    imports: ['base', 'ledger'],
    types: ['session', 'runnables'],
    nodeModules: ['node:module'],
  },
  views: { imports: ['base', 'ledger', 'session'], pure: true },
};

/** Rooms and files of `src` that compose the others and may import anything. */
export const compositionRoots: readonly string[] = [
  'testing',
  'eval',
  'replay',
  'ledger-file',
  'conversation',
  'runtime.ts',
  'in-memory-app.ts',
  'errors.ts',
  'ports.ts',
  'text.ts',
  'index.ts',
];

/** Files that give the rest of core its time, identifiers and randomness. */
export const portFiles: readonly string[] = ['base/clock.ts', 'base/id.ts', 'base/random.ts'];

export const sizeLimits = {
  fileLines: 500,
  testFileLines: 800,
  functionLines: 60,
  indexLines: 250,
} as const;

/**
 * Modules that importing the package must not load: slow to load or able to touch the machine; they
 * wait for their first use.
 */
export const modulesOutsideIndex: readonly string[] = [
  'ajv',
  'jsonrepair',
  'mathjs',
  'node:child_process',
  'node:http',
  'node:https',
  'node:net',
  'node:sqlite',
  'node:vm',
  'node:worker_threads',
  'zod',
];
