import type { LedgerStore } from '../../../../ledger/port.ts';
import { codeOf, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const day = 86_400_000;

async function putText(ledgers: LedgerStore, text: string): Promise<string> {
  return ledgers.putBlob(new TextEncoder().encode(text));
}

/** Promise of `sweepBlobs`: it removes old blobs that no living session refers to. */
export function sweepingContract(suite: Suite): void {
  ageContract(suite);
  deletedBlobsContract(suite);
  sharedBlobsContract(suite);
  missingBlobsContract(suite);
  readingBlobsContract(suite);
  addressContract(suite);
}

function ageContract({ describe, expect, test }: Suite): void {
  describe('a sweep of blobs', () => {
    test('removes those that nothing refers to and that were put more than a day ago', async ({
      store,
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      const [used, touched, old] = [
        await putText(ledgers, 'used'),
        await putText(ledgers, 'touched'),
        await putText(ledgers, 'old'),
      ];
      await writer.write(['a'], { blobs: [used] });
      advance(day);
      expect(await store.admin.sweepBlobs()).toBe(0);
      await putText(ledgers, 'touched');
      const young = await putText(ledgers, 'young');
      advance(1);
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(old))).toBe('blob_missing');
      for (const address of [used, touched, young])
        expect(await codeOf(ledgers.getBlob(address))).toBe('resolved');
      expect(await codeOf(writer.write(['b'], { blobs: [old] }))).toBe('blob_missing');
      expect(await putText(ledgers, 'old')).toBe(old);
      await writer.write(['b'], { blobs: [old] });
    });

    test('may be asked for another age', async ({ store, ledgers, advance }) => {
      const old = await putText(ledgers, 'old');
      advance(1_000);
      const young = await putText(ledgers, 'young');
      advance(1_000);
      expect(await store.admin.sweepBlobs({ olderThanMs: 1_500 })).toBe(1);
      expect(await codeOf(ledgers.getBlob(old))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(young))).toBe('resolved');
      for (const olderThanMs of [-1, Number.NaN])
        expect(await codeOf(store.admin.sweepBlobs({ olderThanMs }))).toBe('RangeError');
    });

    test('removes any number, of all tenants and apps', async ({ store, ledgers, advance }) => {
      const foreign = store.for({ tenant: 'other', app: 'shop' });
      const writer = await Writer.claim(foreign, 's');
      await writer.write(['a'], { blobs: [await putText(foreign, 'kept')] });
      for (let i = 0; i < 150; i++) {
        await putText(ledgers, `blob ${i}`);
        await putText(foreign, `blob ${i}`);
      }
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(300);
      expect(await store.admin.sweepBlobs()).toBe(0);
      expect(await codeOf(foreign.getBlob(await putText(foreign, 'kept')))).toBe('resolved');
    });
  });
}

function deletedBlobsContract({ describe, expect, test }: Suite): void {
  describe('a blob', () => {
    test('goes with its session, unless another session refers to it', async ({
      store,
      ledgers,
    }) => {
      const [mine, ours] = [await putText(ledgers, 'mine'), await putText(ledgers, 'ours')];
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [mine, ours] });
      await (await Writer.claim(ledgers, 't')).write(['b'], { blobs: [ours] });
      await ledgers.delete('s');
      expect(await codeOf(ledgers.getBlob(mine))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(ours))).toBe('resolved');
      await ledgers.delete('t');
      expect(await codeOf(ledgers.getBlob(ours))).toBe('blob_missing');
      expect(await store.admin.sweepBlobs({ olderThanMs: 0 })).toBe(0);
    });

    test('goes with its session, however many there are', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const addresses: string[] = [];
      for (let i = 0; i < 150; i++) addresses.push(await putText(ledgers, `blob ${i}`));
      await writer.write(['a'], { blobs: addresses });
      await ledgers.delete('s');
      for (const address of addresses)
        expect(await codeOf(ledgers.getBlob(address))).toBe('blob_missing');
    });

    test('that came without events goes too, also when a fork lives that shares nothing', async ({
      ledgers,
    }) => {
      const address = await putText(ledgers, 'x');
      await (await Writer.claim(ledgers, 's')).write([], { blobs: [address] });
      await ledgers.fork('s', 0, 'f');
      await ledgers.delete('s');
      expect(await codeOf(ledgers.getBlob(address))).toBe('blob_missing');
    });

    test('stays where another tenant or app has the same bytes', async ({ store, ledgers }) => {
      const foreign = store.for({ tenant: 'other', app: 'shop' });
      const [mine, theirs] = [
        await putText(ledgers, 'the same'),
        await putText(foreign, 'the same'),
      ];
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [mine] });
      await (await Writer.claim(foreign, 's')).write(['a'], { blobs: [theirs] });
      await ledgers.delete('s');
      expect(await codeOf(ledgers.getBlob(mine))).toBe('blob_missing');
      expect(await codeOf(foreign.getBlob(theirs))).toBe('resolved');
    });
  });
}

function sharedBlobsContract({ describe, expect, test }: Suite): void {
  describe('a blob in a prefix', () => {
    test('stays for as long as a fork shares it', async ({ store, ledgers }) => {
      const [shared, later] = [await putText(ledgers, 'shared'), await putText(ledgers, 'later')];
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { blobs: [shared] });
      await ledgers.fork('s', 1, 'f');
      await writer.write(['b'], { blobs: [later, shared] });
      await (await Writer.claim(ledgers, 'f')).write(['x']);
      await ledgers.fork('f', 2, 'g');
      expect(await store.admin.sweepBlobs({ olderThanMs: 0 })).toBe(0);
      await ledgers.delete('s');
      await ledgers.delete('f');
      expect(await codeOf(ledgers.getBlob(later))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(shared, 'g'))).toBe('resolved');
      await ledgers.delete('g');
      expect(await codeOf(ledgers.getBlob(shared))).toBe('blob_missing');
    });

    test('stays up to the highest fork that lives', async ({ ledgers }) => {
      const [low, high] = [await putText(ledgers, 'low'), await putText(ledgers, 'high')];
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { blobs: [low] });
      await writer.write(['b'], { blobs: [high] });
      await ledgers.fork('s', 1, 'f');
      await ledgers.fork('s', 2, 'g');
      await ledgers.delete('s');
      expect(await codeOf(ledgers.getBlob(high))).toBe('resolved');
      await ledgers.delete('g');
      expect(await codeOf(ledgers.getBlob(high))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(low))).toBe('resolved');
    });

    test('goes with all forks when the session is erased', async ({ ledgers }) => {
      const [shared, own] = [await putText(ledgers, 'shared'), await putText(ledgers, 'own')];
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [shared] });
      await ledgers.fork('s', 1, 'f');
      await (await Writer.claim(ledgers, 'f')).write(['b'], { blobs: [shared, own] });
      await ledgers.delete('s', { erase: true });
      for (const address of [shared, own])
        expect(await codeOf(ledgers.getBlob(address))).toBe('blob_missing');
    });
  });
}

function missingBlobsContract({ describe, expect, test }: Suite): void {
  describe('a blob that was put again while the session that had it was deleted', () => {
    test(
      'is either there or refused to the append that refers to it, which can be ' + 'made again',
      async ({ ledgers }) => {
        const writer = await Writer.claim(ledgers, 't');
        for (let i = 0; i < 10; i++) {
          const address = await putText(ledgers, 'both have it');
          await (await Writer.claim(ledgers, `s${i}`)).write(['a'], { blobs: [address] });
          const put = putText(ledgers, 'both have it');
          const deleted = ledgers.delete(`s${i}`);
          const [written] = await Promise.all([
            codeOf(put.then(() => writer.write(['b'], { blobs: [address] }))),
            deleted,
          ]);
          if (written !== 'resolved') {
            expect(written).toBe('blob_missing');
            await putText(ledgers, 'both have it');
            await writer.write(['b'], { blobs: [address] });
          }
          expect(await codeOf(ledgers.getBlob(address, 't'))).toBe('resolved');
        }
      },
    );
  });
}

function readingBlobsContract({ describe, expect, test }: Suite): void {
  describe('a blob that is read on behalf of a session', () => {
    test('is missing unless the session refers to it', async ({ ledgers }) => {
      const address = await putText(ledgers, 'bob said');
      await (await Writer.claim(ledgers, 'bob')).write(['a'], { blobs: [address] });
      await (await Writer.claim(ledgers, 'ann')).write(['a']);
      expect(await codeOf(ledgers.getBlob(address, 'bob'))).toBe('resolved');
      for (const session of ['ann', 'nobody'])
        expect(await codeOf(ledgers.getBlob(address, session))).toBe('blob_missing');
      await (await Writer.claim(ledgers, 'ann')).write(['b'], { blobs: [address] });
      expect(await codeOf(ledgers.getBlob(address, 'ann'))).toBe('resolved');
    });

    test('is there for a fork if it shares the reference', async ({ ledgers }) => {
      const [low, high] = [await putText(ledgers, 'low'), await putText(ledgers, 'high')];
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { blobs: [low] });
      await ledgers.fork('s', 1, 'f');
      await writer.write(['b'], { blobs: [high] });
      await ledgers.fork('f', 1, 'g');
      for (const session of ['f', 'g']) {
        expect(await codeOf(ledgers.getBlob(low, session))).toBe('resolved');
        expect(await codeOf(ledgers.getBlob(high, session))).toBe('blob_missing');
      }
    });
  });
}

function addressContract({ describe, expect, test }: Suite): void {
  describe('the secret of addresses', () => {
    test('is always the same for one tenant and app, and another one for others', async ({
      store,
      ledgers,
    }) => {
      const key = await ledgers.addressKey?.();
      if (key === undefined) return;
      const others = [
        store.for({ tenant: 'other', app: 'shop' }),
        store.for({ tenant: 'acme', app: 'other' }),
      ];
      for (const other of others)
        expect(Buffer.from((await other.addressKey?.()) ?? '').equals(key)).toBe(false);
      expect(
        Buffer.from((await store.for({ tenant: 'acme', app: 'shop' }).addressKey?.()) ?? '').equals(
          key,
        ),
      ).toBe(true);
      expect(key.length >= 32).toBe(true);
    });
  });
}
