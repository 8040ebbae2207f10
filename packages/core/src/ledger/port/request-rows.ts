import type { Actor, RequestDetails, RequestKind } from '../event.ts';

/**
 * Status of a request.
 * - `answered`: an actor has decided.
 * - `expired`: it was not answered in time.
 * - `escalated`: it was not answered in time, and others are asked.
 * - `cancelled`: its invocation was cancelled.
 * - `withdrawn`: its invocation no longer asks it.
 */
export type RequestStatus =
  | 'pending'
  | 'answered'
  | 'expired'
  | 'escalated'
  | 'cancelled'
  | 'withdrawn';

/** A request that a run waits for, as the store lists it. */
export interface RequestDraft {
  /** Unique within tenant and app. */
  readonly requestId: string;
  readonly session: string;
  readonly invocationId: string;
  readonly callId: string;
  readonly kind: RequestKind;
  /** Name of the tool; for a limit, the limit. */
  readonly name: string;
  readonly fingerprint: string;
  readonly generation: number;
  /** Details for the people who answer. */
  readonly request: RequestDetails;
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
  /** Ids of the actors that may answer; missing when any may. */
  readonly mayDecide?: readonly string[];
  /** Id of the operation whose result is awaited. */
  readonly operationId?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

export interface RequestRow extends RequestDraft {
  readonly status: RequestStatus;
  /** Actor that settled it. */
  readonly settledBy?: Actor;
  readonly settledAt?: number;
}

/** Settlement of a request by the writer of its session. */
export interface RequestSettlement {
  readonly requestId: string;
  readonly status: Exclude<RequestStatus, 'pending'>;
  readonly by: Actor;
}

export interface RequestFilter {
  readonly requestId?: string;
  readonly operationId?: string;
  readonly session?: string;
  readonly user?: string;
  /** @default all */
  readonly status?: RequestStatus;
  readonly kinds?: readonly RequestKind[];
  /** @default 100 */
  readonly limit?: number;
  /** Last row of the page before; the list continues after it. */
  readonly after?: Pick<RequestRow, 'createdAt' | 'requestId'>;
}
