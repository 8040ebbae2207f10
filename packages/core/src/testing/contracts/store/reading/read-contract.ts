import { defined } from '../../../../base/defined.ts';
import type { LedgerStore, ReadRange, StoredEvent } from '../../../../ledger/port.ts';
import {
  codeOf,
  followUntil,
  notes,
  numbered,
  readAll,
  readTexts,
  ttl,
  Writer,
} from '../harness.ts';
import type { Suite } from '../suite.ts';

const many = 4_321;

/** Promise of `read` and `readStored`: all events of a range, in order. */
export function readContract(suite: Suite): void {
  pageContract(suite);
  rangeContract(suite);
  storedContract(suite);
}

function pageContract({ describe, expect, test }: Suite): void {
  describe('read', () => {
    test('gives all events in ascending order, in pages that are not empty', async ({
      ledgers,
    }) => {
      await (await Writer.claim(ledgers, 's')).write(numbered(1, many));
      let seq = 0;
      for await (const page of ledgers.read('s')) {
        expect(page.length).toBeGreaterThan(0);
        for (const event of page) expect(event.seq).toBe(++seq);
      }
      expect(seq).toBe(many);
    });

    test('can be left early', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(numbered(1, many));
      for await (const page of ledgers.read('s')) {
        expect(page[0]?.seq).toBe(1);
        break;
      }
      expect(await ledgers.head('s')).toMatchObject({ seq: many });
    });

    test('of an empty ledger gives nothing, of an unknown one fails', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      expect(await readAll(ledgers, 's')).toEqual([]);
      expect(await codeOf(readAll(ledgers, 'unknown'))).toBe('session_not_found');
    });
  });
}

function rangeContract({ describe, expect, test }: Suite): void {
  describe('read', () => {
    test('gives the stretch that was asked for', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(numbered(1, many));
      for (const [after, upTo] of [
        [0, 1],
        [1, 3],
        [many - 1, many],
        [10, 3_210],
        [many - 2, many + 50],
      ] as const) {
        expect(await readTexts(ledgers, 's', { after, upTo })).toEqual(
          numbered(after + 1, Math.min(upTo, many)),
        );
      }
      expect(await readTexts(ledgers, 's', { after: many - 1 })).toEqual([`n${many}`]);
      for (const range of [
        { after: many },
        { after: many + 5 },
        { after: 3, upTo: 3 },
        { after: 5, upTo: 2 },
        { upTo: 0 },
      ]) {
        expect(await readAll(ledgers, 's', range)).toEqual([]);
      }
    });

    test('keeps the path of events that come after a stretch that was left out', async ({
      ledgers,
    }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const paths = ['run', 'run/a', undefined, 'run', 'run/a', 'run/a/b'];
      const events = paths.map((path, i) => ({
        ...{ v: 1, seq: i + 1, id: `e${i}`, at: 5, type: 'cancel' as const, by: 'user' as const },
        ...defined({ invocationId: path }),
      }));
      await ledgers.append('s', { seq: 0, epoch }, { events });
      for (let after = 0; after < paths.length; after++) {
        expect((await readAll(ledgers, 's', { after })).map((event) => event.invocationId)).toEqual(
          paths.slice(after),
        );
      }
    });
  });
}

function storedContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('readStored', () => {
    test('gives what read gives, also of a part and of a fork', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(numbered(1, 5));
      await ledgers.fork('s', 2, 'fork');
      await (await Writer.claim(ledgers, 'fork')).write(['n9']);
      for (const [session, range] of [
        ['s'],
        ['s', { after: 1, upTo: 3 }],
        ['fork'],
        ['fork', { after: 2 }],
      ] as const) {
        expect(await readStored(ledgers, session, range)).toEqual(
          await readAll(ledgers, session, range),
        );
      }
      expect(await codeOf(readStored(ledgers, 'unknown'))).toBe('session_not_found');
    });

    test('marks an event of a version to come, at which read and follow fail', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      const [first, second, third] = numbered(1, 3);
      await writer.write([first as string]);
      const newer = notes(writer.seq, [second as string]).map((event) => ({ ...event, v: 99 }));
      writer.seq = (await ledgers.append('s', writer.head, { events: newer })).seq;
      await writer.write([third as string]);
      expect(await codeOf(readAll(ledgers, 's'))).toBe('ledger_unreadable');
      expect(await codeOf(followUntil(ledgers, 's', 0, 'n3'))).toBe('ledger_unreadable');
      expect(await readTexts(ledgers, 's', { upTo: 1 })).toEqual(['n1']);
      expect(await readTexts(ledgers, 's', { after: 2 })).toEqual(['n3']);
      const [, marked, ...others] = await readStored(ledgers, 's');
      expect(marked).toMatchObject({
        type: 'unreadable',
        seq: 2,
        stored: { type: 'user', v: 99, text: 'n2' },
      });
      expect(others).toMatchObject([{ type: 'user', seq: 3 }]);
    });
  });
}

async function readStored(
  ledgers: LedgerStore,
  session: string,
  range?: ReadRange,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of ledgers.readStored(session, range)) events.push(...page);
  return events;
}
