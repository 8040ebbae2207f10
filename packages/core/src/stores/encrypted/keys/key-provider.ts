/** A data key as it is stored. */
export interface WrappedKey {
  /** Id of the key that wrapped it. */
  readonly keyId: string;
  readonly wrapped: Uint8Array;
}

/**
 * Wraps and unwraps data keys by keys that belong to tenants. These may stay in a key management
 * service. An error that is not Adjutant's counts as a failure that may pass.
 */
export interface KeyProvider {
  /**
   * Returns the key that wraps from now on. `rotate` wraps again every data key that another one
   * wrapped.
   */
  currentKey(tenant: string): Promise<{ readonly id: string }>;
  /** Wraps a data key of 32 bytes with the current key. */
  wrap(tenant: string, dataKey: Uint8Array): Promise<WrappedKey>;
  /**
   * Unwraps a data key.
   * @throws KeyUnavailableError when the key does not exist, or did not wrap this data key
   */
  unwrap(tenant: string, keyId: string, wrapped: Uint8Array): Promise<Uint8Array>;
}
