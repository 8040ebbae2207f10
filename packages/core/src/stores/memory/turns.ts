import type {
  TakeOptions,
  TakeReceipt,
  TurnExplanation,
  TurnFilter,
  TurnRow,
  TurnScope,
} from '../../ledger/port.ts';
import { OwnerSurvey } from '../owner.ts';
import { turnRow } from '../turns/turn.ts';
import { TurnChanges } from '../turns/turn-changes.ts';
import { explainTurn } from '../turns/turn-explanation.ts';
import { TurnOrder } from '../turns/turn-order.ts';
import { TurnPosts } from '../turns/turn-posts.ts';
import type { MemoryRegistry } from './registry.ts';
import { MemoryTurnTables } from './turn-tables.ts';

/** The turns of all tenants and apps in memory. */
export class MemoryTurns {
  readonly changes: TurnChanges;
  readonly posts: TurnPosts;
  readonly #tables: MemoryTurnTables;

  constructor(registry: MemoryRegistry) {
    this.#tables = new MemoryTurnTables(registry);
    this.changes = new TurnChanges(this.#tables);
    this.posts = new TurnPosts(this.#tables);
  }

  take(options: TakeOptions, now: number): TakeReceipt {
    const owners = new OwnerSurvey();
    return new TurnOrder(this.#tables, (owner) => owners.isGone(owner)).take(options, now);
  }

  row(ledger: number | undefined): TurnRow | undefined {
    const turn = ledger === undefined ? undefined : this.#tables.turn(ledger);
    return turn === undefined ? undefined : turnRow(turn);
  }

  list(
    scope: { readonly tenant: string; readonly app: string },
    { queue, session, state }: TurnFilter,
    limit: number,
  ): readonly TurnRow[] {
    return this.#tables
      .all()
      .map(turnRow)
      .filter(
        (turn) =>
          turn.tenant === scope.tenant &&
          turn.app === scope.app &&
          (queue === undefined || turn.queue === queue) &&
          (session === undefined || turn.session === session) &&
          (state === undefined || turn.state === state),
      )
      .slice(0, limit);
  }

  explain(ledger: number | undefined, scope: TurnScope, now: number): TurnExplanation | undefined {
    if (ledger === undefined) return undefined;
    const owners = new OwnerSurvey();
    return explainTurn(ledger, scope, {
      tables: this.#tables,
      throwaway: (work) => work(this.#tables.copy()),
      isGone: (owner) => owners.isGone(owner),
      now,
    });
  }

  forget(ledger: number, now: number): void {
    const turn = this.#tables.turn(ledger);
    if (turn !== undefined) this.changes.remove(turn, now);
  }
}
