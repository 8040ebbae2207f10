import { type Clock, systemClock } from '../base/clock.ts';
import { StoreUnavailableError } from '../ledger/errors.ts';
import type { PendingSend, SendFilter, Store } from '../ledger/port.ts';
import { checkBlobAge, checkLimit } from './batch.ts';
import { longestDue } from './memory/due.ts';
import { MemoryLedgerStore } from './memory/ledger-store.ts';
import { MemoryRegistry } from './memory/registry.ts';
import { MemoryTurns } from './memory/turns.ts';
import { OwnerSurvey } from './owner.ts';
import { RisingClock } from './rising-clock.ts';

export interface MemoryStoreOptions {
  /** Judges leases and dates sessions. @default the system's clock */
  readonly clock?: Clock;
}

/**
 * A store that lives as long as the process: for tests, and for runs that nobody needs to continue.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = new RisingClock(options.clock ?? systemClock);
  const registry = new MemoryRegistry(() => new OwnerSurvey());
  const turns = new MemoryTurns(registry);
  const scopes = new Map<string, MemoryLedgerStore>();
  let closed: StoreUnavailableError | undefined;
  const all = (): MemoryLedgerStore[] => {
    if (closed !== undefined) throw closed;
    return [...scopes.values()];
  };
  const ledgersOf = (scope: Parameters<Store['for']>[0]): MemoryLedgerStore => {
    const key = JSON.stringify([scope.tenant, scope.app]);
    let ledgers = scopes.get(key);
    if (ledgers === undefined) {
      ledgers = new MemoryLedgerStore(scope, { clock, registry, turns });
      scopes.set(key, ledgers);
      if (closed !== undefined) ledgers.close(closed);
    }
    return ledgers;
  };
  return {
    description: 'memory',
    kind: 'memory',
    for: ledgersOf,
    admin: {
      async due({ limit, app } = {}) {
        const asked = all().filter((ledgers) => app === undefined || ledgers.scope.app === app);
        return longestDue(asked, clock.now(), checkLimit('sessions', limit));
      },
      async take(options) {
        all();
        return turns.take(options, clock.now());
      },
      async sends({ app, ...filter }) {
        const asked = all().filter((ledgers) => ledgers.scope.app === app);
        return (await sendsOf(asked, filter)).slice(0, checkLimit('sends', filter.limit));
      },
      async replaceRows({ session, ...scope }, expected, rows) {
        all();
        return ledgersOf(scope).replaceRows(session, expected, rows);
      },
      async sweepBlobs({ olderThanMs } = {}) {
        const before = clock.now() - checkBlobAge(olderThanMs);
        return all().reduce((removed, ledgers) => removed + ledgers.sweepBlobs(before), 0);
      },
    },
    async close() {
      closed ??= new StoreUnavailableError({
        store: 'memory',
        reason: 'it has been closed',
        permanent: true,
      });
      for (const ledgers of scopes.values()) ledgers.close(closed);
    },
  };
}

type SendOfTenant = PendingSend & { readonly tenant: string };

async function sendsOf(
  asked: readonly MemoryLedgerStore[],
  filter: SendFilter,
): Promise<readonly SendOfTenant[]> {
  const lists = await Promise.all(
    asked.map(async (ledgers) => {
      const { tenant } = ledgers.scope;
      return (await ledgers.sends(filter)).map((send) => ({ ...send, tenant }));
    }),
  );
  return lists.flat();
}
