import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const home = import.meta.dirname;
const longestInstallMs = 300_000;

/** The parts of pg-boss that are used. */
export interface PgBossModule {
  readonly PgBoss: new (options: {
    readonly connectionString: string;
    readonly schema: string;
    readonly supervise?: boolean;
    readonly schedule?: boolean;
  }) => PgBoss;
}

export interface PgBoss {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: { readonly priority: number }): Promise<unknown>;
  insert(name: string, jobs: readonly { readonly priority: number }[]): Promise<unknown>;
  fetch(name: string): Promise<readonly { readonly id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
  work(
    name: string,
    options: {
      readonly batchSize: number;
      readonly burstWhenBatchFull: boolean;
      readonly pollingIntervalSeconds: number;
    },
    handler: (jobs: readonly unknown[]) => Promise<void>,
  ): Promise<string>;
}

interface Connection {
  readonly connection: { readonly host: string; readonly port: number };
}

/** The parts of BullMQ that are used. */
export interface BullModule {
  readonly Queue: new (name: string, options: Connection) => BullQueue;
  readonly Worker: new (
    name: string,
    handler: (() => Promise<void>) | null,
    options: Connection & {
      readonly concurrency?: number;
      readonly autorun?: boolean;
      readonly lockDuration?: number;
    },
  ) => BullWorker;
}

interface BullJobOptions {
  readonly priority: number;
  readonly removeOnComplete: boolean;
}

export interface BullQueue {
  add(name: string, data: object, options: BullJobOptions): Promise<unknown>;
  addBulk(
    jobs: readonly {
      readonly name: string;
      readonly data: object;
      readonly opts: BullJobOptions;
    }[],
  ): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface BullWorker {
  getNextJob(
    token: string,
    options: { readonly block: false },
  ): Promise<
    | { moveToCompleted(value: unknown, token: string, fetchNext: false): Promise<unknown> }
    | undefined
  >;
  run(): Promise<void>;
  close(): Promise<void>;
}

interface Peers {
  readonly boss: PgBossModule;
  readonly bull: BullModule;
}

interface Found {
  readonly peers?: Peers;
  /** Reason why there are none. */
  readonly reason?: string;
}

let found: Promise<Found> | undefined;

/**
 * The packages of this folder. They have a lockfile of their own and are installed when they are
 * first needed, so that no clone has them that never measures.
 */
export function findPeers(): Promise<Found> {
  found ??= find();
  return found;
}

async function find(): Promise<Found> {
  try {
    installPeers();
    const load = createRequire(join(home, 'package.json'));
    const boss = load('pg-boss') as PgBossModule;
    const bull = load('bullmq') as BullModule;
    return { peers: { boss, bull } };
  } catch (error) {
    return { reason: (error as Error).message.split('\n')[0] ?? '' };
  }
}

/** Installs the packages of this folder, unless they are there. */
export function installPeers(): void {
  if (existsSync(join(home, 'node_modules/.package-lock.json'))) return;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const args = ['ci', '--workspaces=false', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
    timeout: longestInstallMs,
  });
  if (status !== 0) throw new Error('npm could not install it');
}
