import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A server that tests use. */
export interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

export const isRoot = process.getuid?.() === 0;

export function run(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): void {
  const { status, error } = spawnSync(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...options,
  });
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(' ')} failed (${error?.message ?? `exit code ${status}`})`,
    );
}

/** Installs a Debian package, where that is possible. Returns whether it was. */
export function installDebianPackage(name: string): boolean {
  if (!isRoot || !existsSync('/usr/bin/apt-get')) return false;
  console.error(`installs ${name} with apt-get`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-q'], { env });
  run('apt-get', ['install', '-q', '-y', '--no-install-recommends', name], { env });
  return true;
}

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/**
 * Returns the answer of a server of this machine to a first message; nothing when there is none, or
 * when it takes more than five seconds.
 */
export async function firstAnswer(port: number, message: Buffer): Promise<Buffer> {
  const nothing = Buffer.alloc(0);
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write(message);
    const [answer] = (await Promise.race([once(socket, 'data'), wait(5_000, [nothing])])) as [
      Buffer,
    ];
    return answer;
  } catch {
    return nothing;
  } finally {
    socket.destroy();
  }
}

/**
 * Runs the command of this process's arguments with a variable set to the service's address, and
 * ends with its exit code.
 */
export async function runWith(
  name: string,
  variable: string,
  find: () => Promise<Service>,
): Promise<void> {
  const [program, ...args] = process.argv.slice(2);
  if (program === undefined) throw new Error(`Name a command: npm run ${name} -- npm test`);
  const service = await find();
  console.error(`${name}: ${service.url.replace(/:[^:@/]+@/, ':***@')}`);
  try {
    const child = spawn(program, args, {
      stdio: 'inherit',
      env: { ...process.env, [variable]: service.url },
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } finally {
    await service.stop();
  }
}
