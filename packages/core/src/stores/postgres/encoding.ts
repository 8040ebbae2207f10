import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Event } from '../../ledger/event.ts';
import type {
  Batch,
  Head,
  InboxItem,
  RequestDraft,
  RequestRow,
  RequestSettlement,
  SessionSummary,
  SharedWrite,
} from '../../ledger/port.ts';
import { type EventFields, encodeEvent, fieldsPerEvent } from '../sqlite/encoding.ts';
import { toStorable, toStorableOrNull } from './storable-text.ts';
import { storedPatch, storedRow } from './turns/encoding.ts';
import type { WriteRequest } from './write-groups.ts';

/** The ledgers of one tenant and app, with names as they are stored. */
export interface StoredScope {
  readonly tenant: string;
  readonly app: string;
}

/** Returns the request of an append; members that a batch does not have are left out. */
export function appendRequest(
  scope: StoredScope,
  session: string,
  expected: Head,
  batch: Batch,
): WriteRequest {
  const rest = {
    ...(isFilled(batch.consumes) ? { consumes: batch.consumes } : {}),
    ...(isFilled(batch.blobs) ? { blobs: [...new Set(batch.blobs)] } : {}),
    ...(isFilled(batch.shared) ? { shared: batch.shared.map(storedWrite) } : {}),
    ...(isFilled(batch.requests) ? { requests: batch.requests.map(storedRequest) } : {}),
    ...(isFilled(batch.settles) ? { settles: batch.settles.map(storedSettlement) } : {}),
    ...(isFilled(batch.sends) ? { sends: batch.sends.map((send) => JSON.stringify(send)) } : {}),
    ...(isFilled(batch.rows) ? { rows: batch.rows.map(storedRow) } : {}),
  };
  return {
    ...{
      op: 'append',
      ...scope,
      session: toStorable(session),
      seq: expected.seq,
      epoch: expected.epoch,
    },
    events: storedEvents(batch.events),
    ...(batch.summary === undefined ? {} : { summary: storedSummary(batch.summary) }),
    ...defined({ wakeAt: batch.wakeAt }),
    ...(batch.turn === undefined ? {} : { turn: storedPatch(batch.turn) }),
    ...rest,
    ...(Object.keys(rest).length === 0 ? {} : { more: true }),
  };
}

function isFilled<Item>(list: readonly Item[] | undefined): list is readonly Item[] {
  return list !== undefined && list.length > 0;
}

/** Returns rows of seq, at, type, actor, path and body; the last three as JSON text. */
export function storedEvents(events: readonly Event[]): readonly EventFields[] {
  const fields: EventFields = [];
  for (const event of events) encodeEvent(event, fields);
  const rows: EventFields[] = [];
  for (let i = 0; i < fields.length; i += fieldsPerEvent)
    rows.push(fields.slice(i, i + fieldsPerEvent));
  return rows;
}

export function storedSummary({ status, title, runnable, user }: SessionSummary): JsonObject {
  return {
    status,
    title: toStorableOrNull(title),
    runnable: toStorableOrNull(runnable),
    user: toStorableOrNull(user),
  };
}

function storedWrite({ scope, scopeId, key, value, baseVersion }: SharedWrite): JsonObject {
  return {
    scope: toStorable(scope),
    scopeId: toStorable(scopeId),
    key: toStorable(key),
    value: value === undefined ? null : JSON.stringify(value),
    baseVersion,
  };
}

/** Returns a request with what became of it. */
export function storedRequestRow(row: RequestRow): JsonObject {
  const { settledAt, settledBy, status, ...request } = row;
  return {
    ...storedRequest(request),
    ...{ status, settledBy: toStorableOrNull(settledBy), settledAt: settledAt ?? null },
  };
}

function storedRequest(request: RequestDraft): JsonObject {
  const { requestId, kind, user, operationId, createdAt, expiresAt } = request;
  return {
    requestId: toStorable(requestId),
    kind,
    user: toStorableOrNull(user),
    operationId: toStorableOrNull(operationId),
    createdAt,
    expiresAt: expiresAt ?? null,
    request: JSON.stringify(request),
  };
}

export function storedSettlement({ requestId, status, by }: RequestSettlement): JsonObject {
  return { requestId: toStorable(requestId), status, by: toStorable(by) };
}

export function storedItem({ key, lane, by, at, type, data, settles }: InboxItem): JsonObject {
  return {
    ...{ key: toStorable(key), lane, by: toStorable(by), at, type, data: JSON.stringify(data) },
    ...(settles === undefined ? {} : { settles: toStorable(settles) }),
  };
}
