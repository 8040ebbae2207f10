import { blobAddress } from '../../../ledger/blobs/blob-address.ts';
import {
  codeOf,
  errorOf,
  inboxItem,
  notes,
  readAll,
  readTexts,
  type Suite,
  ttl,
  Writer,
} from './harness.ts';

export function forkContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork', () => {
    test('shares the prefix and nothing that comes later, in both directions', async ({
      ledgers,
    }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a', 'b', 'c']);
      await ledgers.fork('s', 2, 'fork');
      const fork = await Writer.claim(ledgers, 'fork');
      expect(fork.claim).toMatchObject({ epoch: 1, seq: 2, inboxSeq: 0 });
      await fork.write(['x', 'y']);
      await origin.write(['d']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c', 'd']);
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'x', 'y']);
      expect(await readTexts(ledgers, 'fork', { after: 1, upTo: 3 })).toEqual(['b', 'x']);
    });

    test('can be forked again, before and after its own beginning', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b', 'c']);
      await ledgers.fork('s', 2, 'f1');
      await (await Writer.claim(ledgers, 'f1')).write(['x', 'y']);
      await ledgers.fork('f1', 3, 'f2');
      await (await Writer.claim(ledgers, 'f2')).write(['p', 'q']);
      await ledgers.fork('f2', 1, 'f3');
      await (await Writer.claim(ledgers, 'f3')).write(['z']);
      await ledgers.fork('f2', 4, 'f4');
      expect(await readTexts(ledgers, 'f2')).toEqual(['a', 'b', 'x', 'p', 'q']);
      expect(await readTexts(ledgers, 'f3')).toEqual(['a', 'z']);
      expect(await readTexts(ledgers, 'f4')).toEqual(['a', 'b', 'x', 'p']);
      for (let after = 0; after < 5; after++) {
        expect(await readTexts(ledgers, 'f2', { after })).toEqual(
          ['a', 'b', 'x', 'p', 'q'].slice(after),
        );
      }
    });
  });
  forkEdgeContract(suite);
  forkFirstContract(suite);
}

function forkEdgeContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork at the edges', () => {
    test('works at both ends of the ledger', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 0, 'empty');
      await ledgers.fork('s', 2, 'whole');
      expect(await ledgers.head('empty')).toEqual({ seq: 0, epoch: 0, inboxSeq: 0 });
      expect(await readTexts(ledgers, 'empty')).toEqual([]);
      expect(await readTexts(ledgers, 'whole')).toEqual(['a', 'b']);
      await (await Writer.claim(ledgers, 'empty')).write(['x']);
      expect(await readTexts(ledgers, 'empty')).toEqual(['x']);
    });

    test('inherits no lease, no inbox and no keys', async ({ ledgers }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a']);
      await ledgers.post('s', inboxItem('k'));
      await ledgers.fork('s', 1, 'fork');
      expect(await ledgers.inbox('fork')).toEqual([]);
      expect(await ledgers.post('fork', inboxItem('k'))).toMatchObject({
        inboxSeq: 1,
        duplicate: false,
      });
      expect(await ledgers.claim('fork', 'other', { ttl })).toMatchObject({ epoch: 1 });
      expect((await origin.write(['b'])).seq).toBe(2);
    });

    test('refuses what cannot be forked', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      expect(await codeOf(ledgers.fork('unknown', 0, 'f'))).toBe('session_not_found');
      expect(await codeOf(ledgers.fork('s', 1, 's'))).toBe('session_exists');
      for (const atSeq of [3, -1, 0.5, Number.NaN])
        expect(await codeOf(ledgers.fork('s', atSeq, 'f'))).toBe('RangeError');
      expect(await ledgers.head('f')).toBeUndefined();
    });
  });
}

function forkFirstContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork with first events', () => {
    test('has them after the prefix, and nobody has claimed it yet', async ({ ledgers }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a', 'b', 'c']);
      const first = notes(2, ['x', 'y']);
      await ledgers.fork('s', 2, 'fork', first);
      expect(await ledgers.head('fork')).toEqual({ seq: 4, epoch: 0, inboxSeq: 0 });
      expect((await readAll(ledgers, 'fork')).slice(2)).toEqual(first);
      expect((await ledgers.list()).find(({ id }) => id === 'fork')).toMatchObject({
        seq: 4,
        updatedAt: first.at(-1)?.at,
      });
      const fork = await Writer.claim(ledgers, 'fork');
      expect(fork.claim).toMatchObject({ epoch: 1, seq: 4 });
      await fork.write(['z']);
      await origin.write(['d']);
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'x', 'y', 'z']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c', 'd']);
    });

    test('can be forked again, before and after them', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 2, 'f1', notes(2, ['x']));
      await ledgers.fork('f1', 3, 'f2', notes(3, ['y']));
      await ledgers.fork('f1', 2, 'f3', notes(2, ['z']));
      await ledgers.fork('f1', 0, 'f4', notes(0, ['q']));
      expect(await readTexts(ledgers, 'f2')).toEqual(['a', 'b', 'x', 'y']);
      expect(await readTexts(ledgers, 'f3')).toEqual(['a', 'b', 'z']);
      expect(await readTexts(ledgers, 'f4')).toEqual(['q']);
    });

    test('is made whole or not at all', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await (await Writer.claim(ledgers, 't')).write(['c']);
      expect(await codeOf(ledgers.fork('s', 1, 'f', notes(2, ['x'])))).toBe('RangeError');
      expect(await codeOf(ledgers.fork('s', 3, 'f', notes(3, ['x'])))).toBe('RangeError');
      expect(await codeOf(ledgers.fork('unknown', 0, 'f', notes(0, ['x'])))).toBe(
        'session_not_found',
      );
      expect(await ledgers.head('f')).toBeUndefined();
      expect(await codeOf(ledgers.fork('s', 1, 't', notes(1, ['x'])))).toBe('session_exists');
      expect(await readTexts(ledgers, 't')).toEqual(['c']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('goes without a trace when it is deleted, and its prefix stays', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 1, 'fork', notes(1, ['x']));
      await ledgers.delete('fork');
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
      await ledgers.fork('s', 2, 'fork', notes(2, ['y']));
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'y']);
    });
  });
}

export function blobContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  const bytes = new TextEncoder().encode('a large value');
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

const write = (key: string, value: number | undefined, baseVersion: number, scopeId = '1') => ({
  scope: 'user',
  scopeId,
  key,
  value,
  baseVersion,
});

export function sharedContract(suite: Suite): void {
  sharedVersionsContract(suite);
  sharedConflictsContract(suite);
}

function sharedVersionsContract({ describe, expect, test }: Suite): void {
  describe('shared scopes', () => {
    test('keep values with versions that grow', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await ledgers.readShared('user', '1')).toEqual({});
      await writer.write(['a'], {
        shared: [write('n', 1, 0), { ...write('list', 0, 0), value: [1, { a: null }] }],
      });
      await writer.write(['b'], { shared: [write('n', 2, 1)] });
      expect(await ledgers.readShared('user', '1')).toEqual({
        n: { value: 2, version: 2 },
        list: { value: [1, { a: null }], version: 1 },
      });
    });

    test('are apart by scope and id', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], {
        shared: [write('n', 1, 0), write('n', 2, 0, '2'), { ...write('n', 3, 0), scope: 'team' }],
      });
      expect(await ledgers.readShared('user', '2')).toEqual({ n: { value: 2, version: 1 } });
      expect(await ledgers.readShared('team', '1')).toEqual({ n: { value: 3, version: 1 } });
      expect(await ledgers.readShared('team', '2')).toEqual({});
    });

    test('let the writes of a batch follow each other', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], {
        shared: [write('n', 1, 0), write('n', 2, 1), write('n', undefined, 2), write('n', 4, 0)],
      });
      expect(await ledgers.readShared('user', '1')).toEqual({ n: { value: 4, version: 4 } });
      const error = await errorOf(
        writer.write(['b'], { shared: [write('n', 5, 4), write('n', 6, 4)] }),
      );
      expect(error).toMatchObject({ code: 'state_conflict', data: { keys: ['n'] } });
    });

    test('forget a deleted key, whose versions never come back', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { shared: [write('n', 1, 0)] });
      await writer.write(['b'], { shared: [write('n', undefined, 1)] });
      expect(await ledgers.readShared('user', '1')).toEqual({
        n: { value: undefined, version: 2 },
      });
      expect(await codeOf(writer.write(['c'], { shared: [write('n', 9, 1)] }))).toBe(
        'state_conflict',
      );
      await writer.write(['c'], { shared: [write('n', 2, 0)] });
      const version = (await ledgers.readShared('user', '1'))['n']?.version ?? 0;
      expect(version).toBe(3);
      expect(await codeOf(writer.write(['d'], { shared: [write('n', 3, 1)] }))).toBe(
        'state_conflict',
      );
      expect(await codeOf(writer.write(['d'], { shared: [write('n', 3, version)] }))).toBe(
        'resolved',
      );
    });
  });
}

function sharedConflictsContract({ describe, expect, test }: Suite): void {
  describe('shared scopes', () => {
    test(
      'refuse a write that was based on another version, with all keys concerned, and ' +
        'nothing of the batch is written',
      async ({ ledgers }) => {
        const first = await Writer.claim(ledgers, 's');
        const second = await Writer.claim(ledgers, 't');
        await first.write(['a'], { shared: [write('x', 1, 0), write('y', 1, 0)] });
        await ledgers.post('t', inboxItem('k'));
        const batch = {
          shared: [write('x', 5, 0), write('y', 5, 0), write('z', 5, 0)],
          consumes: [1],
        };
        const error = await errorOf(second.write(['b'], batch));
        expect(error).toMatchObject({
          code: 'state_conflict',
          data: { scope: 'user', scopeId: '1', keys: ['x', 'y'] },
        });
        expect(await ledgers.readShared('user', '1')).toEqual({
          x: { value: 1, version: 1 },
          y: { value: 1, version: 1 },
        });
        expect(await readTexts(ledgers, 't')).toEqual([]);
        expect(await ledgers.inbox('t')).toHaveLength(1);
        expect((await second.write(['b'], { shared: [write('x', 5, 1)] })).seq).toBe(1);
      },
    );

    test('of two sessions that write at once, one wins', async ({ ledgers }) => {
      const writers = await Promise.all(
        ['s', 't', 'u'].map((session) => Writer.claim(ledgers, session)),
      );
      const codes = await Promise.all(
        writers.map((writer, i) => codeOf(writer.write(['a'], { shared: [write('n', i, 0)] }))),
      );
      expect(codes.sort()).toEqual(['resolved', 'state_conflict', 'state_conflict']);
    });
  });
}
