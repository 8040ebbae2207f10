import { defined } from '../../base/defined.ts';
import { sha256 } from '../../base/hash.ts';
import { decisionFold } from '../decisions/steering.ts';
import { type EventOf, type Fold, unchanged } from '../event.ts';
import type { RequestDraft } from '../port.ts';

/**
 * Requests that are not answered yet, by request id, in the order in which they were made. Changed
 * in place by the fold.
 */
export type PendingRequests = Map<string, EventOf<'tool_yield'>>;

/**
 * Makes the id of a request. Every process makes the same one, and a fork or copy makes another
 * one.
 */
export function requestIdOf(
  scope: { readonly tenant: string; readonly app: string },
  {
    session,
    callId,
    generation,
  }: { readonly session: string; readonly callId: string; readonly generation: number },
): string {
  const named = [scope.tenant, scope.app, session, callId, generation];
  return `req_${sha256(JSON.stringify(named)).slice(0, 24)}`;
}

/** Makes the row of a request for the store. */
export function pendingRequestOf(
  event: EventOf<'tool_yield'>,
  session: string,
  user: string | undefined,
): RequestDraft {
  const { requestId, callId, kind, name, args, fingerprint, generation, request, at, expiresAt } =
    event;
  const { mayDecide, operationId } = request;
  // People see the arguments of the event when the request has no details.
  const shown =
    request.details === undefined && args !== null ? { ...request, details: args } : request;
  return {
    requestId,
    session,
    invocationId: event.invocationId ?? '',
    callId,
    kind,
    name,
    fingerprint,
    generation,
    request: shown,
    createdAt: at,
    ...defined({ user, mayDecide, operationId, expiresAt }),
  };
}

/** Adds a request. A call has one request at a time. */
function ask(requests: PendingRequests, event: EventOf<'tool_yield'>): PendingRequests {
  for (const [id, { callId }] of requests) if (callId === event.callId) requests.delete(id);
  return requests.set(event.requestId, event);
}

/** Removes the request of a settled call. */
function onResult(
  requests: PendingRequests,
  { callId, settled }: EventOf<'tool_result'>,
): PendingRequests {
  if (settled && requests.size > 0)
    for (const [id, request] of requests) if (request.callId === callId) requests.delete(id);
  return requests;
}

function onEnd(
  requests: PendingRequests,
  { invocationId }: EventOf<'invocation_end'>,
): PendingRequests {
  if (requests.size > 0)
    for (const [id, request] of requests)
      if (request.invocationId === invocationId) requests.delete(id);
  return requests;
}

const steer = decisionFold<'requests', PendingRequests>({
  'request.withdraw': (requests, { data }) => {
    requests.delete(data?.requestId ?? '');
  },
});

/** Folds a ledger into its open requests. */
export const requestFold: Fold<PendingRequests> = {
  user: unchanged,
  assistant: unchanged,
  thought: unchanged,
  tool_call: unchanged,
  tool_attempt: unchanged,
  tool_result: onResult,
  tool_yield: ask,
  tool_input: (requests, { requestId }) => {
    requests.delete(requestId);
    return requests;
  },
  state_change: unchanged,
  invocation_start: unchanged,
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: onEnd,
  invocation_reopen: unchanged,
  model_start: unchanged,
  model_end: unchanged,
  handoff: unchanged,
  decision: (requests, event) => {
    steer(requests, event);
    return requests;
  },
  compaction: unchanged,
  artifact: unchanged,
  plan: unchanged,
  plan_update: unchanged,
  error: unchanged,
  cancel: unchanged,
  memory: unchanged,
};
