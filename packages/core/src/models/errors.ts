import { defined } from '../base/defined.ts';
import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { ModelErrorClass, ModelErrorKind } from './error-kind.ts';

/**
 * A model call that failed. The `code` is `model_<kind>`, for example `model_rate_limit`.
 * Neither message nor data hold the key, the headers or the prompt.
 */
export class ModelError extends AdjutantError {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  /** Milliseconds that the provider asks to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(
    data: ModelErrorClass & { readonly model: string; readonly detail: string },
    options?: ErrorOptions,
  ) {
    super(`model_${data.kind}`, describeModelError(data), errorData(data), options);
    this.kind = data.kind;
    this.retryable = data.retryable;
    this.status = data.status;
    this.retryAfterMs = data.retryAfterMs;
  }
}

/**
 * The stream of a model's answer cannot be used: it ended before the answer did
 * (`model_stream_cut`) or it carried an error that is not an `Error` object (`model_stream_error`;
 * the provider's own value is the `cause`).
 */
export class ModelStreamError extends AdjutantError {
  constructor(
    data: { model: string; code: 'model_stream_cut' | 'model_stream_error'; detail: string },
    options?: ErrorOptions,
  ) {
    super(
      data.code,
      `The answer of ${data.model} is incomplete: ${data.detail}`,
      { model: data.model, detail: data.detail },
      options,
    );
  }
}

/** A provider needs a key, or a similar setting, and none is set. */
export class MissingKeyError extends AdjutantError {
  constructor(data: { model: string; variables: readonly string[]; hint?: string }) {
    const { model, variables, hint } = data;
    const message =
      `${model} needs credentials. Set ${variables.join(' or ')} in the ` +
      `environment${hint === undefined ? '' : `, or ${hint}`}.`;
    super('missing_key', message, { model, variables });
  }
}

/** A model's settings contradict each other or lack something. */
export class InvalidModelError extends AdjutantError {
  constructor(data: { model: string; reason: string }) {
    super('invalid_model', `The model ${data.model} cannot be used: ${data.reason}.`, data);
  }
}

/** A model name, such as that of `--model`, has none of the known forms. */
export class InvalidModelNameError extends AdjutantError {
  constructor(data: {
    name: string;
    reason: string;
    forms: readonly string[];
    nearest?: string;
    install?: string;
  }) {
    const { name, reason, forms, nearest, install } = data;
    const suggestion =
      install !== undefined
        ? ` Run "npm install ${install}", and give a model of it instead of a name.`
        : nearest === undefined
          ? ''
          : ` Did you mean "${nearest}"?`;
    super(
      'invalid_model_name',
      `"${name}" does not name a model: ${reason}.${suggestion} Write one of: ${forms.join(', ')}.`,
      {
        name,
        reason,
        forms,
        ...defined({ nearest, install }),
      },
    );
  }
}

/** Descriptions of failures for people, by kind. `unknown` adds nothing to the detail. */
const summaries: { readonly [Kind in ModelErrorKind]: string } = {
  rate_limit:
    'refused the call because of its rate limit or quota. Wait, lower the concurrency, or ' +
    'raise the limit with the provider',
  overloaded: 'is overloaded. Try again later or use another model',
  server: 'failed on the provider’s side. Try again later',
  connection: 'could not be reached. Check the network, the base URL and whether the server runs',
  timeout: 'did not answer in time. Raise the `timeoutMs` setting or ask for less',
  auth: 'refused the credentials. Check that the key is valid and may use this model',
  invalid_request:
    'refused the request as invalid. The settings, the tools or the messages do not fit this model',
  model_not_found:
    'does not exist, or these credentials may not use it. Check the model id or the ' +
    'deployment name',
  context_overflow:
    'was given more than its context window holds. Shorten the history or the tool ' +
    'results, or use a model with a larger window',
  content_filter: 'blocked the request or the answer by its content filter',
  refusal: 'refused to answer. Say what is asked for and why in other words, or use another model',
  output_limit:
    'used up its output tokens before it had answered. Raise `maxTokens`, or lower the ' +
    'reasoning effort',
  malformed: 'sent an answer that cannot be read',
  aborted: 'was stopped before it had answered',
  missing_key: 'has no credentials',
  missing_package: 'needs a package that is not installed',
  unknown: 'failed',
};

function describeModelError(
  data: ModelErrorClass & { readonly model: string; readonly detail: string },
): string {
  const status = data.status === undefined ? '' : ` (HTTP ${data.status})`;
  const detail = data.detail === '' ? '' : ` The provider says: ${data.detail}`;
  return `${data.model} ${summaries[data.kind]}${status}.${detail}`;
}

function errorData(
  data: ModelErrorClass & { readonly model: string; readonly detail: string },
): JsonObject {
  const { model, kind, retryable, retryAfterMs, status, detail } = data;
  return {
    model,
    kind,
    retryable,
    detail,
    ...defined({ status, retryAfterMs }),
  };
}
