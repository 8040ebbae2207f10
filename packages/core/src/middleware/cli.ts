import { checkOptions } from '../base/invalid-option.ts';
import { isFunction, type OptionChecks } from '../base/options.ts';
import { VisibleTextStream } from '../base/text/visible-text-stream.ts';
import type { StreamEvent } from '../ledger/event.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { Middleware } from '../runnables/hooks.ts';

export interface CliMiddlewareOptions {
  /** Gets the text piece by piece. @default stdout */
  readonly write?: (text: string) => void;
}

const optionChecks: OptionChecks<CliMiddlewareOptions> = { write: isFunction };

/**
 * Writes the work of a runtime as plain text while it happens, for scripts: answers, names of tools
 * and the outcome of their calls. No thoughts, arguments or results.
 * @throws InvalidOptionError
 */
export function cliMiddleware(options: CliMiddlewareOptions = {}): Middleware {
  checkOptions('cliMiddleware', options, optionChecks);
  const printer = new Printer(options.write ?? ((text) => void process.stdout.write(text)));
  return Object.freeze({
    name: 'cliMiddleware',
    onStream: (event: StreamEvent) => printer.take(event),
  });
}

class Printer {
  readonly #write: (text: string) => void;
  /**
   * Streamed text of each invocation whose recorded form is still to come. Recorded texts come
   * later than the deltas after them.
   */
  readonly #streamed = new Map<string, string>();
  #speaker: string | undefined;
  #isInLine = false;
  /** Pieces of an answer may part what belongs together. */
  #text = new VisibleTextStream();

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case 'assistant_delta':
        this.#streamed.set(
          event.invocationId,
          (this.#streamed.get(event.invocationId) ?? '') + event.delta,
        );
        this.#say(event.agent, event.delta);
        return;
      case 'assistant':
        if (!this.#wasStreamed(event.invocationId ?? '', event.text))
          this.#say(event.agent, event.text);
        this.#endLine();
        return;
      case 'stream_reset':
        this.#streamed.delete(event.invocationId);
        this.#line('(the answer begins again)');
        return;
      case 'tool_call':
        this.#line(`→ ${event.name}`);
        return;
      case 'tool_result':
        if (event.settled && !isSuccess(event.result))
          this.#line(`✗ ${event.name}: ${event.result.errorType ?? event.result.status}`);
        return;
      case 'tool_yield':
        this.#line(`? ${event.request.summary}`);
        return;
      case 'error':
        this.#line(`✗ ${event.error.message}`);
        return;
      case 'invocation_end':
        this.#streamed.delete(event.invocationId);
        if (event.status === 'error') this.#line(`✗ ${event.error?.message ?? 'failed'}`);
        return;
      default:
    }
  }

  /**
   * True when a text was written as it was streamed. A hook or a guardrail may have changed it
   * since.
   */
  #wasStreamed(invocation: string, text: string): boolean {
    const streamed = this.#streamed.get(invocation) ?? '';
    const at = streamed.indexOf(text);
    if (at < 0) return false;
    this.#streamed.set(invocation, streamed.slice(at + text.length));
    return true;
  }

  #say(agent: string, text: string): void {
    if (text === '') return;
    if (this.#speaker !== agent) {
      this.#endLine();
      this.#speaker = agent;
      this.#print(`[${agent}] `);
    }
    this.#print(text);
  }

  #line(text: string): void {
    this.#endLine();
    this.#print(`${text.replaceAll('\n', ' ')}\n`);
  }

  /** The next speaker is named. */
  #endLine(): void {
    this.#speaker = undefined;
    this.#put(this.#text.end());
    if (this.#isInLine) this.#print('\n');
  }

  /**
   * Models and tools must not move the cursor or set the title of the terminal, nor hide their own
   * text.
   */
  #print(text: string): void {
    this.#put(this.#text.push(text));
  }

  #put(shown: string): void {
    if (shown === '') return;
    this.#isInLine = !shown.endsWith('\n');
    this.#write(shown);
  }
}
