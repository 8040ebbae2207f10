import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ProcessOrder } from './process-worker.ts';

/** A process of the tests that can be stopped, killed and told to go on. */
export class TestProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #said: string[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #closed: Promise<unknown>;
  /** Text of its standard error. */
  complaints = '';

  constructor(order: ProcessOrder) {
    const program = new URL('./process-worker.ts', import.meta.url).pathname;
    this.#child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: 'pipe' });
    this.#closed = once(this.#child, 'close');
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#said.push(line);
      for (const tell of this.#waiting) tell();
    });
    void this.#closed.then(() => {
      for (const tell of this.#waiting) tell();
    });
  }

  get said(): readonly string[] {
    return this.#said;
  }

  /** Resolves when it has said something. @throws Error when it ends before */
  async says(what: string): Promise<void> {
    while (!this.#said.includes(what)) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(
          `The process ended without saying “${what}”. It said: ${this.#said.join(', ')}. ` +
            `${this.complaints}`,
        );
      }
      await new Promise<void>((resolve) => {
        const tell = (): void => {
          this.#waiting.delete(tell);
          resolve();
        };
        this.#waiting.add(tell);
      });
    }
  }

  goOn(): void {
    this.#child.stdin.write('go on\n');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  /** Resolves when it has ended by itself, with its exit code. */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }
}
