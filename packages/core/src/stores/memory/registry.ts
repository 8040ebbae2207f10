import type { OwnerSurvey } from '../owner.ts';
import type { DueWithoutTurn, TurnLease } from '../turns/turn-tables.ts';
import type { MemoryLedger } from './ledger.ts';
import type { TurnLedgers } from './turn-tables.ts';

interface Registered {
  readonly tenant: string;
  readonly app: string;
  readonly ledger: MemoryLedger;
}

/** The ledgers of all tenants and apps by their numbers, none of which is given twice. */
export class MemoryRegistry implements TurnLedgers {
  readonly #ledgers = new Map<number, Registered>();
  readonly #owners: () => OwnerSurvey;
  #last = 0;

  constructor(owners: () => OwnerSurvey) {
    this.#owners = owners;
  }

  /** The number of the next ledger. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  add(ledger: MemoryLedger, scope: { readonly tenant: string; readonly app: string }): void {
    this.#ledgers.set(ledger.number, { ledger, tenant: scope.tenant, app: scope.app });
  }

  delete(ledger: MemoryLedger): void {
    this.#ledgers.delete(ledger.number);
  }

  lease(number: number): TurnLease | undefined {
    return this.#ledgers.get(number)?.ledger.lease;
  }

  claim(number: number, owner: string, ttlMs: number, now: number): number {
    return this.#ledgers.get(number)?.ledger.claim(owner, { ttlMs, force: true }, now).epoch ?? 0;
  }

  isDue(number: number, now: number): boolean {
    return this.#ledgers.get(number)?.ledger.workSince(now) !== undefined;
  }

  wakeAt(number: number): number | null {
    return this.#ledgers.get(number)?.ledger.wakeAt ?? null;
  }

  due(app: string, tenant: string | undefined, now: number): readonly DueWithoutTurn[] {
    const owners = this.#owners();
    const due: DueWithoutTurn[] = [];
    for (const [number, { ledger, ...scope }] of this.#ledgers) {
      if (scope.app !== app || (tenant !== undefined && scope.tenant !== tenant)) continue;
      const since = ledger.dueSince(now, owners);
      if (since !== undefined)
        due.push({ ledger: number, session: ledger.session, ...scope, since });
    }
    return due.sort((left, right) => left.since - right.since || left.ledger - right.ledger);
  }
}
