import { sha256 } from '../base/hash.ts';
import { canonicalJson, coerceToJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { EventDraft, EventOf, RequestDetails, RequestKind } from '../ledger/event.ts';
import { pendingRequestOf } from '../ledger/folds/request-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { PendingRequest } from '../ledger/port.ts';
import type { Tool } from '../tools/tool.ts';

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

const definitionHashes = new WeakMap<Tool, string>();

/** Hash of the parts of a tool's definition on which an answer depends. */
function definitionHash(tool: Tool): string {
  let hash = definitionHashes.get(tool);
  if (hash === undefined) {
    hash = sha256(
      canonicalJson([
        tool.name,
        tool.version ?? null,
        tool.inputSchema,
        tool.yieldInputSchema ?? null,
      ] as unknown as JsonValue),
    );
    definitionHashes.set(tool, hash);
  }
  return hash;
}

/**
 * Fingerprint that binds an answer to its request. It covers the tool, its version and schemas, and
 * the prepared arguments.
 */
export function requestFingerprint(tool: Tool, args: unknown): string {
  return sha256(`${definitionHash(tool)}\n${canonicalJson(coerceToJson(args).value)}`).slice(0, 32);
}

/** Returns a request as an event, and as the row by which people find and answer it. */
export function questionDraft(
  ledger: Ledger,
  question: Question,
): { readonly draft: EventDraft; readonly row: PendingRequest } {
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
    ...(attempt === undefined ? {} : { attempt }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
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
export function requestDecision(
  path: string,
  decision: string,
  reasoning: string,
  data: JsonObject,
): EventDraft {
  return {
    type: 'decision',
    by: 'runtime',
    invocationId: path,
    component: 'request',
    decision,
    reasoning,
    data,
  };
}

const longestArgs = 160;

/** Returns a call as one line for people. */
export function callSummary(name: string, args: unknown): string {
  const text = JSON.stringify(coerceToJson(args).value) ?? '';
  return `${name}(${text.length <= longestArgs ? text : `${text.slice(0, longestArgs - 1)}…`})`;
}

/**
 * Withdraws a request that this ledger cannot have answered. It belongs to the ledger of which this
 * one is a fork or copy, or its tool has changed. A request that is still needed is made anew.
 */
export function withdrawIfStale(
  ledger: Ledger,
  path: string,
  request: EventOf<'tool_yield'>,
  tool: Tool | undefined,
): void {
  const { requestId, callId, generation, kind, fingerprint, args } = request;
  const isForeign = requestId !== ledger.requestId(callId, generation);
  const isChanged =
    kind !== 'limit' &&
    tool !== undefined &&
    requestFingerprint(tool, ledger.resolve(args)) !== fingerprint;
  if (!isForeign && !isChanged) return;
  const why = isForeign
    ? 'it was asked in the ledger that this one is a copy of'
    : `the tool ${request.name} has changed since it was asked`;
  ledger.append(
    [
      requestDecision(path, 'withdraw', `The question is not waited for any more: ${why}.`, {
        requestId,
        callId,
        kind,
      }),
    ],
    isForeign ? undefined : { settles: [{ requestId, status: 'withdrawn', by: 'runtime' }] },
  );
}
