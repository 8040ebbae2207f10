import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const triesToStart = 100;

/**
 * A Redis of its own, with nothing in it, that answers a command when its change is on the disk:
 * our stores are synced too.
 */
export class SyncedRedis implements AsyncDisposable {
  readonly port: number;
  readonly #server: ChildProcess;
  readonly #home: string;

  private constructor(port: number, server: ChildProcess, home: string) {
    this.port = port;
    this.#server = server;
    this.#home = home;
  }

  /** @returns `undefined` when no Redis is installed, or it does not start */
  static async start(): Promise<SyncedRedis | undefined> {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-redis-'));
    const port = await freePort();
    const settings = {
      port: String(port),
      bind: '127.0.0.1',
      save: '',
      dir: home,
      appendonly: 'yes',
      appendfsync: 'always',
      'maxmemory-policy': 'noeviction',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const server = spawn('redis-server', args, { stdio: 'ignore' });
    const failed = once(server, 'error').then(() => true);
    const redis = new SyncedRedis(port, server, home);
    for (let tries = 0; tries < triesToStart && isRunning(server); tries++) {
      if (await isListening(port)) return redis;
      if (await Promise.race([failed, sleep(100, false)])) break;
    }
    await redis[Symbol.asyncDispose]();
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.pid !== undefined && isRunning(this.#server)) {
      const ended = once(this.#server, 'exit');
      this.#server.kill('SIGTERM');
      await ended;
    }
    await rm(this.#home, { recursive: true, force: true });
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Tells whether a connection is taken; a Redis with nothing in it takes commands at once. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
