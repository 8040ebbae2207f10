import {
  BlobMissingError,
  KeyBusyError,
  LedgerConflictError,
  QueueFullError,
  RequestNotFoundError,
  RequestSettledError,
  SessionBusyError,
  SessionExistsError,
  SessionGoneError,
  SessionNotFoundError,
  StateConflictError,
  StoreUnavailableError,
} from '../../ledger/errors.ts';
import type { Head } from '../../ledger/port.ts';
import { checkForkPoint, checkSnapshot } from '../batch.ts';
import { fromStorable } from './storable-text.ts';
import type { WriteReply } from './write-groups.ts';

/** The members of a request that refusals mention. */
export interface Asked {
  readonly store: string;
  readonly app: string;
  readonly session: string;
  readonly expected?: Head;
  readonly requestId?: string;
  readonly birth?: string;
  /** The `seq` that the request named. */
  readonly seq?: number;
}

/**
 * Returns the reply when nothing was refused.
 * @throws the error that a refusal stands for
 */
export function checkReply(reply: WriteReply, asked: Asked): WriteReply {
  if (reply.refused === undefined) return reply;
  throw (refusals[reply.refused] ?? unknownRefusal)(reply, asked);
}

const refusals: { readonly [name: string]: (reply: WriteReply, asked: Asked) => Error } = {
  ledger_conflict: ({ seq = 0, epoch = 0 }, { session, expected = { seq: 0, epoch: 0 } }) =>
    new LedgerConflictError({
      session,
      expected: { seq: expected.seq, epoch: expected.epoch },
      found: { seq, epoch },
    }),
  session_busy: ({ owner, until }, { session }) =>
    new SessionBusyError({ session, owner: fromStorable(String(owner)), until: Number(until) }),
  session_not_found: (_, { session, app }) => new SessionNotFoundError({ session, app }),
  session_gone: (_, { session, birth }) => new SessionGoneError({ session, birth }),
  key_busy: ({ key, limit }, { session }) =>
    new KeyBusyError({ session, key: fromStorable(String(key)), limit: Number(limit) }),
  queue_full: ({ queue, limit, most, level }) =>
    new QueueFullError({
      queue: fromStorable(String(queue)),
      limit: limit as 'level' | 'total' | 'tenant' | 'requester',
      most: Number(most),
      ...(level === undefined ? {} : { level: Number(level) }),
    }),
  session_exists: (_, { session }) => new SessionExistsError({ session }),
  blob_missing: ({ address }) => new BlobMissingError({ address: String(address) }),
  state_conflict: ({ stale }) =>
    staleWrites(stale as readonly (readonly [string, string, string])[]),
  request_not_found: (_, { requestId = '' }) => new RequestNotFoundError({ requestId }),
  request_settled: ({ status, by }, { requestId = '' }) =>
    new RequestSettledError({
      requestId,
      status: String(status),
      by: typeof by === 'string' ? fromStorable(by) : undefined,
    }),
  fork_point: ({ seq: last }, { session, seq = 0 }) =>
    thrownBy(() => checkForkPoint(session, seq, Number(last))),
  snapshot_place: ({ seq: last }, { session, seq = 0 }) =>
    thrownBy(() => checkSnapshot(session, seq, Number(last))),
};

function unknownRefusal({ refused }: WriteReply, { store }: Asked): Error {
  return new StoreUnavailableError({
    store,
    reason: `its functions answer "${refused}", which this version does not know`,
    permanent: true,
  });
}

/** Scope, id and key of each write that does not fit. */
function staleWrites(stale: readonly (readonly [string, string, string])[]): StateConflictError {
  const [scope, scopeId] = stale[0] as readonly [string, string, string];
  const keys = stale
    .filter(([otherScope, otherId]) => otherScope === scope && otherId === scopeId)
    .map(([, , key]) => fromStorable(key));
  return new StateConflictError({
    scope: fromStorable(scope),
    scopeId: fromStorable(scopeId),
    keys: [...new Set(keys)],
  });
}

function thrownBy(check: () => void): Error {
  try {
    check();
  } catch (error) {
    return error as Error;
  }
  return new RangeError('The place that was named is not in the ledger.');
}
