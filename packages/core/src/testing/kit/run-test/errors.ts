import { AdjutantError } from '../../../base/error.ts';
import type { JsonObject } from '../../../base/json.ts';

/** A step or an option of a test that cannot be meant so. Nothing has run. */
export class InvalidTestError extends AdjutantError {
  constructor(data: { what: string; reason: string }) {
    super('invalid_test', `${data.what} cannot be used: ${data.reason}.`, data);
  }
}

/**
 * A run did something else than its test says. The message has the step, what the run was doing,
 * and everything that had happened. When an assertion of `expectPrompt` failed, it is the `cause`,
 * and `actual` and `expected` are those of the assertion, so that runners show the difference.
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
