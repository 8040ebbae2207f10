import { AdjutantError } from '../base/error.ts';

/** A store cannot be made from these arguments or options. Nothing has been opened. */
export class InvalidStoreError extends AdjutantError {
  constructor(data: { store: string; reason: string }) {
    super('invalid_store', `The store ${data.store} cannot be made: ${data.reason}.`, data);
  }
}
