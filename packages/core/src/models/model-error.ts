import { AbortReason } from '../base/cancel-scope.ts';
import { defined } from '../base/defined.ts';
import { classifyModelError } from './classify.ts';
import type { ModelErrorKind } from './error-kind.ts';
import { ModelError } from './errors.ts';

const longestDetail = 300;

/**
 * Returns the error of a model call as a `ModelError` with a stable code and advice. A `ModelError`
 * stays itself. The request, the headers and anything that looks like a key are left out, also from
 * the cause.
 * @param now epoch milliseconds, for a `retry-after` that names a date
 */
export function toModelError(error: unknown, model: string, now?: number): ModelError {
  if (error instanceof ModelError) return error;
  const found = classifyModelError(error, now);
  const cause = safeCause(error);
  return new ModelError(
    { ...found, model, detail: describeDetail(error, found.kind) },
    defined({ cause }),
  );
}

/**
 * Returns the words of the provider or the system. Parse errors are left out because they quote the
 * answer, and a missing key because the summary explains it.
 */
function describeDetail(error: unknown, kind: ModelErrorKind): string {
  if (error instanceof AbortReason) return '';
  const { name, message } = (
    typeof error === 'object' && error !== null ? error : { message: error }
  ) as { name?: unknown; message?: unknown };
  if (
    typeof message !== 'string' ||
    name === 'AI_JSONParseError' ||
    name === 'AI_TypeValidationError'
  )
    return '';
  return redact(shorten(message.trim()), kind);
}

function shorten(text: string): string {
  return text.length <= longestDetail ? text : `${text.slice(0, longestDetail)}…`;
}

const keyShapes = new RegExp(
  [
    String.raw`\b(sk|pk|rk|xai|gsk)-[\w*-]{6,}|\bAIza[\w-]{10,}|\b(Bearer|Basic)\s+\S+`,
    String.raw`\bya29\.\S+|\beyJ[\w-]+\.[\w-]+(\.[\w-]+)?`,
  ].join('|'),
  'gi',
);
/** A long word of letters and digits: in a refusal of credentials it may be the key itself. */
const longWord = /(?=[\w*.-]*\d)(?=[\w*.-]*[a-z])[\w*.-]{16,}/gi;

function redact(text: string, kind: ModelErrorKind): string {
  const withoutKeys = text.replace(keyShapes, '[removed]');
  return kind === 'auth' ? withoutKeys.replace(longWord, '[removed]') : withoutKeys;
}

/**
 * The AI SDK's call errors carry the whole request: only the error below them, such as that of the
 * socket, is kept.
 */
function safeCause(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!('requestBodyValues' in error) && !('errors' in error))
    return error.name.startsWith('AI_') ? undefined : error;
  const cause = error.cause;
  return cause instanceof Error && !('requestBodyValues' in cause) && !cause.name.startsWith('AI_')
    ? cause
    : undefined;
}
