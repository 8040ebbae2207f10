import type { JsonValue } from '../base/json.ts';
import type { RequestDetails, RequestKind } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** A call that waits for somebody outside, or an agent that waits at a limit. */
export interface PendingCall {
  readonly requestId: string;
  readonly callId: string;
  /** Path of the agent that called. */
  readonly invocationId: string;
  readonly kind: RequestKind;
  /** The tool; for a limit, the limit. */
  readonly name: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  /** What people are shown. */
  readonly request: RequestDetails;
  /** Epoch milliseconds. */
  readonly expiresAt: number | undefined;
  /** An answer has been posted, and is taken in when the run goes on. */
  readonly accepted: boolean;
}

/** What a session waits for, in the order in which it was asked. */
export function pendingCalls(
  ledger: Pick<Ledger, 'requests' | 'resolve' | 'accepted'>,
): readonly PendingCall[] {
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

/** Requests by which somebody is to say if something may be done. */
export const approvalKinds: readonly RequestKind[] = Object.freeze(['approval', 'repeat']);

export function isApproval({ kind }: { readonly kind: RequestKind }): boolean {
  return approvalKinds.includes(kind);
}
