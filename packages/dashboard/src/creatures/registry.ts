/** Part of the page in which a creature lives: by what its process does. */
export const zones = ['listening', 'thinking', 'acting'] as const;
export type Zone = (typeof zones)[number];

interface Entry {
  readonly zone: Zone;
  /** Part of an installation that the process belongs to. */
  readonly service: 'server' | 'runtime' | 'kernel' | 'agents' | 'workers';
  /** Process or component that it stands for. */
  readonly process: string;
  readonly label: string;
  /** Other components whose decisions are its own. */
  readonly components?: readonly string[];
}

/** All creatures in the order of their places. */
const entries = {
  jellyfish: { zone: 'listening', service: 'server', process: 'http', label: 'HTTP' },
  siren: { zone: 'listening', service: 'server', process: 'notifier', label: 'Notices' },
  cerberus: {
    zone: 'listening',
    service: 'server',
    process: 'access',
    label: 'Access',
    components: ['approval_token'],
  },
  hydra: { zone: 'listening', service: 'server', process: 'trigger', label: 'Triggers' },
  ibis: { zone: 'listening', service: 'server', process: 'inbox', label: 'Messages' },
  gargoyle: { zone: 'listening', service: 'server', process: 'guardrail', label: 'Guardrails' },

  owl: {
    zone: 'thinking',
    service: 'runtime',
    process: 'run',
    label: 'Controller',
    components: ['controller', 'invoke'],
  },
  golem: {
    zone: 'thinking',
    service: 'kernel',
    process: 'kernel-supervisor',
    label: 'Supervisor',
    components: ['supervisor', 'error_handler', 'tools'],
  },
  clockwork: {
    zone: 'thinking',
    service: 'kernel',
    process: 'task-scheduler',
    label: 'Scheduler',
    components: ['scheduler'],
  },
  kraken: {
    zone: 'thinking',
    service: 'runtime',
    process: 'plan',
    label: 'Planner',
    components: ['planner', 'spawn', 'spawn.detach'],
  },
  narwhal: {
    zone: 'thinking',
    service: 'runtime',
    process: 'models',
    label: 'Models',
    components: ['circuit_breaker'],
  },
  sphinx: {
    zone: 'thinking',
    service: 'runtime',
    process: 'request',
    label: 'Requests',
    components: ['approval'],
  },
  dragon: { zone: 'thinking', service: 'runtime', process: 'error_router', label: 'Error router' },
  ouroboros: {
    zone: 'thinking',
    service: 'runtime',
    process: 'loop_detector',
    label: 'Loop detector',
  },
  'luna-moth': { zone: 'thinking', service: 'runtime', process: 'context', label: 'Context' },
  phoenix: {
    zone: 'thinking',
    service: 'runtime',
    process: 'recovery',
    label: 'Recovery',
    components: ['failures'],
  },
  starfish: { zone: 'thinking', service: 'runtime', process: 'parallel', label: 'Parallel' },
  butterfly: { zone: 'thinking', service: 'runtime', process: 'handoff', label: 'Handoffs' },
  eagle: { zone: 'thinking', service: 'runtime', process: 'goal', label: 'Goals' },
  oracle: { zone: 'thinking', service: 'runtime', process: 'result_check', label: 'Result check' },
  pythia: { zone: 'thinking', service: 'runtime', process: 'output', label: 'Output check' },
  basilisk: {
    zone: 'thinking',
    service: 'runtime',
    process: 'limits',
    label: 'Limits',
    components: ['budget'],
  },
  griffin: { zone: 'thinking', service: 'runtime', process: 'permissions', label: 'Permissions' },
  seahorse: {
    zone: 'thinking',
    service: 'runtime',
    process: 'session',
    label: 'Sessions',
    components: ['lifecycle', 'service'],
  },
  mnemosyne: {
    zone: 'thinking',
    service: 'runtime',
    process: 'memory',
    label: 'Memory',
    components: ['shared_state'],
  },
  archivist: { zone: 'thinking', service: 'runtime', process: 'ledger', label: 'Ledger' },
  chameleon: { zone: 'thinking', service: 'runtime', process: 'fork', label: 'Forks' },
  firefly: { zone: 'thinking', service: 'runtime', process: 'hooks', label: 'Hooks' },
  spider: { zone: 'thinking', service: 'runtime', process: 'bus', label: 'Event bus' },
  hummingbird: { zone: 'thinking', service: 'runtime', process: 'outbox', label: 'Outbox' },
  hawk: { zone: 'thinking', service: 'runtime', process: 'eval', label: 'Evals' },
  'phoenix-ash': {
    zone: 'thinking',
    service: 'kernel',
    process: 'debugger-agent',
    label: 'Debugger',
    components: ['debugger'],
  },

  unicorn: { zone: 'acting', service: 'agents', process: 'mail', label: 'Mail' },
  fairy: { zone: 'acting', service: 'agents', process: 'calendar', label: 'Calendar' },
  centaur: { zone: 'acting', service: 'agents', process: 'files', label: 'Files' },
  minotaur: { zone: 'acting', service: 'agents', process: 'shell', label: 'Shell' },
  lion: { zone: 'acting', service: 'agents', process: 'lead', label: 'Lead' },
  leviathan: { zone: 'acting', service: 'agents', process: 'batch', label: 'Batch' },
  serpent: { zone: 'acting', service: 'agents', process: 'python', label: 'Python' },
  chimera: { zone: 'acting', service: 'agents', process: 'team', label: 'Team' },
  selkie: { zone: 'acting', service: 'agents', process: 'browser', label: 'Browser' },
  nymph: { zone: 'acting', service: 'agents', process: 'images', label: 'Images' },
  scribe: { zone: 'acting', service: 'agents', process: 'writer', label: 'Writer' },
  pegasus: { zone: 'acting', service: 'agents', process: 'delivery', label: 'Delivery' },
  librarian: { zone: 'acting', service: 'agents', process: 'search', label: 'Search' },
  roc: { zone: 'acting', service: 'workers', process: 'worker-youtube', label: 'Video' },
  manticore: { zone: 'acting', service: 'workers', process: 'worker-research', label: 'Research' },
  djinn: { zone: 'acting', service: 'workers', process: 'worker-claude-code', label: 'Code' },
} as const satisfies Readonly<Record<string, Entry>>;

export type CreatureName = keyof typeof entries;

/** A creature: its place, and what it stands for. */
export interface RegisteredCreature extends Entry {
  readonly name: CreatureName;
}

export const creatures: readonly RegisteredCreature[] = Object.entries(entries).map(
  ([name, entry]) => ({ name: name as CreatureName, ...entry }),
);

export function isCreatureName(text: unknown): text is CreatureName {
  return typeof text === 'string' && Object.hasOwn(entries, text);
}

export function creatureOf(name: CreatureName): RegisteredCreature {
  return { name, ...entries[name] };
}
