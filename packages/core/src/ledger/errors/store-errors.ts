import { AdjutantError } from '../../base/error.ts';

/** The file or database was written by a newer version of Adjutant. */
export class StoreTooNewError extends AdjutantError {
  constructor(data: { store: string; found: number; supported: number }) {
    super(
      'store_too_new',
      `The store ${data.store} has schema version ${data.found}; ` +
        `this version of Adjutant knows versions up to ${data.supported}. ` +
        'Upgrade Adjutant to open it.',
      data,
    );
  }
}

/**
 * The store did not answer, or refused for a reason outside the ledger's contents. `permanent`:
 * asking again cannot help until a person changes something. `undetermined`: the store may have
 * carried out the call.
 */
export class StoreUnavailableError extends AdjutantError {
  constructor(
    data: {
      store: string;
      reason: string;
      permanent?: boolean;
      undetermined?: boolean;
      /** True when the disk is full: reading may still work. */
      full?: boolean;
    },
    options?: ErrorOptions,
  ) {
    super(
      'store_unavailable',
      `The store ${data.store} cannot be used: ${data.reason}.`,
      data,
      options,
    );
  }
}

/** An append refers to a blob that the store does not hold. Put the blob and append again. */
export class BlobMissingError extends AdjutantError {
  constructor(data: { address: string }) {
    super('blob_missing', `The store holds no blob at address ${data.address}.`, data);
  }
}
