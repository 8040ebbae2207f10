import { Listing } from '../listing.ts';
import { type CallOptions, pathOf, type Transport } from '../transport.ts';
import type {
  EvalComparison,
  EvalComparisonQuery,
  EvalDetails,
  EvalQuery,
  KeptEval,
} from '../types.ts';

/** Reports of evals in the folder of the server, for callers with the permission `read`. */
export class Evals {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The kept reports without their cases, those of the newest runs first. */
  list(
    query: { readonly limit?: number } = {},
    options: CallOptions = {},
  ): Listing<KeptEval, 'reports'> {
    return new Listing('reports', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('evals'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }

  /** A report, with a page of the cases that the query leaves. */
  get(id: string, query: EvalQuery = {}, options: CallOptions = {}): Promise<EvalDetails> {
    return this.#transport.json({ method: 'GET', path: pathOf('evals', id), query, ...options });
  }

  /** Two variants, of one report or of two, case by case: worse ones first. */
  compare(
    id: string,
    other: string,
    query: EvalComparisonQuery = {},
    options: CallOptions = {},
  ): Promise<EvalComparison> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('evals', id, 'comparison'),
      query: { with: other, ...query },
      ...options,
    });
  }
}
