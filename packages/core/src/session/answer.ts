import type { Clock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import { contentHash } from '../base/hash.ts';
import type { IdSource } from '../base/id.ts';
import type { JsonValue } from '../base/json.ts';
import type { StandingExtent } from '../ledger/decisions/runtime-decisions.ts';
import type { Actor, RequestDecision } from '../ledger/event.ts';
import { laneMember } from '../ledger/folds/lanes.ts';
import type { LedgerStore, PostReceipt } from '../ledger/port.ts';

/** Answer to a request. */
export interface Answer {
  readonly decision?: RequestDecision;
  /** The input, the edited arguments, or the result. */
  readonly input?: JsonValue;
  readonly reason?: string;
  /** Key of the message that gives the answer. */
  readonly clientKey?: string;
  readonly by: Actor;
  /** Message of the user that was read as the input. */
  readonly text?: string;
  /** Later calls that the approval covers as well. */
  readonly always?: StandingExtent;
}

/**
 * Posts an answer. Of all answers, expiries and cancels one wins. The process that works on the
 * session takes it in.
 * @throws RequestNotFoundError, RequestSettledError, SessionNotFoundError
 */
export function postAnswer(
  {
    session,
    ports,
  }: {
    readonly session: string;
    readonly ports: { readonly store: LedgerStore; readonly clock: Clock };
  },
  requestId: string,
  { decision, input, reason, by, text, clientKey, always }: Answer,
): Promise<PostReceipt> {
  const parts = [by, decision ?? null, input ?? null, reason ?? null];
  const said = contentHash(always === undefined ? parts : [...parts, always]);
  return ports.store.post(session, {
    // The same answer sent twice counts once; a different answer is too late.
    key: `answer:${requestId}:${said}`,
    lane: 'input',
    by,
    at: ports.clock.now(),
    type: 'tool_input',
    settles: requestId,
    data: {
      requestId,
      ...defined({ decision, input, reason, text, clientKey, always }),
    },
  });
}

/**
 * Posts the refusal of a token, to be recorded once for each request and reason.
 * @throws SessionNotFoundError
 */
export function postTokenRefusal(
  {
    session,
    ports,
  }: {
    readonly session: string;
    readonly ports: { readonly store: LedgerStore; readonly clock: Clock };
  },
  { requestId, reason }: { readonly requestId: string; readonly reason: string },
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key: `token:${requestId}:${reason}`,
    lane: 'input',
    by: 'runtime',
    at: ports.clock.now(),
    type: 'token_refused',
    data: { requestId, reason },
  });
}

/**
 * Posts the note that the app was told of a request.
 * @throws SessionNotFoundError
 */
export function postNotified(
  {
    session,
    ports,
  }: {
    readonly session: string;
    readonly ports: { readonly store: LedgerStore; readonly clock: Clock };
  },
  requestId: string,
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key: `notified:${requestId}`,
    lane: 'input',
    by: 'runtime',
    at: ports.clock.now(),
    type: 'notified',
    data: { requestId },
  });
}

/**
 * Posts the withdrawal of a standing approval.
 * @throws SessionNotFoundError
 */
export function postWithdrawal(
  {
    session,
    ports,
  }: {
    readonly session: string;
    readonly ports: { readonly store: LedgerStore; readonly clock: Clock };
  },
  {
    id,
    by,
    reason,
  }: { readonly id: string; readonly by: Actor; readonly reason?: string | undefined },
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key: `withdraw_standing:${id}`,
    lane: 'control',
    by,
    at: ports.clock.now(),
    type: 'withdraw_standing',
    data: { requestId: id, ...defined({ reason }) },
  });
}

/** A ledger that items are posted to. */
type Addressee = {
  readonly session: string;
  readonly ports: { readonly store: LedgerStore; readonly clock: Clock; readonly ids: IdSource };
};

/**
 * Posts a cancel of the open run of a lane, or of one given run.
 * @throws SessionNotFoundError
 */
export function postCancel(
  { session, ports }: Addressee,
  {
    by,
    reason,
    runId,
    lane,
  }: {
    readonly by: Actor;
    readonly reason?: string | undefined;
    readonly runId?: string | undefined;
    readonly lane?: string | undefined;
  },
): Promise<PostReceipt> {
  const data = { ...defined({ reason, runId }), ...laneMember(lane) };
  return ports.store.post(session, {
    key: `cancel:${ports.ids.next()}`,
    lane: 'control',
    by,
    at: ports.clock.now(),
    type: 'cancel',
    data,
  });
}

/**
 * Posts a pause of the run of a lane: nothing new begins.
 * @throws SessionNotFoundError
 */
export function postPause(
  { session, ports }: Addressee,
  {
    by,
    reason,
    lane,
  }: {
    readonly by: Actor;
    readonly reason?: string | undefined;
    readonly lane?: string | undefined;
  },
): Promise<PostReceipt> {
  const data = { ...defined({ reason }), ...laneMember(lane) };
  return ports.store.post(session, {
    key: `pause:${ports.ids.next()}`,
    lane: 'control',
    by,
    at: ports.clock.now(),
    type: 'pause',
    data,
  });
}

/**
 * Posts an interruption of the run of a lane: the model calls under way are cut off.
 * @throws SessionNotFoundError
 */
export function postInterrupt(
  { session, ports }: Addressee,
  {
    by,
    next,
    reason,
    lane,
  }: {
    readonly by: Actor;
    readonly next: 'pause' | 'continue';
    readonly reason?: string | undefined;
    readonly lane?: string | undefined;
  },
): Promise<PostReceipt> {
  const data = { next, ...defined({ reason }), ...laneMember(lane) };
  return ports.store.post(session, {
    key: `interrupt:${ports.ids.next()}`,
    lane: 'control',
    by,
    at: ports.clock.now(),
    type: 'interrupt',
    data,
  });
}

/** A message for a session, in whatever process it is worked on. */
export interface PostedMessage {
  readonly by: Actor;
  readonly invocationId?: string | undefined;
  /** True to abort the model call that is under way, so that the next one has the message. */
  readonly interrupt?: boolean | undefined;
  /** Key of the message: a message that is sent twice under one key counts once. */
  readonly clientKey?: string | undefined;
  readonly lane?: string | undefined;
}

/** @throws SessionNotFoundError */
export function postMessage(
  { session, ports }: Addressee,
  text: string,
  { by, invocationId, interrupt, clientKey, lane }: PostedMessage,
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key: `message:${clientKey ?? ports.ids.next()}`,
    lane: interrupt === true ? 'control' : 'input',
    by,
    at: ports.clock.now(),
    type: 'user',
    data: {
      text,
      ...defined({ invocationId }),
      ...(interrupt === true ? { interrupt } : {}),
      ...defined({ clientKey }),
      ...laneMember(lane),
    },
  });
}

/** Permissions for a grant or a revocation. */
export interface PostedGrant {
  readonly permissions: readonly string[];
  readonly by: Actor;
  readonly reason?: string | undefined;
  /**
   * Id of the run that begins with them. When another run is open, they go to that one.
   * @default the session
   */
  readonly runId?: string | undefined;
  /** Lane of that run. */
  readonly lane?: string | undefined;
}

/** @throws SessionNotFoundError */
export function postGrant(
  { session, ports }: Addressee,
  type: 'grant' | 'revoke',
  { permissions, by, reason, runId, lane }: PostedGrant,
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key: `${type}:${ports.ids.next()}`,
    // Control items come before the inputs that need the permissions.
    lane: 'control',
    by,
    at: ports.clock.now(),
    type,
    data: {
      permissions,
      ...defined({ reason, runId }),
      ...laneMember(lane),
    },
  });
}

/** The true outcome of a call of unknown outcome. */
export interface Resolution {
  /** True when the call or the effect took place. */
  readonly happened: boolean;
  /** Result of what took place. @default null */
  readonly result?: JsonValue;
  /**
   * Reason why it failed for good, without an effect.
   * @default an effect of a step or a tool is tried again
   */
  readonly failed?: string;
  readonly by: Actor;
}

/**
 * Posts the true outcome of a call whose outcome was unknown.
 * @throws SessionNotFoundError
 */
export function postResolution(
  { session, ports }: Addressee,
  callId: string,
  key: string,
  { happened, result, failed, by }: Resolution,
): Promise<PostReceipt> {
  return ports.store.post(session, {
    key,
    lane: 'input',
    by,
    at: ports.clock.now(),
    type: 'tool_input',
    data: defined({ resolves: callId, happened, result, failed }),
  });
}
