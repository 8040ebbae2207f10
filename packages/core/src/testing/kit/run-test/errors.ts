import { AdjutantError } from '../../../base/error.ts';
import type { JsonObject } from '../../../base/json.ts';

/** Error of an invalid step or option of a test. Nothing has run. */
export class InvalidTestError extends AdjutantError {
  constructor(data: { what: string; reason: string }) {
    super('invalid_test', `${data.what} cannot be used: ${data.reason}.`, data);
  }
}

/**
 * Error of a run that did something else than its test says. The message has the step, the work of
 * the run, and everything that had happened. When an assertion of `expectPrompt` failed, it is the
 * `cause`. `actual` and `expected` are then those of the assertion, so that runners show the
 * difference.
 */
export class TestStepError extends AdjutantError {
  constructor(
    message: string,
    data: { readonly step: number; readonly kind: string } & JsonObject,
    cause?: unknown,
  ) {
    super('test_step_failed', message, data, cause === undefined ? undefined : { cause });
    for (const key of ['actual', 'expected', 'operator', 'showDiff'] as const) {
      if (typeof cause === 'object' && cause !== null && key in cause)
        Object.assign(this, { [key]: (cause as Record<string, unknown>)[key] });
    }
  }
}
