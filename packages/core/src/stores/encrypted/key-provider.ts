/** A data key as it is stored. */
export interface WrappedKey {
  /** Names the key that it was wrapped with. */
  readonly keyId: string;
  readonly wrapped: Uint8Array;
}

/**
 * Wraps and unwraps the keys that the data are sealed with, by keys that belong to tenants and need
 * never leave where they are: a key management service can be one. An error that is not Adjutant's
 * is taken for a failure that may pass.
 */
export interface KeyProvider {
  /**
   * The key that wraps from now on. `rotate` wraps everything with it that was wrapped with another
   * one.
   */
  currentKey(tenant: string): Promise<{ readonly id: string }>;
  /** Wraps a data key of 32 bytes with the current key. */
  wrap(tenant: string, dataKey: Uint8Array): Promise<WrappedKey>;
  /**
   * @throws KeyUnavailableError when there is no such key, or it is not the one that this was
   * wrapped with
   */
  unwrap(tenant: string, keyId: string, wrapped: Uint8Array): Promise<Uint8Array>;
}
