import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HostAnswers, HostConfig } from './host-config.ts';
import type { Reading, ReadingResult } from './reading.ts';

/** A process that answers messages. */
class Asked implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  readonly ready: Promise<unknown>;
  #id = 0;

  constructor(file: URL, args: readonly string[]) {
    const flags = [
      '--conditions=adjutant-source',
      '--expose-gc',
      ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? []),
    ];
    this.#process = fork(fileURLToPath(file), args, { execArgv: flags });
    this.ready = new Promise((resolve, reject) => {
      this.#waiting.set(0, resolve);
      this.#process.once('exit', (code) =>
        reject(new Error(`A process of the benchmark ended (${code}).`)),
      );
    });
    this.#process.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
  }

  ask(asked: string, given?: unknown): Promise<unknown> {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#process.once('exit', reject);
      this.#waiting.set(id, (answer) => {
        this.#process.off('exit', reject);
        resolve(answer);
      });
      this.#process.send({ id, asked, given });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

/** A server in a process of its own. */
export class HostProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: Asked;

  private constructor(url: string, process: Asked) {
    this.url = url;
    this.#process = process;
  }

  static async start(config: HostConfig): Promise<HostProcess> {
    const process = new Asked(new URL('./host-process.ts', import.meta.url), [
      JSON.stringify(config),
    ]);
    return new HostProcess((await process.ready) as string, process);
  }

  ask<Name extends keyof HostAnswers>(name: Name): Promise<HostAnswers[Name]> {
    return this.#process.ask(name) as Promise<HostAnswers[Name]>;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}

/** Readers of streams, in a process of their own. */
export class ReaderProcess implements AsyncDisposable {
  readonly #process: Asked;

  private constructor(process: Asked) {
    this.#process = process;
  }

  static async start(): Promise<ReaderProcess> {
    const process = new Asked(new URL('./reader-process.ts', import.meta.url), []);
    await process.ready;
    return new ReaderProcess(process);
  }

  /** Resolves when all streams are answered; what they say is counted from the beginning. */
  async open(reading: Reading): Promise<void> {
    await this.#process.ask('open', reading);
  }

  /** Resolves when every reader has read the end. */
  finished(): Promise<ReadingResult> {
    return this.#process.ask('finished') as Promise<ReadingResult>;
  }

  seen(): Promise<ReadingResult> {
    return this.#process.ask('seen') as Promise<ReadingResult>;
  }

  async close(): Promise<void> {
    await this.#process.ask('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}
