import type { ErrorRecord } from '../base/error.ts';
import type { EventOf } from '../ledger/event.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import { known, modelEndAttributes } from './attributes.ts';
import { shown } from './content.ts';
import type { SpanEnd, SpanError } from './open-span.ts';

/** @param content true to show messages of errors, which may quote messages and results */
export function invocationEnd(event: EventOf<'invocation_end'>, content: boolean): SpanEnd {
  const { status, error, stopReason, next, output } = event;
  return {
    attributes: known({
      'adjutant.status': status,
      'adjutant.stop_reason': stopReason,
      'adjutant.transferred_to': next?.name,
      'adjutant.output': content && output !== undefined ? shown(output) : undefined,
    }),
    error: status === 'error' ? errorOf(error, content) : undefined,
  };
}

export function modelEnd(event: EventOf<'model_end'>, content: boolean): SpanEnd {
  const { status, error } = event;
  // Work that was cut off on purpose has not failed.
  const failed = error !== undefined && status !== 'cancelled' && status !== 'interrupted';
  return {
    attributes: modelEndAttributes(event),
    error: failed ? errorOf(error, content) : undefined,
  };
}

export function toolEnd(event: EventOf<'tool_result'>, content: boolean): SpanEnd {
  const { result, retryAfterMs, fallback, next } = event;
  const { status, errorType } = result;
  const failed = !isSuccess(result) && errorType !== 'cancelled';
  return {
    attributes: known({
      'adjutant.status': errorType === 'cancelled' ? 'cancelled' : status,
      'adjutant.retry_after_ms': retryAfterMs,
      'adjutant.fallback': fallback,
      'adjutant.transferred_to': next?.name,
      'gen_ai.tool.call.result': content ? shown(result.content) : undefined,
    }),
    error: failed
      ? { type: errorType ?? status, message: content ? shown(result.content) : undefined }
      : undefined,
  };
}

/** The end of work that did not finish here. */
export function restEnd(status: 'yielded' | 'stopped', reason?: string): SpanEnd {
  return { attributes: known({ 'adjutant.status': status, 'adjutant.yield.reason': reason }) };
}

function errorOf(error: ErrorRecord | undefined, content: boolean): SpanError {
  return {
    type: error?.code ?? '_OTHER',
    message: content && error !== undefined ? shown(error.message) : undefined,
  };
}
