import type { SQLInputValue } from 'node:sqlite';
import type { ConcurrencyKey, RateKey } from '../../../ledger/port.ts';
import type { Turn, TurnPlace } from '../../turns/turn.ts';

export type StoredColumns = Readonly<Record<string, SQLInputValue>>;

/** Columns of `turns`, in the order of `storedTurn`. */
export const turnColumns: readonly string[] = [
  'ledger',
  'tenant',
  'app',
  'session',
  'queue',
  'level',
  'requester',
  'runnable',
  'place',
  'suspended',
  'since',
  'ready_at',
  'control_at',
  'key_name',
  'key_limit',
  'key_hold',
  'rate_name',
  'rate_limit',
  'rate_per_ms',
  'holds',
  'awaits_rate',
  'soft_at',
  'hard_at',
  'soft_left_ms',
  'hard_left_ms',
  'coalesce_key',
  'run',
  'interests',
  'attempts',
  'estimate_ms',
  'taken_at',
  'ticket',
  'is_front',
  'is_control',
  'is_transient',
  'charged_ms',
  'weight',
];

/** The values of a turn's row. */
export function storedTurn(turn: Turn): SQLInputValue[] {
  const { key, rate } = turn;
  return [
    turn.ledger,
    turn.tenant,
    turn.app,
    turn.session,
    turn.queue,
    turn.level,
    turn.requester,
    turn.runnable,
    turn.place,
    Number(turn.suspended),
    turn.since,
    turn.readyAt,
    turn.controlAt,
    key?.name ?? null,
    key?.limit ?? null,
    key?.hold ?? null,
    rate?.name ?? null,
    rate?.limit ?? null,
    rate?.perMs ?? null,
    Number(turn.holds),
    Number(turn.awaitsRate),
    turn.softAt ?? null,
    turn.hardAt ?? null,
    turn.softLeftMs ?? null,
    turn.hardLeftMs ?? null,
    turn.coalesceKey ?? null,
    turn.run ?? null,
    turn.interests,
    turn.attempts,
    turn.estimateMs,
    turn.takenAt ?? null,
    turn.ticket ?? null,
    Number(turn.isFront),
    Number(turn.isControl),
    Number(turn.isTransient),
    turn.chargedMs,
    turn.weight,
  ];
}

/** The turn of a row. */
export function turnOfRow(row: StoredColumns): Turn {
  const text = (column: string): string => row[column] as string;
  const number = (column: string): number => row[column] as number;
  const isSet = (column: string): boolean => row[column] === 1;
  return {
    ledger: number('ledger'),
    tenant: text('tenant'),
    app: text('app'),
    session: text('session'),
    queue: text('queue'),
    level: number('level'),
    requester: text('requester'),
    runnable: text('runnable'),
    place: row['place'] as TurnPlace,
    suspended: isSet('suspended'),
    since: number('since'),
    readyAt: row['ready_at'] as number | null,
    controlAt: row['control_at'] as number | null,
    key: keyOf(row),
    rate: rateOf(row),
    holds: isSet('holds'),
    awaitsRate: isSet('awaits_rate'),
    softAt: optional<number>(row['soft_at']),
    hardAt: optional<number>(row['hard_at']),
    softLeftMs: optional<number>(row['soft_left_ms']),
    hardLeftMs: optional<number>(row['hard_left_ms']),
    coalesceKey: optional<string>(row['coalesce_key']),
    run: optional<string>(row['run']),
    interests: number('interests'),
    attempts: number('attempts'),
    estimateMs: number('estimate_ms'),
    takenAt: optional<number>(row['taken_at']),
    ticket: optional<string>(row['ticket']),
    isFront: isSet('is_front'),
    isControl: isSet('is_control'),
    isTransient: isSet('is_transient'),
    chargedMs: number('charged_ms'),
    weight: number('weight'),
  };
}

function optional<Value extends SQLInputValue>(value: SQLInputValue | undefined) {
  return value === null ? undefined : (value as Value);
}

function keyOf(row: StoredColumns): ConcurrencyKey | undefined {
  const name = optional<string>(row['key_name']);
  if (name === undefined) return undefined;
  const hold = optional<string>(row['key_hold']) as ConcurrencyKey['hold'];
  return { name, limit: row['key_limit'] as number, ...(hold === undefined ? {} : { hold }) };
}

function rateOf(row: StoredColumns): RateKey | undefined {
  const name = optional<string>(row['rate_name']);
  if (name === undefined) return undefined;
  return { name, limit: row['rate_limit'] as number, perMs: row['rate_per_ms'] as number };
}
