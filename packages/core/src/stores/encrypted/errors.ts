import { AdjutantError } from '../../base/error.ts';

/**
 * The key that wraps a data key is not among those given, or did not wrap it. Nothing was read or
 * written.
 */
export class KeyUnavailableError extends AdjutantError {
  constructor(data: { tenant: string; keyId: string; reason: string }) {
    super(
      'key_unavailable',
      `The key "${data.keyId}" of tenant "${data.tenant}" cannot be used: ${data.reason}.`,
      data,
    );
  }
}

/**
 * Sealed content other than an event was changed in the inner store, moved from another place, or
 * sealed with another key.
 */
export class SealBrokenError extends AdjutantError {
  constructor(data: { what: string }) {
    super(
      'seal_broken',
      `${data.what} cannot be read: its sealed content was changed, moved here from ` +
        'another place, or sealed with another key. Restore it from a backup; if the store was ' +
        'being encrypted when that was interrupted, end it: adjutant encrypt.',
      data,
    );
  }
}

/**
 * A session exists without the keys of its events. Its deletion was begun, or the store that keeps
 * the keys is not the one that it was written with.
 */
export class SegmentKeyMissingError extends AdjutantError {
  constructor(data: { session: string; app: string }) {
    super(
      'segment_key_missing',
      `Session "${data.session}" of app "${data.app}" cannot be read or written: there is ` +
        'no key for it. If it was being deleted, delete it again; if it is from a time without ' +
        'encryption, encrypt the store: adjutant encrypt. ' +
        'Otherwise open the store with the `keyStore` that it was written with.',
      data,
    );
  }
}
