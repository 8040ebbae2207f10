import { codeOf, errorOf, inboxItem, readTexts, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const write = (key: string, value: number | undefined, baseVersion: number, scopeId = '1') => ({
  scope: 'user',
  scopeId,
  key,
  value,
  baseVersion,
});

/** Promise of shared scopes: a write succeeds only on the version that it was based on. */
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
