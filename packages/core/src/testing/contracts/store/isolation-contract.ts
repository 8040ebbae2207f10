import { codeOf, inboxItem, readAll, Writer } from './harness.ts';
import type { Suite } from './suite.ts';

/** Promise of `Store.for`: tenants and apps are apart. */
export function isolationContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  const others = [
    { tenant: 'acme', app: 'other' },
    { tenant: 'other', app: 'shop' },
    { tenant: 'acmes', app: 'hop' },
  ];
  describe('tenants and apps', () => {
    test('see nothing of each other', async ({ store, ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const address = await ledgers.putBlob(Uint8Array.of(1, 2, 3));
      await writer.write(['secret'], {
        blobs: [address],
        shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
      });
      for (const scope of others) {
        const foreign = store.for(scope);
        expect(await foreign.head('s')).toBeUndefined();
        expect(await codeOf(readAll(foreign, 's'))).toBe('session_not_found');
        expect(await codeOf(foreign.post('s', inboxItem('k')))).toBe('session_not_found');
        expect(await codeOf(foreign.fork('s', 1, 'f'))).toBe('session_not_found');
        expect(await codeOf(foreign.getBlob(address))).toBe('blob_missing');
        expect(await foreign.readShared('user', '1')).toEqual({});
        expect(await foreign.list()).toEqual([]);
        expect(await foreign.putBlob(Uint8Array.of(1, 2, 3))).not.toBe(address);
      }
    });

    test('may use the same names', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['mine']);
      for (const scope of others) {
        const foreign = store.for(scope);
        const writer = await Writer.claim(foreign, 's');
        expect(writer.claim).toMatchObject({ epoch: 1, seq: 0 });
        await writer.write(['theirs'], {
          shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
        });
        expect(
          await codeOf(writer.write(['x'], { blobs: [await ledgers.putBlob(Uint8Array.of(9))] })),
        ).toBe('blob_missing');
      }
      expect(await ledgers.head('s')).toMatchObject({ seq: 1, epoch: 1 });
      expect(await ledgers.readShared('user', '1')).toEqual({});
    });

    test('are reached by every object that was asked for them', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      expect(await store.for({ tenant: 'acme', app: 'shop' }).head('s')).toMatchObject({ seq: 1 });
    });
  });
}
