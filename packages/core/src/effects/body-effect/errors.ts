import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';

/**
 * Error of an effect of a step or a tool that failed with nothing done outside. The recorded
 * failure is thrown again whenever the body runs again.
 */
export class EffectFailedError extends AdjutantError {
  /** The recorded result of the effect. */
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
 * Error of an effect of a step or a tool with an unknown outcome. The effect is not repeated, also
 * when the body runs again.
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
        'out under its idempotency key and tell it with `app.sessions.resolveUnknown(session, ' +
        `'${data.callId}', { happened })\`, or give the effect a \`recovery\`. ` +
        'Then reopen the run.',
      withErrorType(data, result),
    );
    this.result = result;
  }
}

/**
 * Error for a key, a function or options with which no effect can be recorded, and for an effect
 * that uses the context of its body. One without a key was written without it.
 */
export class InvalidEffectError extends AdjutantError {
  constructor(data: { key?: string; reason: string; uses?: string }) {
    const effect = data.key === undefined ? 'An effect' : `The effect "${data.key}"`;
    const what = data.uses === undefined ? 'begin' : `use \`ctx.${data.uses}\``;
    super('invalid_effect', `${effect} cannot ${what}: ${data.reason}.`, data);
  }
}

function withErrorType(data: JsonObject, { errorType }: ToolResult): JsonObject {
  return errorType === undefined ? data : { ...data, errorType };
}

function textOf({ content }: ToolResult): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
