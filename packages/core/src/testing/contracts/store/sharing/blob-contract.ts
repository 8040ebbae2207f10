import { blobAddress } from '../../../../ledger/blobs/blob-address.ts';
import { codeOf, errorOf, inboxItem, readTexts, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const bytes = new TextEncoder().encode('a large value');

/** Promise of blobs: bytes are kept under an address, and events refer only to kept ones. */
export function blobContract(suite: Suite): void {
  contentContract(suite);
  referenceContract(suite);
}

function contentContract({ describe, expect, test }: Suite): void {
  describe('blobs', () => {
    test('come back byte for byte, under an address that depends on them', async ({ ledgers }) => {
      const address = await ledgers.putBlob(bytes);
      expect(await ledgers.putBlob(bytes.slice())).toBe(address);
      const other = await ledgers.putBlob(Uint8Array.of(0, 255, 1));
      expect(other).not.toBe(address);
      expect(new Uint8Array(await ledgers.getBlob(address))).toEqual(bytes);
      expect(new Uint8Array(await ledgers.getBlob(other))).toEqual(Uint8Array.of(0, 255, 1));
      expect((await ledgers.getBlob(await ledgers.putBlob(new Uint8Array()))).length).toBe(0);
    });

    test('are kept under the address that is given', async ({ ledgers }) => {
      const address = 'ab'.repeat(32);
      expect(await ledgers.putBlob(bytes, address)).toBe(address);
      expect(await ledgers.putBlob(Uint8Array.of(1), address)).toBe(address);
      expect(new Uint8Array(await ledgers.getBlob(address))).toEqual(bytes);
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [address] });
      const computed = blobAddress(
        { tenant: 'acme', app: 'shop' },
        bytes,
        await ledgers.addressKey?.(),
      );
      expect(await codeOf(ledgers.getBlob(computed))).toBe('blob_missing');
    });

    test('do not change when the bytes that were given or got change', async ({ ledgers }) => {
      const mine = bytes.slice();
      const address = await ledgers.putBlob(mine);
      mine.fill(0);
      (await ledgers.getBlob(address)).fill(0);
      expect(new Uint8Array(await ledgers.getBlob(address))).toEqual(bytes);
    });
  });
}

function referenceContract({ describe, expect, test }: Suite): void {
  describe('blobs', () => {
    test(
      'can be referred to by an append, also one that is sent before the blob was ' + 'confirmed',
      async ({ ledgers }) => {
        const writer = await Writer.claim(ledgers, 's');
        const address = await ledgers.putBlob(bytes);
        await writer.write(['a'], { blobs: [address, address] });
        const big = new Uint8Array(100_000).fill(7);
        const known = blobAddress(
          { tenant: 'acme', app: 'shop' },
          big,
          await ledgers.addressKey?.(),
        );
        const put = ledgers.putBlob(big, known);
        await writer.write(['b'], { blobs: [known] });
        expect(await put).toBe(known);
        expect(await ledgers.putBlob(big)).toBe(known);
        expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
      },
    );

    test('that are unknown make the append fail, and nothing of it is written', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      await ledgers.post('s', inboxItem('k'));
      const shared = [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }];
      const error = await errorOf(
        writer.write(['a'], { blobs: ['f'.repeat(64)], consumes: [1], shared }),
      );
      expect(error).toMatchObject({ code: 'blob_missing', data: { address: 'f'.repeat(64) } });
      expect(await readTexts(ledgers, 's')).toEqual([]);
      expect(await ledgers.inbox('s')).toHaveLength(1);
      expect(await ledgers.readShared('user', '1')).toEqual({});
      expect(await codeOf(ledgers.getBlob('f'.repeat(64)))).toBe('blob_missing');
      expect((await writer.write(['b'])).seq).toBe(1);
    });
  });
}
