export interface ModelErrorClass {
  readonly kind: ModelErrorKind;
  /**
   * True when the same call may succeed later. Never for credentials, invalid requests, content
   * filters and spent quotas.
   */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** HTTP status. */
  readonly status?: number;
}

export type ModelErrorKind =
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'connection'
  | 'timeout'
  | 'auth'
  | 'invalid_request'
  | 'model_not_found'
  | 'context_overflow'
  | 'content_filter'
  | 'refusal'
  | 'output_limit'
  | 'malformed'
  | 'aborted'
  | 'missing_key'
  | 'missing_package'
  | 'unknown';
