import { type ChildProcess, fork } from 'node:child_process';
import type { ServerCommand, ServerReport } from './messages.ts';

/** The process of the server, seen from the test. */
export class ServerHandle {
  readonly #child: ChildProcess;
  readonly #waiting: {
    readonly type: ServerReport['type'];
    readonly resolve: (report: ServerReport) => void;
  }[] = [];
  readonly #early: ServerReport[] = [];

  constructor(file: string) {
    this.#child = fork(new URL('server-process.ts', import.meta.url), [file], {
      execArgv: ['--conditions=adjutant-source', '--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (report: ServerReport) => {
      const index = this.#waiting.findIndex(({ type }) => type === report.type);
      const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (waiting === undefined) this.#early.push(report);
      else waiting.resolve(report);
    });
  }

  /** The next report of a kind. Commands of one kind are answered in their order. */
  next<Type extends ServerReport['type']>(
    type: Type,
  ): Promise<Extract<ServerReport, { type: Type }>> {
    const index = this.#early.findIndex((report) => report.type === type);
    const [early] = index < 0 ? [] : this.#early.splice(index, 1);
    const coming =
      early === undefined
        ? new Promise<ServerReport>((resolve) => this.#waiting.push({ type, resolve }))
        : Promise.resolve(early);
    return coming as Promise<Extract<ServerReport, { type: Type }>>;
  }

  tell(command: ServerCommand): void {
    this.#child.send(command);
  }

  async memory(): Promise<Extract<ServerReport, { type: 'memory' }>> {
    this.tell({ type: 'memory' });
    return this.next('memory');
  }

  /** Ends the process. Resolves when it is gone, with its exit code. */
  async close(): Promise<number | null> {
    const gone = new Promise<number | null>((resolve) => this.#child.once('exit', resolve));
    this.tell({ type: 'close' });
    return gone;
  }
}
