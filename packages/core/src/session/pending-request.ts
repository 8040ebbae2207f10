import type { JsonValue } from '../base/json.ts';
import type { RequestDetails, RequestKind } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** A call that waits for an answer, or an agent that waits at a limit. */
export interface PendingRequest {
  readonly requestId: string;
  readonly callId: string;
  /** Path of the agent that called. */
  readonly invocationId: string;
  readonly kind: RequestKind;
  /** Name of the tool; for a limit, the limit. */
  readonly name: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  /** Details for the people who answer. */
  readonly request: RequestDetails;
  /** Epoch milliseconds. */
  readonly expiresAt: number | undefined;
  /** True when an answer has been posted; the run takes it in when it goes on. */
  readonly accepted: boolean;
}

/** Calls that a session waits for, in the order in which they asked. */
export function pendingCalls(
  ledger: Pick<Ledger, 'requests' | 'resolve' | 'accepted'>,
): readonly PendingRequest[] {
  return [...ledger.requests.values()].map(
    ({ requestId, callId, invocationId, kind, name, args, request, expiresAt }) => ({
      requestId,
      callId,
      invocationId: invocationId ?? '',
      kind,
      name,
      args: ledger.resolve(args) as JsonValue,
      request: ledger.resolve(request) as RequestDetails,
      expiresAt,
      accepted: ledger.accepted.has(requestId),
    }),
  );
}

/** True for a question of a step, which is about no call: its call has the path of the question. */
export function isQuestion({
  callId,
  invocationId,
  kind,
}: Pick<PendingRequest, 'callId' | 'kind'> & { readonly invocationId?: string }): boolean {
  return callId === invocationId && kind !== 'limit';
}

/** Kinds of requests that ask for permission. */
export const approvalKinds: readonly RequestKind[] = Object.freeze(['approval', 'repeat']);

export function isApproval({ kind }: { readonly kind: RequestKind }): boolean {
  return approvalKinds.includes(kind);
}
