import type { Batch, InboxItem, LedgerStore, Store, StoreAdmin } from '../../ledger/port.ts';
import type { Suite } from './harness.ts';
import { codeOf, inboxItem, notes, pendingRequest, ttl } from './harness.ts';

/** What a store may leave out. The rest, head, events, ownership, inbox and following, is what every store has. */
export type StorePart = 'shared scopes' | 'forks' | 'blobs' | 'requests' | 'due' | 'snapshots' | 'deletion' | 'listing';

export const storeParts: readonly StorePart[] = ['shared scopes', 'forks', 'blobs', 'requests', 'due', 'snapshots', 'deletion', 'listing'];

/** Parts that a store leaves out, each with the reason. */
export type LeftOut = Readonly<Partial<Record<StorePart, string>>>;

const methods: Readonly<Record<string, StorePart>> = {
  readShared: 'shared scopes',
  fork: 'forks',
  putBlob: 'blobs',
  getBlob: 'blobs',
  sweepBlobs: 'blobs',
  requests: 'requests',
  settle: 'requests',
  due: 'due',
  putSnapshot: 'snapshots',
  getSnapshot: 'snapshots',
  delete: 'deletion',
  list: 'listing',
};

/** A store that notes when a test comes to a part that is left out. */
export class PartWatch {
  readonly #leftOut: LeftOut;
  /** The first part that was come to. */
  touched: StorePart | undefined;

  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  over(store: Store): Store {
    if (Object.keys(this.#leftOut).length === 0) return store;
    return {
      description: store.description,
      admin: this.#watched<StoreAdmin>(store.admin),
      for: (scope) => this.#watched<LedgerStore>(store.for(scope)),
      close: () => store.close(),
    };
  }

  #watched<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          for (const part of partsOf(String(name), args)) if (this.#leftOut[part] !== undefined) this.touched ??= part;
          return Reflect.apply(method, target, args) as unknown;
        };
      },
    });
  }
}

function partsOf(name: string, args: readonly unknown[]): readonly StorePart[] {
  const method = methods[name];
  if (method !== undefined) return [method];
  if (name === 'post') return (args[1] as InboxItem).settles === undefined ? [] : ['requests'];
  if (name !== 'append') return [];
  const { shared = [], blobs = [], requests = [], settles = [] } = args[2] as Batch;
  const parts: StorePart[] = [];
  if (shared.length > 0) parts.push('shared scopes');
  if (blobs.length > 0) parts.push('blobs');
  if (requests.length + settles.length > 0) parts.push('requests');
  return parts;
}

/** What is left out is refused and not ignored: what an app loses so is lost without a word. */
export function leftOutContract({ describe, expect, unwatched }: Suite, leftOut: LeftOut): void {
  const refused = 'not_supported';
  const checks: Readonly<Record<StorePart, (ledgers: LedgerStore, store: Store) => Promise<void>>> = {
    'shared scopes': async (ledgers) => {
      const shared = [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }];
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), shared }))).toBe(refused);
      expect(await codeOf(ledgers.readShared('user', '1'))).toBe(refused);
    },
    forks: async (ledgers) => expect(await codeOf(ledgers.fork('s', 0, 'fork'))).toBe(refused),
    blobs: async (ledgers) => {
      expect(await codeOf(ledgers.putBlob(new Uint8Array([1])))).toBe(refused);
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), blobs: ['none'] }))).toBe(refused);
    },
    requests: async (ledgers) => {
      const requests = [pendingRequest('s', 'q')];
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']), requests }))).toBe(refused);
      expect(await codeOf(ledgers.post('s', { ...inboxItem('k'), settles: 'q' }))).toBe(refused);
      expect(await codeOf(ledgers.requests())).toBe(refused);
      expect(await codeOf(ledgers.settle('s', { requestId: 'q', status: 'cancelled', by: 'runtime' }))).toBe(refused);
    },
    due: async (ledgers, store) => {
      expect(await codeOf(ledgers.due())).toBe(refused);
      expect(await codeOf(store.admin.due())).toBe(refused);
    },
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
        await ledgers.claim('s', 'writer', { ttl });
        await checks[part](ledgers, store);
        expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
      });
    }
  });
}
