import type { JsonObject } from '../../base/json.ts';
import type { RebuiltTurn, ReplaceReceipt, StoreAdmin } from '../../ledger/port.ts';
import { isOwnerGone } from '../owner.ts';
import { storedRequestRow, storedSummary } from './encoding.ts';
import { checkReply } from './refusal.ts';
import { fromStorable, toStorable } from './storable-text.ts';
import { storedPatch, storedRow } from './turns/encoding.ts';
import type { WriteGroups, WriteRequest } from './write-groups.ts';

/** Replaces rows of a session that follow from its ledger and its inbox. */
export function replaceRows(writes: WriteGroups, store: string): StoreAdmin['replaceRows'] {
  return async ({ tenant, app, session }, expected, { listed, requests, summary, turn }) => {
    const { epoch, inboxSeq, seq } = expected;
    const request: WriteRequest = {
      op: 'replace',
      ...{ tenant: toStorable(tenant), app: toStorable(app), session: toStorable(session) },
      ...{ seq, epoch, inboxSeq },
      ...(summary === undefined ? {} : { summary: storedSummary(summary) }),
      ...(requests === undefined ? {} : { requests: requests.map(storedRequestRow) }),
      ...(listed === undefined
        ? {}
        : { kinds: listed.kinds.map(toStorable), rows: listed.rows.map(storedRow) }),
      ...(turn === undefined ? {} : { turn: turn === null ? null : storedTurn(turn) }),
    };
    let reply = await writes.send(request);
    // Only this process can tell that an owner on its machine is gone.
    if (reply.refused === 'session_busy' && isOwnerGone(fromStorable(String(reply['owner']))))
      reply = await writes.send({ ...request, gone: String(reply['owner']) });
    return checkReply(reply, { store, app, session }) as unknown as ReplaceReceipt;
  };
}

function storedTurn(turn: RebuiltTurn): JsonObject {
  const { controlAt, holds, interests, rests, since, suspended, toFront, ...settings } = turn;
  return {
    ...storedPatch(settings),
    ...{ since, holds: holds === true, suspended: suspended === true },
    ...{ interests: interests ?? 1, toFront: toFront === true, controlAt: controlAt ?? null },
    ...(rests === undefined ? {} : { rests: rests ?? 'never' }),
  };
}
