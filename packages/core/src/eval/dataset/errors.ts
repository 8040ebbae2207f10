import { AdjutantError } from '../../base/error.ts';

/**
 * A dataset cannot be used. `path` says where in the document, such as
 * `$.cases[3].expect.tools[0].name`.
 */
export class InvalidDatasetError extends AdjutantError {
  constructor(data: { source: string; path: string; reason: string }, options?: ErrorOptions) {
    const place = data.path === '' ? '' : ` at ${data.path}`;
    super(
      'invalid_dataset',
      `The dataset ${data.source} cannot be read${place}: ${data.reason}.`,
      data,
      options,
    );
  }
}
