import { defined } from '../../base/defined.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isCount,
  isListOf,
  isNonEmptyText,
  isOneOf,
  type OptionChecks,
} from '../../base/options.ts';
import type { Actor, RequestDecision, RequestKind } from '../../ledger/event.ts';
import type { LedgerStore, RequestFilter, RequestRow, RequestStatus } from '../../ledger/port.ts';
import { InvalidAnswerError } from './errors.ts';

/** A request, as an app lists it. */
export interface RequestEntry {
  readonly requestId: string;
  readonly session: string;
  /** Path of the agent that made the call. */
  readonly invocationId: string;
  readonly callId: string;
  readonly kind: RequestKind;
  readonly agent: string;
  /** Name of the tool; for a limit, the limit. */
  readonly name: string;
  /** One line about the action in question. */
  readonly summary: string;
  /** Further details for people: the arguments, unless the tool gives others. */
  readonly details?: JsonValue;
  /** The decisions to choose from. */
  readonly options: readonly RequestDecision[];
  /** JSON Schema of the input, or of the arguments that may be edited. */
  readonly inputSchema?: JsonObject;
  /** Ids of the actors that may answer; missing when any may. */
  readonly mayDecide?: readonly string[];
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
  /** Id of the operation whose result is awaited. */
  readonly operationId?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; missing when it does not expire. */
  readonly expiresAt?: number;
  readonly status: RequestStatus;
  readonly settledBy?: Actor;
  readonly settledAt?: number;
}

/** Filter of listed requests. They come in the order in which they were made. */
export interface ApprovalQuery {
  /** @default that of the runtime */
  readonly tenant?: string;
  /** Only those of sessions whose `user` scope has this id. @default all */
  readonly user?: string;
  readonly session?: string;
  /** @default 100 */
  readonly limit?: number;
  /** Last entry of the page before; the list continues after it. */
  readonly after?: Pick<RequestEntry, 'createdAt' | 'requestId'>;
}

export interface RequestQuery extends ApprovalQuery {
  /** @default all */
  readonly kinds?: readonly RequestKind[];
  /** @default all, also those that are settled */
  readonly status?: RequestStatus;
}

const queryChecks: OptionChecks<RequestQuery> = {
  tenant: isNonEmptyText,
  user: isNonEmptyText,
  session: isNonEmptyText,
  limit: isCount,
  after: isAnything,
  kinds: isListOf('approval', 'input', 'result', 'recovery', 'repeat', 'limit'),
  status: isOneOf('pending', 'answered', 'expired', 'escalated', 'cancelled', 'withdrawn'),
};

const defaultLimit = 100;

/**
 * Lists requests. Pending requests whose time is over are left out, because they can no longer be
 * answered.
 * @throws InvalidAnswerError, StoreUnavailableError
 */
export async function listRequests(
  ledgers: LedgerStore,
  query: RequestQuery,
  now: number,
): Promise<readonly RequestEntry[]> {
  const invalid = findInvalidOption(query, queryChecks);
  if (invalid !== undefined)
    throw new InvalidAnswerError({ refused: 'Requests cannot be listed', reason: invalid.reason });
  const { tenant: _tenant, limit = defaultLimit, after, ...filter } = query;
  const entries: RequestEntry[] = [];
  let place: RequestFilter['after'] = after;
  for (;;) {
    const rows = await ledgers.requests({
      ...filter,
      limit,
      ...defined({ after: place }),
    });
    entries.push(
      ...rows.filter((row) => query.status !== 'pending' || !isOver(row, now)).map(entryOf),
    );
    if (rows.length < limit || entries.length >= limit) return entries.slice(0, limit);
    place = rows.at(-1);
  }
}

function isOver({ expiresAt }: RequestRow, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

export function entryOf(row: RequestRow): RequestEntry {
  const { request, fingerprint: _fingerprint, generation: _generation, ...rest } = row;
  const { agent, summary, options, details, inputSchema } = request;
  return {
    ...rest,
    agent,
    summary,
    options,
    ...defined({ details, inputSchema }),
  };
}
