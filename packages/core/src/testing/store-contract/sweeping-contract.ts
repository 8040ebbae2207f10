import type { LedgerStore } from '../../ledger/port.ts';
import { codeOf, type Suite, Writer } from './harness.ts';

const day = 86_400_000;

async function putText(ledgers: LedgerStore, text: string): Promise<string> {
  return ledgers.putBlob(new TextEncoder().encode(text));
}

export function sweepingContract(suite: Suite): void {
  ageContract(suite);
  referenceContract(suite);
  remainderContract(suite);
}

function ageContract({ describe, expect, test }: Suite): void {
  describe('a sweep of blobs', () => {
    test('removes those that nothing refers to and that were put more than a day ago', async ({ store, ledgers, advance }) => {
      const writer = await Writer.claim(ledgers, 's');
      const [used, touched, old] = [await putText(ledgers, 'used'), await putText(ledgers, 'touched'), await putText(ledgers, 'old')];
      await writer.write(['a'], { blobs: [used] });
      advance(day);
      expect(await store.admin.sweepBlobs()).toBe(0);
      await putText(ledgers, 'touched');
      const young = await putText(ledgers, 'young');
      advance(1);
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(old))).toBe('blob_missing');
      for (const address of [used, touched, young]) expect(await codeOf(ledgers.getBlob(address))).toBe('resolved');
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
      for (const olderThanMs of [-1, Number.NaN]) expect(await codeOf(store.admin.sweepBlobs({ olderThanMs }))).toBe('RangeError');
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

function referenceContract({ describe, expect, test }: Suite): void {
  describe('a reference to a blob', () => {
    test('goes with its session, unless another session has one', async ({ store, ledgers, advance }) => {
      const [mine, ours] = [await putText(ledgers, 'mine'), await putText(ledgers, 'ours')];
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [mine, ours] });
      await (await Writer.claim(ledgers, 't')).write(['b'], { blobs: [ours] });
      await ledgers.delete('s');
      expect(await store.admin.sweepBlobs()).toBe(0);
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(mine))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(ours))).toBe('resolved');
    });

    test('in a prefix counts for as long as a fork shares it', async ({ store, ledgers, advance }) => {
      const [shared, later] = [await putText(ledgers, 'shared'), await putText(ledgers, 'later')];
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { blobs: [shared] });
      await ledgers.fork('s', 1, 'f');
      await writer.write(['b'], { blobs: [later, shared] });
      await (await Writer.claim(ledgers, 'f')).write(['x']);
      await ledgers.fork('f', 2, 'g');
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(0);
      await ledgers.delete('s');
      await ledgers.delete('f');
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(later))).toBe('blob_missing');
      expect(await codeOf(ledgers.getBlob(shared))).toBe('resolved');
      await ledgers.delete('g');
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(shared))).toBe('blob_missing');
    });
  });
}

function remainderContract({ describe, expect, test }: Suite): void {
  describe('a reference to a blob', () => {
    test('in a prefix counts up to the highest fork that lives', async ({ store, ledgers, advance }) => {
      const [low, high] = [await putText(ledgers, 'low'), await putText(ledgers, 'high')];
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { blobs: [low] });
      await writer.write(['b'], { blobs: [high] });
      await ledgers.fork('s', 1, 'f');
      await ledgers.fork('s', 2, 'g');
      await ledgers.delete('s');
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(0);
      await ledgers.delete('g');
      expect(await store.admin.sweepBlobs()).toBe(1);
      expect(await codeOf(ledgers.getBlob(low))).toBe('resolved');
    });

    test('that came without events goes too, also when a fork lives that shares nothing', async ({ store, ledgers, advance }) => {
      await (await Writer.claim(ledgers, 's')).write([], { blobs: [await putText(ledgers, 'x')] });
      await ledgers.fork('s', 0, 'f');
      await ledgers.delete('s');
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(1);
    });

    test('goes with all forks when the session is erased', async ({ store, ledgers, advance }) => {
      const address = await putText(ledgers, 'shared');
      await (await Writer.claim(ledgers, 's')).write(['a'], { blobs: [address] });
      await ledgers.fork('s', 1, 'f');
      await (await Writer.claim(ledgers, 'f')).write(['b'], { blobs: [address] });
      await ledgers.delete('s', { erase: true });
      advance(day + 1);
      expect(await store.admin.sweepBlobs()).toBe(1);
    });
  });
}
