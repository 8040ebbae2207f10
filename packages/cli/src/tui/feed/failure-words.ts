import type { EventOf } from 'adjutant';

type ModelFailure = NonNullable<EventOf<'model_end'>['error']>;

/** Kinds of failures of models, in few words. */
const kinds: Readonly<Record<string, string>> = {
  rate_limit: 'rate limited',
  overloaded: 'overloaded',
  server: 'failed on its side',
  connection: 'not reached',
  timeout: 'no answer in time',
  auth: 'credentials refused',
  invalid_request: 'request refused',
  model_not_found: 'no such model',
  context_overflow: 'prompt too long',
  content_filter: 'blocked by its filter',
  refusal: 'refused to answer',
  output_limit: 'answer too long',
  malformed: 'answer that cannot be read',
  missing_key: 'no credentials',
  missing_package: 'package not installed',
};

/** Returns the kind of a failure in words, by the code of its error. */
export function failureKind(code: string): string {
  return kinds[code.replace(/^model_/, '')] ?? code;
}

/** Returns a failed call of a model in few words: `429 rate limited, asked to wait`. */
export function failureWords({ code, data }: ModelFailure): string {
  const { status, retryAfterMs } = (data ?? {}) as Readonly<Record<string, unknown>>;
  const words = failureKind(code);
  const wait = typeof retryAfterMs === 'number' ? ', asked to wait' : '';
  return `${typeof status === 'number' ? `${status} ` : ''}${words}${wait}.`;
}
