import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerCommand, ServerOrder, ServerReport } from './messages.ts';

/**
 * With it a process begins in a third of the time. Node keeps apart what was compiled from other
 * sources.
 */
const compiled = fileURLToPath(
  new URL('../../../../node_modules/.cache/adjutant-compiled', import.meta.url),
);

/** A process that serves, seen from the test. */
export class ServerHandle {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #url: Promise<string>;
  /** Text of its standard error. */
  complaints = '';
  /** Where it listens, once `listening` has resolved. */
  url = '';

  constructor(order: ServerOrder) {
    this.#child = fork(new URL('server-process.ts', import.meta.url), [JSON.stringify(order)], {
      execArgv: [],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    this.#ended = once(this.#child, 'close');
    this.#url = new Promise((resolve, reject) => {
      this.#child.once('message', ({ url }: ServerReport) => resolve(url));
      void this.#ended.then(() => reject(new Error(`The process ended. ${this.complaints}`)));
    });
    this.#url.catch(() => undefined);
  }

  /** @throws Error when it ends before it listens */
  async listening(): Promise<this> {
    this.url = await this.#url;
    return this;
  }

  tell(command: ServerCommand): void {
    this.#child.send(command);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  /** Resolves when it has ended by itself, with the signal that it died of. */
  async ended(): Promise<NodeJS.Signals | null> {
    await this.#ended;
    return this.#child.signalCode;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
