import type { Attributes, Context, Span, SpanStatus } from '@opentelemetry/api';
import { systemClock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import type { OpenTelemetryApi } from './load-api.ts';

/** The end of the work of a span. */
export interface SpanEnd {
  readonly attributes: Attributes;
  /** Type of the failure; missing for a success. */
  readonly error?: SpanError | undefined;
}

export interface SpanError {
  readonly type: string;
  /** Message of the failure; shown only with content. */
  readonly message?: string | undefined;
}

/** A span under way, and the context for the work below it. */
export class OpenSpan {
  readonly span: Span;
  readonly context: Context;
  readonly #api: OpenTelemetryApi;
  /** Milliseconds by the clock of `performance.now()`, which spans understand. */
  readonly startedAt: number;
  endedAt: number | undefined;
  #end: SpanEnd | undefined;

  constructor(api: OpenTelemetryApi, span: Span, parent: Context, startedAt: number) {
    this.#api = api;
    this.span = span;
    this.context = api.trace.setSpan(parent, span);
    this.startedAt = startedAt;
  }

  /** The end of the work, kept until the code behind it is done. */
  get end(): SpanEnd | undefined {
    return this.#end;
  }

  /** Records the end of the work now; the code behind it is done in a moment. */
  finish(end: SpanEnd): void {
    this.#end = end;
    this.endedAt = systemClock.monotonic();
  }

  /** Ends the span with its known end, at the time at which its work was over. */
  close(end: SpanEnd | undefined, endedAt: number): void {
    const { span } = this;
    if (end !== undefined) {
      span.setAttributes(end.attributes);
      if (end.error !== undefined) this.#fail(end.error);
    }
    span.end(this.endedAt ?? endedAt);
  }

  #fail({ type, message }: SpanError): void {
    const status: SpanStatus = {
      code: this.#api.SpanStatusCode.ERROR,
      ...defined({ message }),
    };
    this.span.setAttribute('error.type', type);
    this.span.setStatus(status);
  }
}
