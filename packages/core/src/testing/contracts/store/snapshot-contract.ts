import type { JsonValue } from '../../../base/json.ts';
import type { LedgerStore } from '../../../ledger/port.ts';
import { codeOf, Writer } from './harness.ts';
import type { Suite } from './suite.ts';

async function valuesAt(
  ledgers: LedgerStore,
  session: string,
  upTo: readonly number[],
  key = 'fold',
): Promise<readonly unknown[]> {
  const found = await Promise.all(upTo.map((seq) => ledgers.getSnapshot(session, key, seq)));
  return found.map((snapshot) => snapshot?.value);
}

async function put(
  ledgers: LedgerStore,
  session: string,
  seq: number,
  value: JsonValue,
  key = 'fold',
): Promise<void> {
  await ledgers.putSnapshot(session, { key, seq, value });
}

const texts = ['a', 'b', 'c', 'd', 'e', 'f'];

export function snapshotContract(suite: Suite): void {
  findingContract(suite);
  keepingContract(suite);
}

function findingContract({ describe, expect, test }: Suite): void {
  describe('snapshots', () => {
    test('are found by key, the last one that is not too late', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(texts);
      await put(ledgers, 's', 2, 'two');
      await put(ledgers, 's', 5, { five: [null, 'Grüße'] });
      await put(ledgers, 's', 3, 'other', 'other fold');
      expect(await valuesAt(ledgers, 's', [0, 1, 2, 4, 5, 100])).toEqual([
        undefined,
        undefined,
        'two',
        'two',
        { five: [null, 'Grüße'] },
        { five: [null, 'Grüße'] },
      ]);
      expect(await ledgers.getSnapshot('s', 'fold', 4)).toEqual({
        key: 'fold',
        seq: 2,
        value: 'two',
      });
      expect(await valuesAt(ledgers, 's', [6], 'other fold')).toEqual(['other']);
      await put(ledgers, 's', 2, 'again');
      expect(await valuesAt(ledgers, 's', [2])).toEqual(['again']);
    });

    test('of a fork are those of its prefix and its own', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(texts);
      await put(ledgers, 's', 2, 's2');
      await put(ledgers, 's', 5, 's5');
      await ledgers.fork('s', 4, 'f');
      await (await Writer.claim(ledgers, 'f')).write(['x', 'y', 'z']);
      expect(await valuesAt(ledgers, 'f', [1, 7])).toEqual([undefined, 's2']);
      await put(ledgers, 'f', 3, 'f3');
      await put(ledgers, 'f', 6, 'f6');
      await ledgers.fork('f', 5, 'g');
      expect(await valuesAt(ledgers, 'f', [2, 5, 6])).toEqual(['s2', 'f3', 'f6']);
      expect(await valuesAt(ledgers, 's', [4, 6])).toEqual(['s2', 's5']);
      expect(await valuesAt(ledgers, 'g', [2, 9])).toEqual(['s2', 'f3']);
    });
  });
}

function keepingContract({ describe, expect, test }: Suite): void {
  describe('snapshots', () => {
    test('must be of events that are there', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      expect(await codeOf(put(ledgers, 'unknown', 0, 'x'))).toBe('session_not_found');
      for (const seq of [2, -1, 0.5])
        expect(await codeOf(put(ledgers, 's', seq, 'x'))).toBe('RangeError');
      expect(await ledgers.getSnapshot('unknown', 'fold', 1)).toBeUndefined();
    });

    test('do not change when the value that was given changes', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const value = { list: [1] };
      await put(ledgers, 's', 1, value);
      value.list.push(2);
      expect(await valuesAt(ledgers, 's', [1])).toEqual([{ list: [1] }]);
    });

    test('go with their session', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      await put(ledgers, 's', 1, 'x');
      await ledgers.delete('s');
      await (await Writer.claim(ledgers, 's')).write(['b']);
      expect(await valuesAt(ledgers, 's', [1])).toEqual([undefined]);
    });
  });
}
