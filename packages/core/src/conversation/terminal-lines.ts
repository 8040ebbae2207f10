import type { Interface } from 'node:readline';
import { terminalText } from './terminal-text.ts';

/** The reason for a missing line. */
export type NoLine = 'ended' | 'interrupted' | 'aborted';

export type TypedLine = { readonly line: string } | { readonly none: NoLine };

export interface TerminalStreams {
  readonly input: NodeJS.ReadableStream & {
    readonly isTTY?: boolean;
    readonly readableEnded?: boolean;
    readonly destroyed?: boolean;
  };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Asks for lines, one at a time. Lines that come before they are asked for wait. */
export class TerminalLines {
  readonly #streams: TerminalStreams;
  readonly #isTerminal: boolean;
  readonly #waiting: string[] = [];
  #interface: Interface | undefined;
  #ended = false;
  #forget: () => void = () => undefined;
  #failure: { readonly error: unknown } | undefined;
  #wanted: ((typed: TypedLine) => void) | undefined;

  constructor(streams: TerminalStreams) {
    this.#streams = streams;
    this.#isTerminal = streams.input.isTTY === true && streams.output.isTTY === true;
  }

  /** Writes what is to be read, with nothing in it that a terminal would obey. */
  write(text: string): void {
    this.#streams.output.write(terminalText(text));
  }

  /** @throws what the input fails with */
  async ask(prompt: string, signal: AbortSignal): Promise<TypedLine> {
    if (signal.aborted) return { none: 'aborted' };
    const shown = terminalText(prompt);
    const reader = this.#ended ? undefined : (this.#interface ?? (await this.#open()));
    const early = this.#waiting.shift();
    if (early !== undefined || reader === undefined) {
      this.#streams.output.write(early === undefined ? shown : `${shown}\n`);
      if (early === undefined && this.#failure !== undefined) throw this.#failure.error;
      return early === undefined ? { none: 'ended' } : { line: early };
    }
    const typed = await this.#next(reader, shown, signal);
    if (this.#failure !== undefined) throw this.#failure.error;
    return typed;
  }

  async #next(reader: Interface, shown: string, signal: AbortSignal): Promise<TypedLine> {
    const { promise, resolve } = Promise.withResolvers<TypedLine>();
    const onAbort = (): void => resolve({ none: 'aborted' });
    this.#wanted = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
    const lastLine = shown.lastIndexOf('\n') + 1;
    this.#streams.output.write(shown.slice(0, lastLine));
    reader.setPrompt(shown.slice(lastLine));
    reader.prompt();
    try {
      const typed = await promise;
      // Nobody else shows that the line is over.
      if ('line' in typed && !this.#isTerminal) this.#streams.output.write('\n');
      return typed;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#wanted = undefined;
      this.#rest(reader);
    }
  }

  /**
   * Between questions the terminal is as it was, so that Ctrl-C reaches the process; other inputs
   * keep what has come of the next line.
   */
  #rest(reader: Interface): void {
    if (this.#ended) return;
    if (!this.#isTerminal) {
      reader.pause();
      return;
    }
    this.#interface = undefined;
    this.#forget();
    reader.close();
  }

  async #open(): Promise<Interface | undefined> {
    const { input, output } = this.#streams;
    if (input.readableEnded === true || input.destroyed === true) {
      this.#ended = true;
      return undefined;
    }
    const { createInterface } = await import('node:readline');
    const reader = createInterface({ input, output, terminal: this.#isTerminal, historySize: 0 });
    this.#interface = reader;
    reader.on('line', (line) => {
      if (this.#wanted === undefined) this.#waiting.push(line);
      else this.#take({ line });
    });
    reader.on('SIGINT', () => this.#take({ none: 'interrupted' }));
    reader.once('close', () => {
      // One that was closed on purpose is no end of the input.
      if (this.#interface !== reader) return;
      this.#ended = true;
      this.#take({ none: 'ended' });
    });
    const onFailure = (error: unknown): void => {
      this.#failure = { error };
      this.#ended = true;
      this.#take({ none: 'ended' });
    };
    // Some versions of Node tell the reader of a failed input too, and end the process when it does
    // not listen.
    reader.on('error', onFailure);
    input.once('error', onFailure);
    this.#forget = () => input.removeListener('error', onFailure);
    return reader;
  }

  #take(typed: TypedLine): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    wanted?.(typed);
  }

  /** Gives the streams back. Lines that wait can still be asked for. */
  close(): void {
    const reader = this.#interface;
    this.#interface = undefined;
    this.#ended = true;
    this.#forget();
    reader?.close();
    this.#take({ none: 'ended' });
  }
}
