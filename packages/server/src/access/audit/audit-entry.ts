import type { JsonObject, StoredEvent } from 'adjutant';
import type { Principal } from '../principal.ts';
import { type DecisionDraft, SystemLedger, type SystemLedgerPorts } from '../system-ledger.ts';

/**
 * `done`; `refused`: it could not be done as asked; `denied`: whoever asked may not; `failed`: it
 * went wrong inside.
 */
export type AuditOutcome = 'done' | 'refused' | 'denied' | 'failed';

/**
 * Entry about an action that was carried out or denied. It never holds what was sent: no bodies, no
 * credentials.
 */
export interface AuditEntry {
  /** Epoch milliseconds. */
  readonly at: number;
  /**
   * Caller: `key:<id>`, `jwt:<subject>`, `local`, `anonymous`, or `unknown` when the caller could
   * not be identified.
   */
  readonly principal: string;
  /** Name of the caller in the ledgers. */
  readonly actor: string;
  /** The call, by its operationId; `unknown` where there is no such route. */
  readonly action: string;
  /** Method and path of the route, with its parameters in braces. */
  readonly route: string;
  /** Target of the action: session, run, request, agent, key, operation. */
  readonly target: Readonly<Record<string, string>>;
  readonly outcome: AuditOutcome;
  readonly status: number;
  /** The code of the problem, if there was one. */
  readonly code?: string;
  readonly requestId: string;
  /** Where it came from. */
  readonly address?: string;
  /** Number of equal entries, when those of one minute are recorded as one. */
  readonly count: number;
}

/** Which part of the server writes audit entries, in their ledgers. */
const auditComponent = 'access';

export function draftOf(entry: AuditEntry, actor: Principal['actor']): DecisionDraft {
  const { at, action, route, outcome, status, ...rest } = entry;
  const reasoning = `${route} was answered with ${status}`;
  return {
    type: 'decision',
    by: actor,
    component: auditComponent,
    decision: outcome,
    reasoning,
    data: { at, action, route, status, ...rest } as JsonObject,
  };
}

const outcomes: readonly string[] = [
  'done',
  'refused',
  'denied',
  'failed',
] satisfies readonly AuditOutcome[];

/** The entry that an event of an audit ledger is; `undefined` when it is none. */
export function entryOf(event: StoredEvent): AuditEntry | undefined {
  if (
    event.type !== 'decision' ||
    event.component !== auditComponent ||
    !outcomes.includes(event.decision)
  )
    return undefined;
  // Written by this file; the store returns it unchanged.
  return {
    ...(event.data as Omit<AuditEntry, 'outcome'>),
    outcome: event.decision as AuditOutcome,
  };
}

/** The name under which audit entries lie beside the sessions of an app. */
export function auditApp(app: string): string {
  return `${app}:audit`;
}

/** The day of a time, in UTC: `2026-11-22`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The ledger of one process and one day. */
export function auditLedger(
  ports: Pick<SystemLedgerPorts, 'store' | 'tenant' | 'clock' | 'ids'>,
  app: string,
  day: string,
  process: string,
): SystemLedger {
  return new SystemLedger({
    ...ports,
    app: auditApp(app),
    session: `${day}/${process}`,
    title: `Audit of ${day}`,
  });
}
