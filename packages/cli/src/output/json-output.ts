import type { RunResult, StreamEvent } from 'adjutant';
import { type AdjutantError, isAdjutantError } from 'adjutant/errors';
import { visibleJson } from 'adjutant/text';
import { isClientFailure } from '../failure.ts';
import type { OutputStream } from '../host/host.ts';
import type { RunOutput } from './run-output.ts';

/**
 * Returns a JSON value on one line, without characters that a terminal would obey or not show.
 * Parsing the line gives the same value.
 */
export function jsonLine(value: unknown): string {
  return `${visibleJson(value)}\n`;
}

/** Record for the last line of a run. */
function resultRecord(result: RunResult): object {
  const {
    session,
    status,
    output,
    confidence,
    error,
    stopReason,
    runId,
    usage,
    cost,
    rounds,
    durationMs,
    toolCalls,
  } = result;
  const { pendingCalls, awaitingInput, sleepsUntil, yieldedInvocationId } = result;
  const waiting =
    status === 'yielded' ? { pendingCalls, awaitingInput, sleepsUntil, yieldedInvocationId } : {};
  return {
    type: 'result',
    status,
    output,
    confidence,
    error,
    stopReason,
    session: session.id,
    runId,
    usage,
    cost,
    rounds,
    durationMs,
    toolCalls,
    ...waiting,
  };
}

/** Record for a failure that prevented a command. */
export function failureRecord(thrown: unknown): object {
  const unexpected = {
    name: 'Error',
    code: 'unexpected_error',
    message: thrown instanceof Error ? thrown.message : String(thrown),
  };
  if (isClientFailure(thrown)) {
    const { name, code, message, data } = thrown;
    return { type: 'error', error: { name, code, message, data } };
  }
  return {
    type: 'error',
    error: isAdjutantError(thrown) ? (thrown as AdjutantError).toJSON() : unexpected,
  };
}

/** Output of a run as newline-delimited JSON: every streamed event, then the result. */
export class JsonOutput implements RunOutput {
  readonly #stream: OutputStream;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  recorded(): void {}

  streamed(event: StreamEvent): void {
    this.#stream.write(jsonLine(event));
  }

  ended(result: RunResult): void {
    this.#stream.write(jsonLine(resultRecord(result)));
  }

  waits(): void {}

  stopped(session: string, command: string | undefined): void {
    this.#stream.write(jsonLine({ type: 'stopped', session, continue: command }));
  }

  close(): void {}
}
