import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

/**
 * An effect of a step or a tool failed, and nothing happened outside. The recorded failure is
 * thrown again whenever the body runs again.
 */
export class EffectFailedError extends AdjutantError {
  /** What the ledger has of it. */
  readonly result: ToolResult;

  constructor(
    data: { key: string; callId: string; idempotencyKey: string; attempt: number },
    result: ToolResult,
  ) {
    super(
      'effect_failed',
      `The effect "${data.key}" failed: ${textOf(result)}`,
      withErrorType(data, result),
    );
    this.result = result;
  }
}

/**
 * Nobody knows whether an effect of a step or a tool took place. It is not repeated, also when the
 * body runs again.
 */
export class EffectUnknownError extends AdjutantError {
  readonly result: ToolResult;

  constructor(
    data: { key: string; callId: string; idempotencyKey: string; attempt: number },
    result: ToolResult,
  ) {
    super(
      'effect_unknown',
      `It is not known whether the effect "${data.key}" took place: ${textOf(result)} Find ` +
        'out under its idempotency key, or give the effect a `recovery`.',
      withErrorType(data, result),
    );
    this.result = result;
  }
}

/** Options that no effect can be recorded with. */
export class InvalidEffectError extends AdjutantError {
  constructor(data: { key: string; reason: string }) {
    super('invalid_effect', `The effect "${data.key}" cannot begin: ${data.reason}.`, data);
  }
}

function withErrorType(data: JsonObject, { errorType }: ToolResult): JsonObject {
  return errorType === undefined ? data : { ...data, errorType };
}

function textOf({ content }: ToolResult): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
