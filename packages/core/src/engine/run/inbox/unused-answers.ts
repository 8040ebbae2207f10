import { isAdjutantError } from '../../../base/error.ts';
import { requestDecision } from '../../../effects/request/question.ts';
import {
  answeredArgs,
  assertArgsFit,
  assertToolIsThere,
  needsTool,
} from '../../../effects/request/unused-answer.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft, EventOf, RequestKind } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { belongsTo } from '../../../ledger/path.ts';
import type { RequestWithAnswer } from '../../../loop/call-state.ts';
import type { Agent } from '../../../runnables/agent.ts';
import { runnableOf } from '../../../tools/called-runnable.ts';
import { validateArgs } from '../../../tools/validate.ts';
import { AgentTools } from '../../agent/tool-lookup.ts';
import type { AnyRunnable } from '../../frame/registry.ts';
import type { RunContext } from '../../frame/run-context.ts';

/** Answers of people about calls of a run that the run has not used yet. */
function unusedAnswers(ledger: Ledger, runId: string): RequestWithAnswer[] {
  const root = ledger.invocations.byPath.get(runId);
  if (root === undefined) return [];
  const asked = new Map<string, EventOf<'tool_yield'>>();
  const unused = new Map<string, RequestWithAnswer>();
  const use = (callId: string, kind?: string): void => {
    for (const [key, { request }] of unused)
      if (request.callId === callId && (kind === undefined || request.kind === kind))
        unused.delete(key);
  };
  for (let seq = root.start.seq; seq <= ledger.lastSeq; seq++) {
    const event = ledger.events[seq - 1];
    if (event === undefined || !belongsTo(event.invocationId, runId)) continue;
    if (event.type === 'tool_yield') {
      asked.set(event.requestId, event);
      use(event.callId, event.kind);
    } else if (
      event.type === 'tool_attempt' ||
      (event.type === 'tool_result' && event.late !== true)
    )
      use(event.callId);
    else if (event.type === 'tool_input' && event.by !== 'runtime') {
      const request = asked.get(event.requestId);
      if (request !== undefined && request.kind !== 'limit')
        unused.set(event.requestId, { request, answer: event });
    }
  }
  return [...unused.values()].filter(({ request }) => isOpen(ledger, request.invocationId));
}

function isOpen({ invocations: { byPath } }: Ledger, path: string | undefined): boolean {
  for (
    let record = byPath.get(path ?? '');
    record !== undefined;
    record = byPath.get(record.parent ?? '')
  ) {
    if (record.end !== undefined && record.next === undefined) return false;
  }
  return true;
}

/**
 * Checks that the present code can use the answers of people, before the run goes on.
 * @throws LedgerMismatchError
 */
export async function assertAnswersUsable(run: RunContext): Promise<void> {
  for (const given of unusedAnswers(run.ledger, run.runId))
    if (needsTool(run.ledger, given)) await assertUsable(run, given);
}

/**
 * The definition of an agent that has begun. `undefined` for an agent that a body has made for
 * itself: its definition is looked up when its body asks for it.
 */
function definitionOf({ app, ledger }: RunContext, path: string | undefined): Agent | undefined {
  const names: string[] = [];
  for (
    let record = ledger.invocations.byPath.get(path ?? '');
    record !== undefined;
    record = ledger.invocations.byPath.get(record.parent ?? '')
  ) {
    const { kind, name } = record;
    let found = app.registry.has(name) ? app.registry.get(name) : undefined;
    // The key of a question or a sleep may be the name of an agent.
    if (found?.kind !== kind) found = undefined;
    for (const below of names) {
      const tools = found?.kind === 'agent' ? new AgentTools(found, app.tools).all() : [];
      found = tools.map(runnableOf).find((runnable) => runnable?.name === below) as
        | AnyRunnable
        | undefined;
    }
    names.unshift(name);
    if (found !== undefined) return found.kind === 'agent' ? found : undefined;
  }
  return undefined;
}

async function assertUsable(run: RunContext, given: RequestWithAnswer): Promise<void> {
  const { ledger, app } = run;
  const record = ledger.invocations.byPath.get(given.request.invocationId ?? '');
  const agent = definitionOf(run, record?.path);
  if (agent === undefined) return;
  const { name, attempt, callId } = given.request;
  const tool = new AgentTools(agent, app.tools).find(name);
  if (tool === undefined) assertToolIsThere(ledger, given, agent.name);
  if (tool === undefined || attempt !== undefined) return;
  const call = record?.events.findLast(
    (event) => event.type === 'tool_call' && event.callId === callId,
  );
  const asked =
    call?.type === 'tool_call' && call.name === name
      ? await validateArgs(tool, ledger.resolve(call.args))
      : undefined;
  if (asked?.ok !== true && (await answeredArgs(ledger, given, tool)) === undefined)
    assertArgsFit(ledger, given);
}

/**
 * Records the answers that a run could not use because of its code, with the reason. Each is
 * recorded once, even when the run is tried several times.
 */
export async function noteUnusable(ledger: Ledger, runId: string, error: unknown): Promise<void> {
  if (ledger.failure !== undefined || ledger.lease.claim === undefined) return;
  if (!isAdjutantError(error, 'ledger_mismatch') && !isAdjutantError(error, 'unknown_runnable'))
    return;
  const drafts: EventDraft[] = [];
  const note = (
    path: string,
    requestId: string,
    said: string,
    data: { readonly callId: string; readonly kind: RequestKind; readonly tool: string },
  ): void => {
    const reasoning = `${said} is not used: ${error.message}`;
    const isNoted = ledger.events.some(
      (event) =>
        isDecision(event, 'request', 'unusable') &&
        event.data?.requestId === requestId &&
        event.reasoning === reasoning,
    );
    if (!isNoted)
      drafts.push(
        requestDecision(path, 'unusable', reasoning, { requestId, ...data, code: error.code }),
      );
  };
  for (const { request, answer } of unusedAnswers(ledger, runId)) {
    const { requestId, callId, kind, name, invocationId = runId } = request;
    note(invocationId, requestId, `The answer "${answer.decision ?? 'answer'}" of ${answer.by}`, {
      callId,
      kind,
      tool: name,
    });
  }
  // Answers that no run has taken in yet stay in the inbox.
  for (const { settles, by, data } of await ledger.ports.store.inbox(ledger.session)) {
    const request = ledger.requests.get(settles ?? '');
    if (request === undefined || !belongsTo(request.invocationId, runId)) continue;
    const { requestId, callId, kind, name, invocationId = runId } = request;
    note(invocationId, requestId, `The answer "${String(data['decision'] ?? 'answer')}" of ${by}`, {
      callId,
      kind,
      tool: name,
    });
  }
  if (drafts.length > 0) ledger.append(drafts);
}
