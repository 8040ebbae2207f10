import type { LedgerStore, Store } from '../../../ledger/port.ts';
import { codeOf, inboxItem, notes, pendingRequest, ttl } from './harness.ts';
import type { LeftOut, StorePart } from './left-out.ts';
import type { Suite } from './suite.ts';

const refused = 'not_supported';
const storeParts: readonly StorePart[] = [
  'shared scopes',
  'forks',
  'blobs',
  'requests',
  'due',
  'turns',
  'sends',
  'rows',
  'replacement of rows',
  'snapshots',
  'deletion',
  'listing',
];

/**
 * Checks that a part which is left out is refused and not ignored: an app would lose data without
 * an error.
 */
export function leftOutContract({ describe, expect, unwatched }: Suite, leftOut: LeftOut): void {
  const checks: Readonly<Record<StorePart, (ledgers: LedgerStore, store: Store) => Promise<void>>> =
    {
      'shared scopes': async (ledgers) => {
        const shared = [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }];
        expect(
          await codeOf(
            ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), shared }),
          ),
        ).toBe(refused);
        expect(await codeOf(ledgers.readShared('user', '1'))).toBe(refused);
      },
      forks: async (ledgers) => expect(await codeOf(ledgers.fork('s', 0, 'fork'))).toBe(refused),
      blobs: async (ledgers) => {
        expect(await codeOf(ledgers.putBlob(new Uint8Array([1])))).toBe(refused);
        expect(
          await codeOf(
            ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), blobs: ['none'] }),
          ),
        ).toBe(refused);
      },
      requests: async (ledgers) => {
        const requests = [pendingRequest('s', 'q')];
        expect(
          await codeOf(
            ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), requests }),
          ),
        ).toBe(refused);
        expect(await codeOf(ledgers.post('s', { ...inboxItem('k'), settles: 'q' }))).toBe(refused);
        expect(await codeOf(ledgers.requests())).toBe(refused);
        expect(
          await codeOf(ledgers.settle('s', { requestId: 'q', status: 'cancelled', by: 'runtime' })),
        ).toBe(refused);
      },
      due: async (ledgers, store) => {
        expect(await codeOf(ledgers.due())).toBe(refused);
        expect(await codeOf(store.admin.due())).toBe(refused);
      },
      ...queueChecks(expect),
      // A snapshot only saves time: the runtime folds again what it does not find.
      snapshots: async (ledgers) => {
        await ledgers.putSnapshot('s', { key: 'k', seq: 0, value: 1 });
        expect(await ledgers.getSnapshot('s', 'k', 0)).toBeUndefined();
      },
      deletion: async (ledgers) => expect(await codeOf(ledgers.delete('s'))).toBe(refused),
      listing: async (ledgers) => expect(await codeOf(ledgers.list())).toBe(refused),
    };
  describe('what the store leaves out', () => {
    for (const part of storeParts) {
      const reason = leftOut[part];
      if (reason === undefined) continue;
      const rule = part === 'snapshots' ? 'are never found' : 'refused, and nothing is written';
      unwatched(`${part} (left out: ${reason}): ${rule}`, async ({ ledgers, store }) => {
        await ledgers.claim('s', 'writer', { ttlMs: ttl });
        await checks[part](ledgers, store);
        expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
      });
    }
  });
}

/** Checks of the parts that order sessions and cross them. */
function queueChecks(
  expect: Suite['expect'],
): Pick<
  Readonly<Record<StorePart, (ledgers: LedgerStore, store: Store) => Promise<void>>>,
  'turns' | 'sends' | 'rows' | 'replacement of rows'
> {
  return {
    turns: async (ledgers, store) => {
      expect(await codeOf(ledgers.turn('s'))).toBe(refused);
      expect(await codeOf(ledgers.turns())).toBe(refused);
      expect(await codeOf(ledgers.explainTurn('s', {}))).toBe(refused);
      expect(await codeOf(ledgers.post('s', inboxItem('k'), { turn: {} }))).toBe(refused);
      const asked = { app: 'shop', owner: 'w', ticket: 't', ttlMs: ttl, slots: 1 };
      expect(await codeOf(store.admin.take(asked))).toBe(refused);
    },
    sends: async (ledgers, store) => {
      const sends = [{ to: 't', item: inboxItem('k') }];
      const batch = { events: notes(0, ['a']), sends };
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, batch))).toBe(refused);
      expect(await codeOf(ledgers.sends())).toBe(refused);
      expect(await codeOf(ledgers.post('new', inboxItem('k'), { open: true }))).toBe(refused);
      expect(await codeOf(store.admin.sends({ app: 'shop' }))).toBe(refused);
    },
    rows: async (ledgers) => {
      const row = { kind: 'task', id: '1', status: 'open', at: 1, body: {} };
      const batch = { events: notes(0, ['a']), rows: [row] };
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, batch))).toBe(refused);
      expect(await codeOf(ledgers.rows({ kind: 'task' }))).toBe(refused);
    },
    'replacement of rows': async (_ledgers, store) => {
      const at = { tenant: 'acme', app: 'shop', session: 's' };
      const head = { seq: 0, epoch: 1, inboxSeq: 0 };
      expect(await codeOf(store.admin.replaceRows(at, head, {}))).toBe(refused);
    },
  };
}
