import {
  type Event,
  type EventOf,
  isDurable,
  type RunResult,
  type StreamEvent,
  type TransientEvent,
} from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { VisibleTextStream, visibleJson } from 'adjutant/text';
import type { OutputStream } from '../host/host.ts';
import { formatCost, formatCount, formatDuration, formatUsage } from './format.ts';
import { plainLine, plainText } from './plain-text.ts';
import type { RunOutput } from './run-output.ts';
import { Spinner } from './spinner.ts';
import { type Style, styleFor } from './style.ts';
import { describeCall, toolLine } from './tool-line.ts';

export interface TextOutputOptions {
  readonly stream: OutputStream;
  /** Stream for everything besides the output: retries, errors, limits. */
  readonly notices: OutputStream;
  readonly clock: Clock;
  /** True when the stream is a terminal on which a line can be redrawn. */
  readonly isLive: boolean;
  /** True when only answers, questions and failures are shown. @default false */
  readonly isQuiet?: boolean;
  /** Replaces references by their large values. */
  readonly resolve: (value: unknown) => unknown;
  /** Events recorded before the run began or continued. @default nothing */
  readonly events?: readonly Event[];
}

/** Explanations of an incomplete answer, by stop reason, where the name alone says little. */
const cutShort: Readonly<Record<string, string>> = {
  loop: 'it asked again and again for what leads nowhere',
  goal_unmet: 'the answer does not reach the goal',
  refused: 'the run was not let in',
};

/**
 * Output of a run for people. It shows the text as it is written, tool calls with their results,
 * and the usage at the end.
 */
export class TextOutput implements RunOutput {
  readonly #stream: OutputStream;
  readonly #notices: OutputStream;
  readonly #style: Style;
  readonly #spinner: Spinner | undefined;
  readonly #isQuiet: boolean;
  readonly #resolve: (value: unknown) => unknown;
  readonly #running = new Map<string, EventOf<'tool_call'>>();
  /** Arguments of open calls: those of the model, or those that a person edited. */
  readonly #args = new Map<string, unknown>();
  #text = new VisibleTextStream();
  /** Invocations whose present answer has been streamed to the output. */
  readonly #streaming = new Set<string>();
  #isLineOpen = false;
  #hasText = false;

  constructor(options: TextOutputOptions) {
    const { stream, notices, clock, isLive, isQuiet = false, resolve, events = [] } = options;
    this.#isQuiet = isQuiet;
    this.#stream = stream;
    this.#notices = notices;
    this.#style = styleFor(stream);
    this.#spinner = isLive && !isQuiet ? new Spinner(stream, clock, this.#style) : undefined;
    this.#resolve = resolve;
    for (const event of events) this.#noteArgs(event);
  }

  #noteArgs(event: Event): void {
    if (event.type === 'tool_call') this.#args.set(event.callId, event.args);
    else if (event.type === 'tool_input' && event.decision === 'edit')
      this.#args.set(event.callId, event.input);
    else if (event.type === 'tool_result' && event.settled) this.#args.delete(event.callId);
  }

  streamed(event: StreamEvent): void {
    if (!isDurable(event)) this.#transient(event);
  }

  #transient(event: TransientEvent): void {
    switch (event.type) {
      case 'assistant_delta':
        this.#streaming.add(event.invocationId);
        this.#write(this.#text.push(event.delta));
        break;
      case 'thought_delta':
        this.#wait('thinking');
        break;
      case 'tool_args_delta':
        this.#wait(`preparing ${plainLine(event.name)}`);
        break;
      case 'tool_progress':
        this.#wait(`${plainLine(event.name)}: ${visibleJson(event.data)}`);
        break;
      case 'stream_reset':
        if (this.#streaming.delete(event.invocationId))
          this.#line(this.#style.dim('(the model starts its answer again)'));
        this.#text = new VisibleTextStream();
    }
  }

  recorded(event: Event): void {
    this.#show(event);
    this.#noteArgs(event);
  }

  #show(event: Event): void {
    switch (event.type) {
      case 'model_start':
        this.#wait('thinking');
        break;
      case 'assistant':
        this.#assistant(event);
        break;
      case 'model_end':
        if (event.error !== undefined && event.retryAfterMs !== undefined)
          this.#retry(event.error.message, event.retryAfterMs);
        break;
      case 'decision':
        // A decision of supervision is shown only when it changes the model; `explain` shows the
        // rest.
        if (event.component === 'models' && event.decision === 'fallback')
          this.#notice('yellow', String(this.#resolve(event.reasoning)));
        break;
      case 'tool_call':
        this.#running.set(event.callId, event);
        this.#showRunning();
        break;
      case 'tool_result':
        this.#toolResult(event);
        break;
      case 'tool_yield':
        // The call waits, so only the other calls are running.
        this.#running.delete(event.callId);
        this.#showRunning();
        break;
      case 'error':
        this.#notice('red', event.error.message);
        break;
    }
  }

  #assistant(event: EventOf<'assistant'>): void {
    const wasStreamed =
      event.invocationId !== undefined && this.#streaming.delete(event.invocationId);
    this.#write(wasStreamed ? this.#text.end() : plainText(String(this.#resolve(event.text))));
    this.#text = new VisibleTextStream();
    this.#endLine();
  }

  #retry(message: string, delayMs: number): void {
    const failed = /[.!?]$/.test(message) ? message : `${message}.`;
    this.#notice(
      'yellow',
      `${failed} Trying again${delayMs === 0 ? '' : ` in ${formatDuration(delayMs)}`}.`,
    );
  }

  #toolResult(event: EventOf<'tool_result'>): void {
    if (!event.settled) {
      const failed = `${event.name} failed (${event.result.errorType ?? event.result.status}).`;
      if (event.fallback !== undefined)
        this.#notice('yellow', `${failed} Running ${event.fallback} in its place.`);
      else if (event.retryAfterMs !== undefined) this.#retry(failed, event.retryAfterMs);
      return;
    }
    const args = this.#args.get(event.callId);
    this.#running.delete(event.callId);
    const result = {
      ...event.result,
      content: this.#resolve(event.result.content) as typeof event.result.content,
    };
    const call = { name: event.name, args: this.#resolve(args) };
    if (!this.#isQuiet) this.#line(toolLine(this.#style, call, result, event.durationMs));
    this.#showRunning();
  }

  #showRunning(): void {
    const [first, ...others] = [...this.#running.values()];
    if (first === undefined) return;
    const label =
      others.length === 0
        ? describeCall(first.name, this.#resolve(first.args))
        : [first, ...others].map(({ name }) => plainLine(name)).join(', ');
    this.#wait(label);
  }

  ended(result: RunResult): void {
    this.#endLine();
    if (result.status === 'completed' && !this.#hasText) this.#line(this.#outputOf(result));
    if (result.stopReason !== undefined)
      this.#notice(
        'yellow',
        `Cut short: ${cutShort[result.stopReason] ?? result.stopReason.replaceAll('_', ' ')}.`,
      );
    if (this.#isQuiet) return;
    const parts = [
      formatCount(result.rounds, 'round'),
      formatCount(result.toolCalls.length, 'tool call'),
      formatUsage(result.usage),
      ...(result.cost === undefined ? [] : [formatCost(result.cost)]),
      formatDuration(result.durationMs),
      `session ${result.session.id}`,
    ];
    this.#line(this.#style.dim(parts.join(' · ')));
  }

  /** Text shown for a run in which no model wrote any, such as that of a step. */
  #outputOf({ output, rounds }: RunResult): string {
    const value = this.#resolve(output);
    if (typeof value === 'string') return plainText(value);
    if (value !== undefined) return visibleJson(value);
    return this.#style.dim(rounds === 0 ? '(no output)' : '(the model gave no text)');
  }

  waits(lines: readonly string[]): void {
    for (const line of lines) this.#line(line);
  }

  stopped(_session: string, command: string | undefined): void {
    const next = command === undefined ? '' : ` Continue with: ${this.#style.bold(command)}`;
    this.#line(`Stopped.${next}`);
  }

  close(): void {
    this.#spinner?.hide();
    this.#endLine();
  }

  #wait(label: string): void {
    if (this.#spinner === undefined || this.#isLineOpen) return;
    this.#spinner.show(label);
  }

  #write(text: string): void {
    if (text === '') return;
    this.#spinner?.hide();
    this.#stream.write(text);
    this.#hasText = true;
    this.#isLineOpen = !text.endsWith('\n');
  }

  #endLine(): void {
    if (!this.#isLineOpen) return;
    this.#stream.write('\n');
    this.#isLineOpen = false;
  }

  /**
   * Writes a line to the other stream. On a terminal, which shows both streams, it gets a line of
   * its own.
   */
  #notice(colour: 'red' | 'yellow', text: string): void {
    if (this.#isQuiet && colour === 'yellow') return;
    this.#spinner?.hide();
    this.#endLine();
    this.#notices.write(`${styleFor(this.#notices)[colour](`! ${plainLine(text)}`)}\n`);
  }

  #line(text: string): void {
    this.#spinner?.hide();
    this.#endLine();
    this.#stream.write(`${text}\n`);
  }
}
