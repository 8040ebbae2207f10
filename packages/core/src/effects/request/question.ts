import { defined } from '../../base/defined.ts';
import { coerceToJson } from '../../base/json.ts';
import { type DecisionDraft, decision } from '../../ledger/decisions/decision.ts';
import type { DataOf, DecisionName } from '../../ledger/decisions/decision-map.ts';
import type { EventDraft, EventOf, RequestDetails, RequestKind } from '../../ledger/event.ts';
import { pendingRequestOf } from '../../ledger/folds/request-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { RequestDraft } from '../../ledger/port.ts';

/** Request about a call, or about an agent at a limit. */
export interface Question {
  readonly kind: RequestKind;
  readonly path: string;
  readonly callId: string;
  readonly name: string;
  readonly args: unknown;
  readonly generation: number;
  readonly fingerprint: string;
  readonly request: RequestDetails;
  readonly attempt?: number | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}

/** Returns a request as an event, and as the row by which people find and answer it. */
export function questionDraft(
  ledger: Ledger,
  question: Question,
): { readonly draft: EventDraft; readonly row: RequestDraft } {
  const { kind, path, callId, name, generation, fingerprint, request, attempt, expiresAt } =
    question;
  const requestId = ledger.requestId(callId, generation);
  const draft: Omit<EventOf<'tool_yield'>, 'v' | 'seq' | 'id' | 'at'> = {
    type: 'tool_yield',
    by: 'runtime',
    invocationId: path,
    callId,
    name,
    args: coerceToJson(question.args).value,
    kind,
    requestId,
    generation,
    fingerprint,
    request,
    ...defined({ attempt, expiresAt }),
  };
  const row = pendingRequestOf(
    { v: 1, seq: 0, id: '', at: ledger.ports.clock.now(), ...draft },
    ledger.session,
    ledger.user,
  );
  return { draft, row };
}

/** Appends a request to the ledger. */
export function ask(
  ledger: Ledger,
  question: Question,
  before: readonly EventDraft[] = [],
  extras?: BatchExtras,
): void {
  const { draft, row } = questionDraft(ledger, question);
  ledger.append([...before, draft], { ...extras, requests: [row] });
}

/**
 * Returns the same request once more, for an answer that the store accepted but that does not
 * count. It expires when the original would have expired.
 */
export function sameQuestion(ledger: Ledger, event: EventOf<'tool_yield'>): Question {
  const {
    kind,
    invocationId = '',
    callId,
    name,
    args,
    fingerprint,
    generation,
    request,
    attempt,
    expiresAt,
  } = event;
  return {
    kind,
    path: invocationId,
    callId,
    name,
    args: ledger.resolve(args),
    fingerprint,
    generation: generation + 1,
    request: ledger.resolve(request) as RequestDetails,
    attempt,
    expiresAt,
  };
}

/** Decision that explains why a request is repeated, or why its answer is not carried out. */
export function requestDecision<Name extends DecisionName<'request'>>(
  path: string,
  name: Name,
  reasoning: string,
  data: DataOf<'request', Name>,
): DecisionDraft {
  return decision<'request', DecisionName<'request'>>('request', name, {
    invocationId: path,
    reasoning,
    data,
  });
}

const longestArgs = 160;

/** Returns a call as one line for people. */
export function callSummary(name: string, args: unknown): string {
  const text = JSON.stringify(coerceToJson(args).value) ?? '';
  return `${name}(${text.length <= longestArgs ? text : `${text.slice(0, longestArgs - 1)}…`})`;
}
