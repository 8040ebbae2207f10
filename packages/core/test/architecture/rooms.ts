/** Imports that a room of `packages/core/src` may have; its own files are always allowed. */
export interface Room {
  /** Contents of the room, for the table of ARCHITECTURE.md. */
  readonly holds: string;
  /** Rooms whose files the room may import in any way. */
  readonly imports: readonly string[];
  /** Rooms of which the room may import types only. */
  readonly types?: readonly string[];
  /**
   * True for a room without clock, timer, randomness, I/O or Node module. The results of such a
   * room depend on its arguments alone.
   */
  readonly pure?: true;
  /** Files of a pure room that hold its effects, by their path in the room. */
  readonly impureFiles?: readonly string[];
  /** Built-in modules that the room may import; when missing, any may be imported. */
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
 * Rooms of core in the order in which the data passes them; ARCHITECTURE.md shows this table. A
 * room within a room (`tools/builtin`) is a room of its own. No other room imports it unless its
 * entry says so. Only `runtime.ts`, `testing` and the entries of the package import `stores`.
 */
export const rooms: Readonly<Record<string, Room>> = {
  base: {
    holds: 'ids, clock, JSON, hashing, errors, checks of options, cancellation',
    imports: [],
    nodeModules: ['node:crypto'],
  },
  ledger: {
    holds: 'events, folds, paths, large values, the store port, the writer',
    imports: ['base'],
    pure: true,
    impureFiles: ['ledger-writer.ts'],
  },
  session: {
    holds: 'sessions, scoped and shared state, time travel, answers that are posted',
    imports: ['base', 'ledger'],
    pure: true,
  },
  supervision: {
    holds: 'loop detector, error router, limits, guardrails, result checks, circuit breaker',
    imports: ['base', 'ledger'],
    types: ['session', 'tools'],
    pure: true,
  },
  runnables: {
    holds: 'definitions of agents, steps, sequences, parallels and loops; hooks',
    imports: ['base', 'ledger', 'session', 'models', 'supervision'],
    types: ['tools'],
    pure: true,
  },
  models: {
    holds: 'one model call: retry classes, fallbacks, prices, providers, the rehearsal model',
    imports: ['base', 'ledger'],
  },
  tools: {
    holds: 'tool definitions, results, validation, toolsets',
    imports: ['base', 'ledger', 'session', 'supervision'],
  },
  'tools/builtin': {
    holds: 'ready tools: files, CSV, arithmetic, time, web pages',
    imports: ['base', 'ledger', 'tools'],
  },
  context: {
    holds: 'prompts as views of the ledger: renderers, history, encoders, recipes',
    imports: ['base', 'ledger', 'session', 'runnables', 'supervision'],
    pure: true,
  },
  loop: {
    holds: "an agent's position, folded from its events, and `decide`",
    imports: ['base', 'ledger', 'session', 'runnables', 'context', 'supervision'],
    pure: true,
  },
  effects: {
    holds: 'one model call, one tool call, one effect of a body: performed and recorded',
    imports: ['base', 'ledger', 'session', 'models', 'tools', 'context'],
    types: ['runnables', 'loop'],
  },
  middleware: {
    holds: 'ready middleware and error handlers: logging, response cache, retries',
    imports: ['base', 'ledger', 'session', 'runnables'],
    types: ['models', 'tools'],
    pure: true,
    impureFiles: ['cli.ts', 'logging.ts'],
  },
  'engine/frame': {
    holds: 'what all invocations of a run share: its context, activity, budget, grants',
    imports: belowEngine,
  },
  'engine/invoke': {
    holds: 'the invoke rule, the contexts and the bodies of runnables',
    imports: [...belowEngine, 'engine/frame'],
  },
  'engine/agent': {
    holds: 'one agent: its loop, prompts, hooks, answers, compaction, supervised calls',
    imports: [...belowEngine, 'engine/frame', 'engine/invoke'],
  },
  'engine/run': {
    holds: 'one run: its beginning, turns, inbox, expiries, release and result',
    imports: [...belowEngine, 'engine/frame', 'engine/invoke', 'engine/agent'],
  },
  'engine/requests': {
    holds: 'requests to people and other systems: listed, checked, answered',
    imports: [...belowEngine, 'engine/frame', 'engine/run'],
  },
  'engine/live': {
    holds: 'following a session: durable events and the parts of answers between them',
    imports: [...belowEngine, 'engine/frame', 'engine/run'],
  },
  'engine/tasks': {
    holds: 'tasks: submitted, listed, explained and controlled',
    imports: [...belowEngine, 'engine/frame'],
  },
  'engine/services': {
    holds: 'sessions that the app keeps for itself, topics of events, messages between ledgers',
    imports: [...belowEngine, 'engine/frame', 'engine/run'],
    types: ['engine/tasks'],
  },
  'engine/drive': {
    holds: 'the engine port, and the engine within the process: wakes, timers, looks',
    imports: ['base', 'ledger'],
  },
  'engine/rebuild': {
    holds: 'rows made anew from ledgers and inboxes: turns, tasks, requests, the session list',
    imports: [...belowEngine, 'engine/frame', 'engine/tasks', 'engine/services'],
  },
  'engine/app': {
    holds: 'one app: its options, tenants, sessions, recovery and turns',
    imports: [
      ...belowEngine,
      ...['engine/frame', 'engine/invoke', 'engine/run', 'engine/requests', 'engine/live'],
      ...['engine/tasks', 'engine/services', 'engine/drive', 'engine/rebuild'],
    ],
  },
  stores: {
    holds: 'memory, SQLite, PostgreSQL; `encrypted/`, a store around any of them',
    imports: ['base', 'ledger'],
  },
  triggers: {
    holds: 'triggers: when they fire, what is missed, signatures of webhooks',
    imports: ['base', 'triggers/service', 'triggers/tools'],
    pure: true,
    impureFiles: ['schedules/calendar-days.ts'],
  },
  'triggers/service': {
    holds: '`app.triggers`: the ledger of each trigger, and the tasks that its firings start',
    imports: [
      ...['base', 'ledger', 'session', 'runnables', 'triggers'],
      ...['engine/services', 'engine/tasks'],
    ],
  },
  'triggers/tools': {
    holds: 'tools with which an agent makes and steers the triggers of its user',
    imports: ['base', 'ledger', 'tools', 'triggers', 'triggers/service'],
  },
  plan: {
    holds: '`adjutant/plan`: plans, graphs and routers, with the bodies that they bring along',
    imports: [...belowEngine, 'engine/frame', 'engine/invoke', 'views'],
  },
  redis: { holds: 'a `PubSub` by Redis', imports: ['base'], types: ['engine/live'] },
  bus: {
    holds: 'live events between parts of a system: in process, by Redis or PostgreSQL',
    imports: ['base', 'redis', 'stores'],
  },
  notifications: {
    holds: 'channels that reach people: webhook, mail, Web Push, streams, Slack, Telegram, SMS',
    imports: ['base', 'tools', 'notifications/delivery', 'notifications/service'],
    types: ['ledger'],
  },
  'notifications/service': {
    holds: '`app.notifications`: the ledger of the notices of each recipient',
    imports: [...['base', 'ledger', 'notifications', 'notifications/delivery', 'engine/services']],
  },
  'notifications/delivery': {
    holds: 'quiet hours, joined notices, the plan of deliveries and attempts',
    imports: ['base'],
    types: ['notifications'],
    pure: true,
  },
  opentelemetry: {
    holds: 'spans and metrics of runs',
    imports: ['base', 'ledger'],
    types: ['session', 'runnables'],
    nodeModules: ['node:module'],
  },
  views: {
    holds: 'transcript, run tree, explanations, prompts in sections, diagrams',
    imports: ['base', 'ledger', 'session', 'context'],
    types: ['runnables'],
    pure: true,
  },
};

/** Rooms and files of `src` that compose the others and may import anything. */
export const compositions: Readonly<Record<string, string>> = {
  replay: "today's code against a recorded ledger; differences of ledgers",
  'ledger-file': 'a ledger as a file without its secrets',
  conversation: 'a runnable and a user that talk: people, scripts, agents, plans',
  scheduler: 'tasks: job control in words, tools for agents, the queue simulator',
  testing:
    '`kit/` (runTest, scripted models, matchers, clocks), `contracts/` of stores, models, crashes',
  eval: 'datasets, scorers, statistics, the eval runner and its report',
  'runtime.ts': '`Runtime`: the composition root',
  'in-memory-app.ts': 'runs and sessions without an app of their own',
  'errors.ts': '`adjutant/errors`',
  'ports.ts': '`adjutant/ports`',
  'text.ts': '`adjutant/text`',
  'index.ts': '`adjutant`',
};

export const compositionRoots: readonly string[] = Object.keys(compositions);

/** Files that give the rest of core its time, identifiers and randomness. */
export const portFiles: readonly string[] = [
  'base/clock.ts',
  'base/host.ts',
  'base/id.ts',
  'base/random.ts',
  'base/turns.ts',
];

/**
 * Rooms that a simulation runs: they reach time, identifiers, randomness and turns of the event
 * loop through the `Host` of their runtime.
 */
export const simulatedRooms: readonly string[] = [
  ...belowEngine.filter((room) => room !== 'base'),
  ...Object.keys(rooms).filter((room) => room.startsWith('engine/')),
  'middleware',
  'plan',
  'tools/builtin',
];

/** Files of simulated rooms that name the machine, each with its reason. May only shrink. */
export const namesOfMachine: Readonly<Record<string, string>> = {
  'engine/app/runtime-options.ts': '`systemHost` is the default of the port',
  'engine/app/services.ts': '`systemHost` is the default of the port',
  'engine/app/shared-app.ts': '`systemHost` is the default of the port',
  'tools/builtin/current-time.ts': 'tells the time of the machine, unless it is given a clock',
  'tools/builtin/web/fetch-url.ts': 'uses the network, which a simulation does not have',
};

export const sizeLimits = {
  fileLines: 400,
  testFileLines: 800,
  functionLines: 60,
  indexLines: 250,
} as const;

/**
 * Modules that an import of the package must not load: they wait for their first use. They are slow
 * to load or able to touch the machine.
 */
export const modulesOutsideIndex: readonly string[] = [
  'ajv',
  'croner',
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
