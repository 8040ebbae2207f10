import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemHost } from '../../src/base/host.ts';
import { systemIds } from '../../src/base/id.ts';
import { StateConflictError, StoreUnavailableError } from '../../src/ledger/errors.ts';
import type { Event, EventDraft } from '../../src/ledger/event.ts';
import { Ledger, type LedgerPorts } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Batch, Head, LedgerStore, Store } from '../../src/ledger/port.ts';
import { memoryStore } from '../../src/stores/memory.ts';

const scope = { tenant: 'acme', app: 'shop' };

/** A store whose methods can be replaced one by one. */
function wrap(store: LedgerStore, replaced: Partial<LedgerStore>): LedgerStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method =
        (replaced as Record<PropertyKey, unknown>)[name] ??
        (target as unknown as Record<PropertyKey, unknown>)[name];
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

function portsOf(store: LedgerStore, owner = 'me'): LedgerPorts {
  return {
    store,
    scope,
    clock: systemClock,
    ids: systemIds,
    host: systemHost,
    owner,
    leaseMs: 30_000,
  };
}

/** A ledger on a store that notes the batches it is given. */
function noted(store: Store = memoryStore()): { ledgers: LedgerStore; batches: Batch[] } {
  const batches: Batch[] = [];
  const inner = store.for(scope);
  const ledgers = wrap(inner, {
    append: (session: string, expected: Head, batch: Batch) => {
      batches.push(batch);
      return inner.append(session, expected, batch);
    },
  });
  return { ledgers, batches };
}

const note = (text: string): EventDraft => ({ type: 'user', by: 'user', text });

async function stored(store: LedgerStore, session = 's'): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of store.read(session)) events.push(...page);
  return events;
}

describe('writing', () => {
  test('an event is folded at once and handed out when it is durable', async () => {
    const { ledgers } = noted();
    const ledger = new Ledger('s', portsOf(ledgers), []);
    const drafts: number[] = [];
    const durable: number[] = [];
    ledger.onDraft(({ seq }) => drafts.push(seq));
    ledger.onDurable((events) => durable.push(...events.map(({ seq }) => seq)));
    ledger.append([note('one'), note('two')]);
    expect([ledger.lastSeq, ledger.durableSeq, drafts, durable]).toEqual([2, 0, [1, 2], []]);
    await ledger.durable();
    expect([ledger.durableSeq, durable]).toEqual([2, [1, 2]]);
    expect(await stored(ledgers)).toEqual(ledger.events);
    expect(Object.isFrozen(ledger.events[0])).toBe(true);
  });

  test('what is appended in one turn is one batch, whoever waits', async () => {
    const { ledgers, batches } = noted();
    const ledger = new Ledger('s', portsOf(ledgers), []);
    ledger.append([note('one')]);
    const first = ledger.durable();
    ledger.append([note('two')]);
    await Promise.all([first, ledger.durable()]);
    expect(batches.map(({ events }) => events.length)).toEqual([2]);
    expect(ledger.durable()).toBeUndefined();
  });

  test(
    'nobody waits, and it is written all the same, with what came within ' + 'the moment',
    async () => {
      const { ledgers, batches } = noted();
      const ledger = new Ledger('s', portsOf(ledgers), []);
      const landed = new Promise<void>((resolve) => ledger.onDurable(() => resolve()));
      ledger.append([note('one')]);
      await Promise.resolve();
      ledger.append([note('two')]);
      await landed;
      expect(batches.map(({ events }) => events.length)).toEqual([2]);
    },
  );

  test(
    'batches are written strictly in order: what comes meanwhile waits and ' + 'goes together',
    async () => {
      const store = memoryStore().for(scope);
      const gate = Promise.withResolvers<void>();
      const batches: number[] = [];
      let open = 0;
      const ledgers = wrap(store, {
        append: async (session: string, expected: Head, batch: Batch) => {
          expect(++open).toBe(1);
          batches.push(batch.events.length);
          await gate.promise;
          open--;
          return store.append(session, expected, batch);
        },
      });
      const ledger = new Ledger('s', portsOf(ledgers), []);
      ledger.append([note('one')]);
      const first = ledger.durable();
      await ledger.lease.own();
      ledger.append([note('two')]);
      const second = ledger.durable();
      ledger.append([note('three')]);
      gate.resolve();
      await Promise.all([first, second, ledger.durable()]);
      expect(batches.reduce((sum, count) => sum + count, 0)).toBe(3);
      expect((await stored(store)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    },
  );

  test(
    'an append that landed without an answer is sent again, and nothing is ' + 'doubled',
    async () => {
      const store = memoryStore().for(scope);
      const sent: (readonly string[])[] = [];
      const ledgers = wrap(store, {
        append: async (session: string, expected: Head, batch: Batch) => {
          sent.push(batch.events.map(({ id }) => id));
          const receipt = await store.append(session, expected, batch);
          if (sent.length === 1) throw new Error('the connection was lost during COMMIT');
          if (sent.length === 2)
            throw new StoreUnavailableError({
              store: 's',
              reason: 'no answer',
              undetermined: true,
            } as never);
          return receipt;
        },
      });
      const ledger = new Ledger('s', portsOf(ledgers), []);
      ledger.append([note('one'), note('two')]);
      await ledger.durable();
      ledger.append([note('three')]);
      await ledger.durable();
      expect(sent[1]).toEqual(sent[0]);
      expect(sent[2]).toEqual(sent[0]);
      expect((await stored(store)).map((event) => event.type === 'user' && event.text)).toEqual([
        'one',
        'two',
        'three',
      ]);
    },
  );

  test('a fenced writer fails all who wait, and appends nothing more', async () => {
    const store = memoryStore().for(scope);
    const ledger = new Ledger('s', portsOf(store), []);
    ledger.append([note('one')]);
    await ledger.durable();
    await store.claim('s', 'another', { ttlMs: 30_000, force: true });
    const failures: unknown[] = [];
    ledger.onFailure((error) => failures.push(error));
    ledger.append([note('two')]);
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'ledger_conflict' });
    expect(() => ledger.append([note('three')])).toThrow(
      expect.objectContaining({ code: 'ledger_conflict' }),
    );
    await expect(ledger.durable()).rejects.toMatchObject({ code: 'ledger_conflict' });
    expect(failures).toHaveLength(1);
    expect((await stored(store)).map(({ seq }) => seq)).toEqual([1]);
  });

  test(
    'a claim is refused while another owner lives, and a ledger that has moved on is ' +
      'not written to',
    async () => {
      const store = memoryStore().for(scope);
      const first = new Ledger('s', portsOf(store, 'first'), []);
      const stale = new Ledger('s', portsOf(store, 'second'), []);
      first.append([note('one')]);
      await first.durable();
      stale.append([note('other')]);
      await expect(stale.durable()).rejects.toMatchObject({
        code: 'session_busy',
        data: { owner: 'first' },
      });
      await first.release();
      const late = new Ledger('s', portsOf(store, 'third'), []);
      late.append([note('other')]);
      await expect(late.durable()).rejects.toMatchObject({ code: 'ledger_conflict' });
      expect(await stored(store)).toHaveLength(1);
    },
  );

  test('two who ask for the ownership at once do not fence each other', async () => {
    const store = memoryStore().for(scope);
    let claims = 0;
    const ledgers = wrap(store, {
      claim: async (session, owner, options) => {
        claims++;
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        return store.claim(session, owner, options);
      },
    });
    const ledger = new Ledger('s', portsOf(ledgers), []);
    ledger.append([note('one')]);
    const durable = ledger.durable();
    await Promise.resolve();
    const [, claim] = await Promise.all([durable, ledger.lease.own(), ledger.lease.own()]);
    expect(claims).toBe(1);
    expect(claim.epoch).toBe(1);
    expect(await stored(store)).toHaveLength(1);
  });

  test('the lease lives from before each confirmed claim, append and renewal, by monotonic time', async () => {
    const store = memoryStore().for(scope);
    const time = { now: 0 };
    const clock = { ...systemClock, monotonic: () => time.now };
    let takes = 0;
    const slow = <Arguments extends unknown[], Answer>(
      method: (...given: Arguments) => Promise<Answer>,
    ) => {
      return async (...given: Arguments): Promise<Answer> => {
        const answer = await method(...given);
        time.now += takes;
        return answer;
      };
    };
    const ledgers = wrap(store, {
      claim: slow(store.claim.bind(store)),
      append: slow(store.append.bind(store)),
      renew: slow(store.renew.bind(store)),
    });
    const ledger = new Ledger('s', { ...portsOf(ledgers), clock, leaseMs: 1_000 }, []);
    expect(ledger.lease.isLive()).toBe(false);
    takes = 400;
    await ledger.lease.own();
    time.now = 999;
    expect(ledger.lease.isLive()).toBe(true);
    time.now = 1_000;
    expect(ledger.lease.isLive()).toBe(false);
    await ledger.lease.renew();
    time.now = 1_999;
    expect(ledger.lease.isLive()).toBe(true);
    ledger.append([note('one')]);
    await ledger.durable();
    time.now = 2_998;
    expect(ledger.lease.isLive()).toBe(true);
    time.now = 2_999;
    expect(ledger.lease.isLive()).toBe(false);
    takes = 0;
    await ledger.lease.renew();
    await ledger.release();
    expect(ledger.lease.isLive()).toBe(false);
  });

  test('a lease that another owner has taken is not renewed, and the ledger is lost', async () => {
    const store = memoryStore().for(scope);
    const ledger = new Ledger('s', portsOf(store), []);
    await ledger.lease.own();
    await store.claim('s', 'another', { ttlMs: 30_000, force: true });
    await expect(ledger.lease.renew()).rejects.toMatchObject({ code: 'ledger_conflict' });
    expect(ledger.failure?.error).toMatchObject({ code: 'ledger_conflict' });
    expect(ledger.lease.isLive()).toBe(false);
  });

  test(
    'a store that cannot be reached does not renew the lease, and the ledger is not lost by ' +
      'that alone',
    async () => {
      const store = memoryStore().for(scope);
      const unavailable = new StoreUnavailableError({ store: 's', reason: 'it is locked' });
      const ledger = new Ledger(
        's',
        portsOf(wrap(store, { renew: () => Promise.reject(unavailable) })),
        [],
      );
      await ledger.lease.own();
      await expect(ledger.lease.renew()).rejects.toBe(unavailable);
      expect(ledger.failure).toBeUndefined();
      expect(ledger.lease.isLive()).toBe(true);
    },
  );

  test('a shared value that was changed elsewhere refuses the write', async () => {
    const store = memoryStore().for(scope);
    const ledger = new Ledger('s', portsOf(store), []);
    const write = (baseVersion: number) => ({
      shared: [
        {
          write: { scope: 'user', scopeId: 'u', key: 'k', value: 1, baseVersion },
          replaced: () => undefined,
        },
      ],
    });
    ledger.append([note('one')], write(0));
    await ledger.durable();
    ledger.append([note('two')], write(0));
    await expect(ledger.durable()).rejects.toBeInstanceOf(StateConflictError);
  });

  test('`at` never runs backwards', () => {
    let now = 1_000;
    const ledger = new Ledger(
      's',
      { ...portsOf(memoryStore().for(scope)), clock: { ...systemClock, now: () => now } },
      [],
    );
    ledger.append([note('one')]);
    now = 500;
    ledger.append([note('two')]);
    now = 2_000;
    ledger.append([note('three')]);
    expect(ledger.events.map(({ at }) => at)).toEqual([1_000, 1_000, 2_000]);
  });

  test(
    'a large value goes to the blob store; the event holds a reference, and a reader gets ' +
      'the value back',
    async () => {
      const store = memoryStore().for(scope);
      const ledger = new Ledger('s', portsOf(store), []);
      const text = 'ä'.repeat(70_000);
      ledger.append([note(text)]);
      expect(JSON.stringify(ledger.events[0]).length).toBeLessThan(2_000);
      await ledger.durable();
      const again = await openLedger('s', portsOf(store));
      const [event] = again.events;
      expect(event?.type === 'user' && again.resolve(event.text)).toBe(text);
    },
  );
});
