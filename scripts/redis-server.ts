import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  firstAnswer,
  freePort,
  installDebianPackage,
  isRunning,
  type Service,
} from './local-service.ts';

const secondsToStart = 30;

/** Tells whether a server takes commands without a password. */
export async function takesAnybody(port: number): Promise<boolean> {
  return (await firstAnswer(port, Buffer.from('PING\r\n'))).toString().startsWith('+PONG');
}

function isInstalled(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts a server that keeps nothing.
 * @param given port that it is to have @default a free one
 * @throws Error when Redis is not installed, or does not answer
 */
export async function startRedis(given?: number): Promise<Service> {
  if (!isInstalled() && !(installDebianPackage('redis-server') && isInstalled())) {
    throw new Error('There is no Redis: install redis-server, or set REDIS_URL to a server.');
  }
  const home = mkdtempSync(join(tmpdir(), 'adjutant-redis-'));
  const port = given ?? (await freePort());
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    home,
  ];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    if (isRunning(server)) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    rmSync(home, { recursive: true, force: true });
  };
  for (let tries = 0; tries < secondsToStart * 10 && isRunning(server); tries++) {
    if (await takesAnybody(port)) return { url: `redis://127.0.0.1:${port}`, stop };
    await wait(100);
  }
  await stop();
  throw new Error('Redis did not start.');
}
