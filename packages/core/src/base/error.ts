import type { ErrorCode } from './error-code.ts';
import type { JsonObject, JsonValue } from './json.ts';

const brand = Symbol.for('adjutant.error');

/** An error as the ledger and the wire hold it. */
export interface ErrorRecord {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly data?: JsonObject | undefined;
}

/**
 * Base of every error that Adjutant raises. Switch on `code`, which is stable, and never on the
 * text. `isAdjutantError` recognises errors of other copies of the package too.
 */
export class AdjutantError<Code extends string = ErrorCode> extends Error {
  readonly code: Code;
  readonly data: JsonObject;

  constructor(code: Code, message: string, data: JsonObject = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.data = data;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Returns the error as plain JSON, without stack and cause. `errorFromRecord` is the inverse. */
  toJSON(): ErrorRecord {
    return { name: this.name, code: this.code, message: this.message, data: this.data };
  }
}

/**
 * True when a value is an error of Adjutant, from this or another copy of the package, and has the
 * code if one is given.
 */
export function isAdjutantError(
  value: unknown,
  code?: ErrorCode | (string & {}),
): value is AdjutantError {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false;
  return code === undefined || ('code' in value && value.code === code);
}

/**
 * The inverse of `AdjutantError.toJSON`. The class is the base class; `name`, `code`, `message` and
 * `data` are the recorded ones.
 */
export function errorFromRecord(record: ErrorRecord): AdjutantError {
  const error = new AdjutantError(record.code as ErrorCode, record.message, record.data ?? {});
  error.name = record.name;
  return error;
}

/**
 * Returns any thrown value as a record. Errors of Adjutant keep their code; others get
 * `fallbackCode`.
 */
export function toErrorRecord(thrown: unknown, fallbackCode = 'unexpected_error'): ErrorRecord {
  if (isAdjutantError(thrown))
    return { name: thrown.name, code: thrown.code, message: thrown.message, data: thrown.data };
  if (thrown instanceof Error) {
    const systemCode = (thrown as { code?: JsonValue }).code;
    return {
      name: thrown.name,
      code: fallbackCode,
      message: thrown.message || thrown.name,
      ...(typeof systemCode === 'string' ? { data: { systemCode } } : {}),
    };
  }
  return {
    name: 'NonErrorThrown',
    code: fallbackCode,
    message: `A value that is not an Error was thrown: ${describeThrown(thrown)}`,
  };
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
