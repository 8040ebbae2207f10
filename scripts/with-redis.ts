/**
 * `npm run with-redis -- <command…>`: runs a command with `REDIS_URL` set to a Redis server, and
 * ends with its exit code. Takes the server that `REDIS_URL` names, else one of this machine, else
 * starts one of its own that keeps nothing. Where no Redis is installed: as root on Debian by
 * apt-get.
 */
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
  runWith,
  type Service,
} from './local-service.ts';

const localPort = 6379;
const secondsToStart = 30;

/** Tells whether a server takes commands without a password. */
async function takesAnybody(port: number): Promise<boolean> {
  return (await firstAnswer(port, Buffer.from('PING\r\n'))).toString().startsWith('+PONG');
}

function isInstalled(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

async function startOwn(): Promise<Service> {
  if (!isInstalled() && !(installDebianPackage('redis-server') && isInstalled())) {
    throw new Error('There is no Redis: install redis-server, or set REDIS_URL to a server.');
  }
  const home = mkdtempSync(join(tmpdir(), 'adjutant-redis-'));
  const port = await freePort();
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

await runWith('with-redis', 'REDIS_URL', async () => {
  const given = process.env['REDIS_URL'];
  const nothing = async (): Promise<void> => undefined;
  if (given) return { url: given, stop: nothing };
  if (await takesAnybody(localPort))
    return { url: `redis://127.0.0.1:${localPort}`, stop: nothing };
  return startOwn();
});
