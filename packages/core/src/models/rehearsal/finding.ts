/** The outcome of a request. A later "15% of the total" refers to `number`. */
export interface Finding {
  readonly text: string;
  readonly number?: number;
}
