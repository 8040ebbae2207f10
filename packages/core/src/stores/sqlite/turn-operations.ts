import type { DatabaseSync } from 'node:sqlite';
import type { TakeReceipt, TurnExplanation, TurnRow } from '../../ledger/port.ts';
import { OwnerSurvey } from '../owner.ts';
import { turnRow } from '../turns/turn.ts';
import { explainTurn } from '../turns/turn-explanation.ts';
import { TurnOrder } from '../turns/turn-order.ts';
import type { ReadOperations, SessionAddress, WriteOperations } from './protocol.ts';
import type { LedgerRows } from './rows/ledger-rows.ts';
import { turnOfRow } from './rows/turn-columns.ts';
import { turnList } from './rows/turn-queries.ts';
import type { TurnRows } from './rows/turn-rows.ts';
import { Conditions, StatementCache } from './statements.ts';

/** Condition of a place by the state that the port shows: a suspended turn is ready, and out. */
const placesOfState = {
  ready: "place in ('ready', 'out')",
  behind: "place = 'behind'",
  taken: "place = 'taken'",
  resting: "place = 'resting'",
} as const;

/** The operations on turns alone. */
export class TurnOperations {
  readonly #database: DatabaseSync;
  readonly #ledgers: LedgerRows;
  readonly #turns: TurnRows;
  readonly #statements: StatementCache;

  constructor(
    database: DatabaseSync,
    { ledgers, turns }: { readonly ledgers: LedgerRows; readonly turns: TurnRows },
  ) {
    this.#database = database;
    this.#ledgers = ledgers;
    this.#turns = turns;
    this.#statements = new StatementCache(database);
  }

  take({ options, now }: WriteOperations['take']['request']): TakeReceipt {
    const owners = new OwnerSurvey();
    return new TurnOrder(this.#turns, (owner) => owners.isGone(owner)).take(options, now);
  }

  turn(address: SessionAddress): TurnRow | undefined {
    const ledger = this.#ledgers.find(address);
    this.#turns.begin();
    const turn = ledger === undefined ? undefined : this.#turns.turn(ledger.id);
    return turn === undefined ? undefined : turnRow(turn);
  }

  list({ tenant, app, filter, limit }: ReadOperations['turns']['request']): readonly TurnRow[] {
    const { queue, session, state } = filter;
    const conditions = new Conditions()
      .equal('tenant', tenant)
      .equal('app', app)
      .equal('queue', queue);
    if (session !== undefined)
      conditions.equal('ledger', this.#ledgers.find({ tenant, app, session })?.id ?? 0);
    if (state !== undefined) conditions.add(placesOfState[state]);
    return this.#statements
      .get(turnList(conditions.text))
      .all(...conditions.values, limit)
      .map((row) => turnRow(turnOfRow(row)));
  }

  /** Counts the turns before another by taking them, and forgets that. */
  explain(request: WriteOperations['explainTurn']['request']): TurnExplanation | undefined {
    const ledger = this.#ledgers.find(request);
    if (ledger === undefined) return undefined;
    const owners = new OwnerSurvey();
    return explainTurn(ledger.id, request.scope, {
      tables: this.#turns,
      throwaway: (work) => this.#forgotten(() => work(this.#turns)),
      isGone: (owner) => owners.isGone(owner),
      now: request.now,
    });
  }

  #forgotten<Result>(work: () => Result): Result {
    this.#turns.begin();
    this.#database.exec('savepoint forgotten');
    try {
      return work();
    } finally {
      this.#database.exec('rollback to forgotten; release forgotten');
      this.#turns.begin();
    }
  }
}
