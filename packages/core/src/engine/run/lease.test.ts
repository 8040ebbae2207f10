import { expect, test } from 'vitest';
import { testClock } from '../../base/clocks/test-clock.ts';
import { systemHost } from '../../base/host.ts';
import { systemIds } from '../../base/id.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { AppendReceipt, Claim, LedgerStore } from '../../ledger/port.ts';
import { memoryStore } from '../../stores/memory.ts';
import { keepLease } from './lease.ts';

const scope = { tenant: 'acme', app: 'shop' };
const leaseMs = 30_000;
const methods = ['claim', 'append', 'release', 'putBlob', 'head'] as const;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A ledger whose lease is kept, on a store that fails to renew while `isDown` returns true. */
async function kept(isDown: () => boolean) {
  const clock = testClock();
  const store = memoryStore({ clock }).for(scope);
  const renewals: number[] = [];
  const renew = async (claim: Claim): Promise<AppendReceipt> => {
    renewals.push(clock.monotonic());
    if (isDown()) throw new StoreUnavailableError({ store: 'db', reason: 'it is locked' });
    return store.renew(claim);
  };
  const failing: LedgerStore = {
    ...(Object.fromEntries(
      methods.map((name) => [name, (store[name] as () => unknown).bind(store)]),
    ) as unknown as LedgerStore),
    renew,
  };
  const ledger = new Ledger(
    's',
    { store: failing, scope, clock, ids: systemIds, host: systemHost, owner: 'me', leaseMs },
    [],
  );
  await ledger.lease.own();
  const stop = keepLease(ledger, clock);
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      await turn();
    }
  };
  return { store, ledger, renewals, stop, pass };
}

test('the lease is renewed for as long as it is kept', async () => {
  const { ledger, renewals, stop, pass } = await kept(() => false);
  await pass(100);
  expect(ledger.lease.isLive()).toBe(true);
  expect(renewals).toHaveLength(10);
  stop();
  await pass(100);
  expect(renewals).toHaveLength(10);
});

test('a renewal that fails is tried again, and the ledger is not lost', async () => {
  let down = true;
  const { ledger, renewals, pass } = await kept(() => down);
  await pass(15);
  expect(renewals.length).toBeGreaterThan(3);
  expect(ledger.failure).toBeUndefined();
  down = false;
  await pass(60);
  expect(ledger.failure).toBeUndefined();
  expect(ledger.lease.isLive()).toBe(true);
});

test(
  'when the lease is over and the store still fails, ' +
    'the ledger is lost for what the store said',
  async () => {
    const { ledger, renewals, pass } = await kept(() => true);
    await pass(29);
    expect(ledger.failure).toBeUndefined();
    await pass(2);
    expect(ledger.failure?.error).toMatchObject({ code: 'store_unavailable' });
    const tried = renewals.length;
    await pass(60);
    expect(renewals).toHaveLength(tried);
  },
);

test('a lease that another owner has taken is lost at once', async () => {
  const { store, ledger, renewals, pass } = await kept(() => false);
  await store.claim('s', 'another', { ttlMs: leaseMs, force: true });
  await pass(60);
  expect(ledger.failure?.error).toMatchObject({ code: 'ledger_conflict' });
  expect(renewals).toHaveLength(1);
});
