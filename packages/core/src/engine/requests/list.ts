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

/** A question to somebody outside. */
export interface RequestEntry {
  readonly requestId: string;
  readonly session: string;
  /** Path of the agent that made the call. */
  readonly invocationId: string;
  readonly callId: string;
  readonly kind: RequestKind;
  readonly agent: string;
  /** The tool; for a limit, the limit. */
  readonly name: string;
  /** One line that says what is to be done. */
  readonly summary: string;
  /** What else people are shown: the arguments, unless the tool says otherwise. */
  readonly details?: JsonValue;
  /** The decisions to choose from. */
  readonly options: readonly RequestDecision[];
  /** JSON Schema of the input, or of the arguments that may be edited. */
  readonly inputSchema?: JsonObject;
  /** Who may answer; missing: anybody. */
  readonly mayDecide?: readonly string[];
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
  /** Name of the operation whose result is awaited. */
  readonly operationId?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; missing: it waits for as long as it takes. */
  readonly expiresAt?: number;
  readonly status: RequestStatus;
  readonly settledBy?: Actor;
  readonly settledAt?: number;
}

/** Which requests are listed, in the order in which they were made. */
export interface ApprovalQuery {
  /** @default that of the runtime */
  readonly tenant?: string;
  /** Only those of sessions whose `user` scope has this id. @default all */
  readonly user?: string;
  readonly session?: string;
  /** @default 100 */
  readonly limit?: number;
  /** Goes on after the last entry of the page before. */
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
 * Lists requests. What is pending and whose time is over is left out: nobody can answer it any
 * more.
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
      ...(place === undefined ? {} : { after: place }),
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
    ...(details === undefined ? {} : { details }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
  };
}
