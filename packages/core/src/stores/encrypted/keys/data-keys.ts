import { isAdjutantError } from '../../../base/error.ts';
import { systemIds } from '../../../base/id.ts';
import { unguessableBytes } from '../../../base/random.ts';
import { StoreUnavailableError } from '../../../ledger/errors.ts';
import { keyBytes } from '../cipher.ts';
import { KeyUnavailableError } from '../errors.ts';
import type { KeyProvider } from './key-provider.ts';
import type { WrappedSegment } from './key-record.ts';

/** Makes, wraps and unwraps the data keys of one tenant. */
export class DataKeys {
  readonly #tenant: string;
  readonly #provider: KeyProvider;

  constructor(tenant: string, provider: KeyProvider) {
    this.#tenant = tenant;
    this.#provider = provider;
  }

  /** Makes a new segment with a random key. */
  async make(
    after: number,
  ): Promise<{ readonly segment: WrappedSegment; readonly key: Uint8Array }> {
    const key = unguessableBytes(keyBytes);
    return { segment: { id: systemIds.next(), after, ...(await this.#wrap(key)) }, key };
  }

  /**
   * Returns the key of a segment; `undefined` when it is lost.
   * @throws KeyUnavailableError, StoreUnavailableError
   */
  async unwrap({ keyId, wrapped }: WrappedSegment): Promise<Uint8Array | undefined> {
    if (keyId === undefined || wrapped === undefined) return undefined;
    const key = await this.#asked(keyId, () =>
      this.#provider.unwrap(this.#tenant, keyId, Buffer.from(wrapped, 'base64')),
    );
    if (key instanceof Uint8Array && key.length === keyBytes) return key;
    throw new KeyUnavailableError({
      tenant: this.#tenant,
      keyId,
      reason: `the key provider did not give ${keyBytes} bytes`,
    });
  }

  async currentKeyId(): Promise<string> {
    return (await this.#asked('(current)', () => this.#provider.currentKey(this.#tenant))).id;
  }

  /** Returns the segment with its key wrapped by the current key. */
  async rewrap(segment: WrappedSegment): Promise<WrappedSegment> {
    const key = await this.unwrap(segment);
    return key === undefined ? segment : { ...segment, ...(await this.#wrap(key)) };
  }

  async #wrap(key: Uint8Array): Promise<{ readonly keyId: string; readonly wrapped: string }> {
    const { keyId, wrapped } = await this.#asked('(current)', () =>
      this.#provider.wrap(this.#tenant, key),
    );
    return { keyId, wrapped: Buffer.from(wrapped).toString('base64') };
  }

  /**
   * Calls the provider. Its errors may hold secrets, so they become at most the cause of an error.
   */
  async #asked<Answer>(keyId: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      if (isAdjutantError(error)) throw error;
      const reason = `its key provider failed at the key "${keyId}" of tenant "${this.#tenant}"`;
      throw new StoreUnavailableError({ store: 'encrypted', reason }, { cause: error });
    }
  }
}
