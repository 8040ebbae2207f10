import type { JsonObject } from '../../base/json.ts';

/** The comparison of a column with a value. */
export type ComparisonOperator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'contains'
  | 'empty'
  | 'not_empty';

/**
 * A condition on rows, as far as words alone tell it. The column is chosen later, with the file at
 * hand:
 * - `compare`: a column's name as the user wrote it, or none for the column of amounts;
 * - `state`: a word such as "unpaid" that describes a row;
 * - `value`: a value of some column, as in "from France";
 * - `unclear`: words that were not understood. A condition is never dropped: the answer would be
 *   one to another question.
 */
export type Condition =
  | {
      readonly kind: 'compare';
      readonly column?: string;
      readonly op: ComparisonOperator;
      readonly value?: string;
    }
  | { readonly kind: 'state'; readonly word: string; readonly negated: boolean }
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'unclear'; readonly text: string };

/** `rows` asks for the rows themselves. */
export type Statistic = 'sum' | 'avg' | 'min' | 'max' | 'count' | 'rows';

export interface TableRequest {
  readonly kind: 'table';
  /** Missing when no file was named. */
  readonly path?: string;
  readonly statistic: Statistic;
  /** Words of the request that may name a column, in order. */
  readonly words: readonly string[];
  readonly conditions: readonly Condition[];
  /** Words for the column to group by. */
  readonly groupBy?: string;
}

/**
 * A calculation with the number found before it; `expression` has `#` in its place, `label` says it
 * in words.
 */
export interface FollowUpRequest {
  readonly kind: 'followUp';
  readonly expression: string;
  readonly label: string;
}

/** Adds up the numbers of the requests before it. */
export interface CombineRequest {
  readonly kind: 'combine';
  readonly count: number;
}

export type Request =
  | TableRequest
  | CombineRequest
  | { readonly kind: 'unclear'; readonly text: string }
  /** The rest of a message that was too long, from that character on. */
  | { readonly kind: 'unread'; readonly from: number }
  | FollowUpRequest
  | { readonly kind: 'calculate'; readonly expression: string }
  | { readonly kind: 'time'; readonly place?: string }
  | { readonly kind: 'list'; readonly path?: string; readonly extension?: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'search'; readonly query: string; readonly path?: string }
  | { readonly kind: 'fetch'; readonly url: string }
  /** A tool that the message names, with its arguments. */
  | { readonly kind: 'tool'; readonly name: string; readonly args: JsonObject };
