import { defined } from '../../../base/defined.ts';
import type { JsonObject } from '../../../base/json.ts';
import type {
  AdmissionLimits,
  ConcurrencyKey,
  ListedRow,
  PostOptions,
  PostReceipt,
  ShareWeights,
  TakeOptions,
  TurnPatch,
  TurnRow,
  TurnScope,
  TurnState,
} from '../../../ledger/port.ts';
import { fromStorable, toStorable, toStorableOrNull } from '../storable-text.ts';
import { storedWhole } from '../whole.ts';
import type { WriteReply } from '../write-groups.ts';

/** Returns a change of a turn as the functions of the schema take it. */
export function storedPatch(patch: TurnPatch): JsonObject {
  const { queue, requester, runnable, key, rate, coalesceKey, run, ...rest } = patch;
  return {
    ...defined(rest),
    ...storedTexts({ queue, requester, runnable, coalesceKey, run }),
    ...(key === undefined ? {} : { key: { ...defined(key), name: toStorable(key.name) } }),
    ...(rate === undefined ? {} : { rate: { ...defined(rate), name: toStorable(rate.name) } }),
  };
}

/**
 * Returns the options of a post as the function takes them; those that are missing are left out.
 */
export function storedPostOptions(options: PostOptions): JsonObject {
  const { birth, open, wakes, turn, admit, rows } = options;
  return {
    ...(birth === undefined ? {} : { birth: toStorable(birth) }),
    ...(open === true ? { open } : {}),
    ...(wakes === false ? { wakes } : {}),
    ...(turn === undefined ? {} : { turn: storedPatch(turn) }),
    ...(admit === undefined ? {} : { admit: storedLimits(admit) }),
    ...(rows === undefined ? {} : { rows: rows.map(storedRow) }),
  };
}

function storedLimits({ levels, ...others }: AdmissionLimits): JsonObject {
  return { ...defined(others), ...(levels === undefined ? {} : { levels: [...levels] }) };
}

export function storedRow({ kind, id, status, at, body, ...rest }: ListedRow): JsonObject {
  const { expiresAt, user, removed } = rest;
  return {
    kind: toStorable(kind),
    id: toStorable(id),
    status: toStorable(status),
    user: toStorableOrNull(user),
    ...{ at, expiresAt: expiresAt ?? null, body: JSON.stringify(body) },
    ...(removed === true ? { removed } : {}),
  };
}

/** Returns the part of the queue that is asked for. */
export function storedScope(scope: TurnScope, app: string): JsonObject {
  const { queues, names, queueLimits, weights } = scope;
  return {
    app: toStorable(app),
    ...(queues === undefined ? {} : { queues: queues.map(toStorable) }),
    ...(names === undefined ? {} : { names: names.map(toStorable) }),
    ...(queueLimits === undefined ? {} : { queueLimits: storedNames(queueLimits) }),
    ...(weights === undefined ? {} : { weights: storedWeights(weights) }),
  };
}

export function storedTake(options: TakeOptions): JsonObject {
  const { app, tenant, owner, ticket, ttlMs, slots, realtimeSlots = 0, levels } = options;
  return {
    ...storedScope(options, app),
    ...storedTexts({ tenant, owner, ticket }),
    ttl: ttlMs,
    slots: storedSlots(slots),
    realtimeSlots: storedSlots(realtimeSlots),
    ...(levels === undefined ? {} : { levels: [...levels] }),
  };
}

/** Returns a number of places; no call takes more turns than that. */
function storedSlots(slots: number): number {
  return Math.min(storedWhole(slots), 1_000_000);
}

function storedWeights({ tenants, requesters }: ShareWeights): JsonObject {
  return {
    ...(tenants === undefined ? {} : { tenants: storedNames(tenants) }),
    ...(requesters === undefined ? {} : { requesters: storedNames(requesters) }),
  };
}

function storedNames(values: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, n]) => [toStorable(name), n]));
}

function storedTexts(texts: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, toStorable(text)]],
    ),
  );
}

/** A row of the table of turns, as JSON. */
export type StoredTurn = Readonly<Record<string, string | number | boolean | null>>;

/** The turn as the port shows it. */
export function turnRow(stored: StoredTurn): TurnRow {
  const text = (column: string): string => fromStorable(String(stored[column]));
  const optionalText = (column: string): string | undefined =>
    stored[column] === null ? undefined : text(column);
  const number = (column: string): number | undefined =>
    typeof stored[column] === 'number' ? stored[column] : undefined;
  return {
    tenant: text('tenant'),
    app: text('app'),
    session: text('session'),
    queue: text('queue'),
    level: Number(stored['level']),
    requester: text('requester'),
    runnable: text('runnable'),
    state: (stored['place'] === 'out' ? 'ready' : stored['place']) as TurnState,
    suspended: stored['suspended'] === true,
    since: Number(stored['since']),
    readyAt: number('ready_at') ?? null,
    interests: Number(stored['interests']),
    attempts: Number(stored['attempts']),
    estimateMs: Number(stored['estimate_ms']),
    ...defined({
      key: keyOf(stored),
      rate: rateOf(stored),
      softAt: number('soft_at'),
      hardAt: number('hard_at'),
      coalesceKey: optionalText('coalesce_key'),
      run: optionalText('run'),
      takenAt: number('taken_at'),
    }),
  };
}

function keyOf(stored: StoredTurn): ConcurrencyKey | undefined {
  if (stored['key_name'] === null) return undefined;
  const name = fromStorable(String(stored['key_name']));
  const hold = (stored['key_hold'] as ConcurrencyKey['hold'] | null) ?? undefined;
  return { name, limit: Number(stored['key_limit']), ...defined({ hold }) };
}

function rateOf(stored: StoredTurn): TurnRow['rate'] {
  if (stored['rate_name'] === null) return undefined;
  const name = fromStorable(String(stored['rate_name']));
  const { rate_limit: limit, rate_per_ms: perMs } = stored;
  return { name, limit: Number(limit), perMs: Number(perMs) };
}

/** The receipt of a post, with names as they were given. */
export function postReceipt(reply: WriteReply): PostReceipt {
  const { joined } = reply as { readonly joined?: { session: string; run: string | null } };
  if (joined === undefined) return reply as unknown as PostReceipt;
  const run = joined.run === null ? {} : { run: fromStorable(joined.run) };
  const receipt = reply as unknown as PostReceipt;
  return { ...receipt, joined: { session: fromStorable(joined.session), ...run } };
}
