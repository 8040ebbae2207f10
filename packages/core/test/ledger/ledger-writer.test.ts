import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemHost } from '../../src/base/host.ts';
import { systemIds } from '../../src/base/id.ts';
import {
  BlobMissingError,
  StoreTooNewError,
  StoreUnavailableError,
} from '../../src/ledger/errors.ts';
import type { Event, EventDraft } from '../../src/ledger/event.ts';
import { Ledger, type LedgerPorts } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Batch, Head, LedgerStore } from '../../src/ledger/port.ts';
import { memoryStore } from '../../src/stores/memory.ts';

const scope = { tenant: 'acme', app: 'shop' };
const note = (text: string): EventDraft => ({ type: 'user', by: 'user', text });

/** A store in memory of which each append first asks `before`, which may throw. */
function storeWith(before: (sent: number, batch: Batch) => void): {
  store: LedgerStore;
  inner: LedgerStore;
  sent: () => number;
} {
  const inner = memoryStore().for(scope);
  let sent = 0;
  const store: LedgerStore = new Proxy(inner, {
    get: (target, name) => {
      if (name === 'append') {
        return async (session: string, expected: Head, batch: Batch) => {
          before(++sent, batch);
          return inner.append(session, expected, batch);
        };
      }
      const method = (target as unknown as Record<PropertyKey, unknown>)[name];
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
  return { store, inner, sent: () => sent };
}

function portsOf(store: LedgerStore, options: Partial<LedgerPorts> = {}): LedgerPorts {
  return {
    store,
    scope,
    clock: systemClock,
    ids: systemIds,
    host: systemHost,
    owner: 'me',
    leaseMs: 30_000,
    ...options,
  };
}

const unavailable = (reason: string, permanent?: true): StoreUnavailableError =>
  new StoreUnavailableError({
    store: '/data/store.db',
    reason,
    ...(permanent === undefined ? {} : { permanent }),
  });

async function stored(store: LedgerStore): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of store.read('s')) events.push(...page);
  return events;
}

describe('a store that fails for a while', () => {
  test.each([
    'another process has kept it locked for longer than 5 s',
    'the disk is full',
    'reading or writing it failed',
  ])('gets the same batch again, and nothing is lost: %s', async (reason) => {
    const batches: (readonly string[])[] = [];
    const { store, sent } = storeWith((count, batch) => {
      batches.push(batch.events.map(({ id }) => id));
      if (count <= 2) throw unavailable(reason);
    });
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('one')]);
    await ledger.durable();
    expect(sent()).toBe(3);
    expect(batches[1]).toEqual(batches[0]);
    expect(batches[2]).toEqual(batches[0]);
    expect(await stored(store)).toEqual(ledger.events);
  });

  test(
    'is asked a few times even when the lease is over, then the writer fails with what the ' +
      'store said',
    async () => {
      const { store, sent } = storeWith(() => {
        throw unavailable('the disk is full');
      });
      const ledger = new Ledger('s', portsOf(store, { leaseMs: 0 }), []);
      ledger.append([note('one')]);
      await expect(ledger.durable()).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('the disk is full'),
      });
      expect(sent()).toBeGreaterThanOrEqual(3);
      expect(ledger.failure?.error).toMatchObject({ code: 'store_unavailable' });
    },
  );

  test('is asked as long as the lease lives, and no longer', async () => {
    const time = { now: 0 };
    const clock = { ...systemClock, monotonic: () => time.now };
    const { store, sent } = storeWith((count) => {
      if (count === 5) time.now = 1_000;
      throw unavailable('the disk is full');
    });
    const ledger = new Ledger('s', portsOf(store, { clock, leaseMs: 1_000 }), []);
    ledger.append([note('one')]);
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(sent()).toBe(5);
  });

  test.each([
    ['marked as permanent', unavailable('it is a directory, not a file', true)],
    [
      'of a newer version',
      new StoreTooNewError({ store: '/data/store.db', found: 9, supported: 2 }),
    ],
    ['that cannot store the value at all', new TypeError('cannot be stored')],
  ])('is not asked again when that cannot help: one %s', async (_, error) => {
    const { store, sent } = storeWith(() => {
      throw error;
    });
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('one')]);
    await expect(ledger.durable()).rejects.toBe(error);
    expect(sent()).toBe(1);
  });

  test('is not asked again for a claim: nobody wants to wait for that', async () => {
    const inner = memoryStore().for(scope);
    let claims = 0;
    const claim = (): Promise<never> => {
      claims++;
      return Promise.reject(unavailable('another process has kept it locked for longer than 5 s'));
    };
    const ledger = new Ledger('s', portsOf(Object.assign(Object.create(inner), { claim })), []);
    await expect(ledger.lease.own()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(claims).toBe(1);
  });

  test('leaves the session free for others when the writer gives up', async () => {
    const { store, inner } = storeWith(() => {
      throw unavailable('it is read-only for this process', true);
    });
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('one')]);
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await inner.claim('s', 'another', { ttlMs: 1_000 })).toMatchObject({ epoch: 2 });
  });

  test(
    'leaves a session with others who work on it to them: they give it back when their work ' +
      'has ended',
    async () => {
      const { store, inner } = storeWith(() => {
        throw unavailable('it is read-only for this process', true);
      });
      const ledger = new Ledger('s', portsOf(store), []);
      const forget = ledger.onFailure(() => undefined);
      ledger.append([note('one')]);
      await expect(ledger.durable()).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(inner.claim('s', 'another', { ttlMs: 1_000 })).rejects.toMatchObject({
        code: 'session_busy',
      });
      forget();
      await expect(ledger.release()).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await inner.claim('s', 'another', { ttlMs: 1_000 })).toMatchObject({ epoch: 2 });
    },
  );
});

describe('a blob that has gone', () => {
  test('is put again with the batch that refers to it', async () => {
    const addresses: string[] = [];
    const { store, inner, sent } = storeWith((count, batch) => {
      if (count === 1) throw new BlobMissingError({ address: batch.blobs?.[0] ?? '' });
    });
    const putBlob = async (bytes: Uint8Array, address?: string): Promise<string> => {
      // The first put is lost on its way.
      if (sent() === 0) throw unavailable('no answer');
      addresses.push(await inner.putBlob(bytes, address));
      return addresses.at(-1) as string;
    };
    const ledger = new Ledger('s', portsOf(Object.assign(Object.create(store), { putBlob })), []);
    const text = 'x'.repeat(70_000);
    ledger.append([note(text)]);
    await ledger.durable();
    expect(addresses).toHaveLength(1);
    const again = await openLedger('s', portsOf(inner));
    const [event] = again.events;
    expect(event?.type === 'user' && again.resolve(event.text)).toBe(text);
  });

  test('fails the writer when putting it again does not help', async () => {
    const { store, sent } = storeWith((_, batch) => {
      throw new BlobMissingError({ address: batch.blobs?.[0] ?? '' });
    });
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('x'.repeat(70_000))]);
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'blob_missing' });
    expect(sent()).toBeGreaterThan(1);
  });
});

describe('a fenced ledger', () => {
  test('shows nothing that is not durable', async () => {
    const store = memoryStore().for(scope);
    const ledger = new Ledger('s', portsOf(store), []);
    const change = (newValue: number): EventDraft => ({
      type: 'state_change',
      by: 'operator',
      scope: 'session',
      source: 'mutation',
      changes: [{ key: 'count', newValue }],
    });
    const start = (path: string): EventDraft => ({
      type: 'invocation_start',
      by: 'runtime',
      invocationId: path,
      kind: 'step',
      name: path,
      mode: 'root',
    });
    ledger.append([start('first'), change(1)]);
    await ledger.durable();
    const before = { state: ledger.state, paths: [...ledger.invocations.byPath.keys()] };
    await store.claim('s', 'another', { ttlMs: 30_000, force: true });
    const seen: number[] = [];
    ledger.onFailure(() => seen.push(ledger.lastSeq));
    ledger.append([change(2), start('second')]);
    expect(ledger.lastSeq).toBe(4);
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'ledger_conflict' });
    expect(seen).toEqual([2]);
    expect(ledger.events.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(ledger.state).toEqual(before.state);
    expect([...ledger.invocations.byPath.keys()]).toEqual(before.paths);
  });
});

describe('release', () => {
  test('is refused when something was posted that the writer has not seen', async () => {
    const store = memoryStore().for(scope);
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('one')]);
    const claim = await ledger.lease.own();
    await store.post('s', { key: 'k', lane: 'input', by: 'user', at: 1, type: 'wake', data: {} });
    expect(await ledger.release({ inboxSeq: claim.inboxSeq })).toMatchObject({
      released: false,
      inboxSeq: 1,
    });
    expect(ledger.lease.isLive()).toBe(true);
    ledger.append([note('two')]);
    expect(await ledger.release({ inboxSeq: 1 })).toMatchObject({ released: true, inboxSeq: 1 });
    expect(ledger.lease.isLive()).toBe(false);
    expect(await store.claim('s', 'another', { ttlMs: 1_000 })).toMatchObject({ epoch: 2, seq: 2 });
  });

  test('whose answer is lost gives the claim up: another process may have the session', async () => {
    const { store, inner } = storeWith(() => undefined);
    const release: LedgerStore['release'] = async (claim, options) => {
      await inner.release(claim, options);
      throw new StoreUnavailableError({ store: 'memory', reason: 'its answer is lost' });
    };
    const ledger = new Ledger('s', portsOf(Object.assign(Object.create(store), { release })), []);
    ledger.append([note('one')]);
    await ledger.lease.own();
    await expect(ledger.release()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(ledger.lease.isLive()).toBe(false);
    const other = await inner.claim('s', 'another', { ttlMs: 30_000 });
    expect(other).toMatchObject({ epoch: 2, seq: 1 });
    await expect(ledger.lease.own()).rejects.toMatchObject({ code: 'session_busy' });
    await inner.release(other);
    ledger.append([note('two')]);
    await ledger.durable();
    expect(await inner.head('s')).toMatchObject({ epoch: 3, seq: 2 });
  });
});
