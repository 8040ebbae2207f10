export interface FetchUrlArgs {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD';
}

export interface FetchUrlResult {
  /** The URL after redirects. */
  readonly url: string;
  readonly status: number;
  /** Content type of the server; HTML is not converted. */
  readonly contentType: string;
  readonly text: string;
  /** There is more than the limit. */
  readonly truncated: boolean;
}
