import { defined } from '../../base/defined.ts';
import type { TurnBlock, TurnExplanation, TurnScope } from '../../ledger/port.ts';
import { type Turn, turnRow } from './turn.ts';
import { TurnOrder } from './turn-order.ts';
import type { TurnTables } from './turn-tables.ts';

/** Number of turns before another up to which they are counted. */
const mostBefore = 1_000;

export interface ExplanationParts {
  readonly tables: TurnTables;
  /** Runs work on tables whose changes are forgotten. */
  readonly throwaway: (work: (tables: TurnTables) => number | undefined) => number | undefined;
  readonly isGone: (owner: string) => boolean;
  readonly now: number;
}

/** Explains a turn by the order in which turns are taken. */
export function explainTurn(
  ledger: number,
  scope: TurnScope,
  parts: ExplanationParts,
): TurnExplanation | undefined {
  const turn = parts.tables.turn(ledger);
  if (turn === undefined) return undefined;
  const block = blockOf(turn, scope, parts);
  const isReady = turn.place === 'ready' && block === undefined;
  const before = isReady ? turnsBefore(turn, scope, parts) : undefined;
  return { turn: turnRow(turn), ...defined({ block, before }) };
}

function turnsBefore(turn: Turn, scope: TurnScope, parts: ExplanationParts): number | undefined {
  return parts.throwaway((tables) =>
    new TurnOrder(tables, parts.isGone).countBefore(turn.ledger, {
      options: { ...scope, app: turn.app },
      most: mostBefore,
      now: parts.now,
    }),
  );
}

function blockOf(
  turn: Turn,
  { queues = ['default'], names, queueLimits = {} }: TurnScope,
  { tables, now }: ExplanationParts,
): TurnBlock | undefined {
  const { app, key, queue, rate, readyAt, runnable } = turn;
  if (turn.place === 'taken')
    return { kind: 'taken', owner: tables.lease(turn.ledger)?.owner ?? 'nobody' };
  if (turn.suspended) return { kind: 'suspended' };
  if (turn.awaitsRate && rate !== undefined)
    return { kind: 'rate', key: rate.name, at: readyAt ?? 0 };
  if (turn.place === 'resting')
    return readyAt === null ? { kind: 'waits' } : { kind: 'not_before', at: readyAt };
  if (turn.place === 'behind') {
    const { held, ready } =
      key === undefined ? { held: 0, ready: 0 } : tables.placesOfKey(app, key.name);
    if (key !== undefined && held + ready >= key.limit)
      return { kind: 'key', key: key.name, holders: tables.holdersOfKey(app, key.name) };
    if (rate !== undefined)
      return { kind: 'rate', key: rate.name, at: Math.max(now, tables.rateAt(app, rate.name)) };
  }
  if (!queues.includes(queue)) return { kind: 'out_of_scope' };
  if (names !== undefined && runnable !== '' && !names.includes(runnable))
    return { kind: 'out_of_scope' };
  const limit = Object.hasOwn(queueLimits, queue) ? queueLimits[queue] : undefined;
  return limit !== undefined && tables.working(app, queue) >= limit
    ? { kind: 'queue_limit', queue, limit }
    : undefined;
}
