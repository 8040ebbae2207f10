import { defined } from '../../base/defined.ts';
import { deepFreeze, type JsonValue } from '../../base/json.ts';
import type { EventDraft, RequestDetails, RequestKind } from '../../ledger/event.ts';
import type { CallState, RequestWithAnswer } from '../../loop/call-state.ts';
import { isApproval } from '../../session/pending-request.ts';
import { ToolFailure } from '../../tools/errors.ts';
import type { RequestOptions } from '../../tools/request-options.ts';
import type { FinalizeContext, Tool } from '../../tools/tool.ts';
import { validateArgs, validateInput } from '../../tools/validate.ts';
import { attemptsOf } from '../tool-call/made-attempts.ts';
import type { ToolCallPorts } from '../tool-call/ports.ts';
import { refusalDraft } from '../tool-call/refusal-draft.ts';
import { cancelledBefore, requestExpired, requestRejected } from '../tool-call/result-texts.ts';
import type { Writes } from '../writes.ts';
import { requestFingerprint } from './fingerprint.ts';
import { ask, callSummary, requestDecision } from './question.ts';
import { coveredDraft } from './standing.ts';

/** Milliseconds within which an approval must be used. */
const defaultUseWithin = 24 * 3_600_000;

/** A call that may have to wait for an answer before it is attempted. */
export interface AskingCall {
  readonly state: CallState;
  readonly tool: Tool;
  readonly ports: ToolCallPorts;
  /** The prepared arguments. */
  readonly args: unknown;
  /** Question that a person must confirm, whether or not the tool itself asks for approval. */
  readonly confirm: string | undefined;
  context(): FinalizeContext;
  /** Takes the decisions made before the request, to be appended with it. */
  takeWrites(): Writes;
  /** Keeps a decision that is appended with the attempt, or with the next request. */
  note(draft: EventDraft): void;
}

/**
 * Verdict on the answers of a call. `go`: the call continues with these arguments and this input.
 * `settled`: the call is settled, or waits for a new request. `none`: no answer counts, and the
 * call is prepared and may ask.
 */
export type Answers =
  | {
      readonly verdict: 'go';
      readonly args: unknown;
      readonly input: unknown /** True when the arguments were edited and must be prepared. */;
      readonly edited: boolean;
    }
  | { readonly verdict: 'settled' }
  | { readonly verdict: 'none' };

/** True for a request that was made before an attempt with this tool. */
function isBeforeAttempt({ request }: RequestWithAnswer, tool: Tool): boolean {
  return request.attempt === undefined && request.name === tool.name;
}

/**
 * Reads the answers about a call that is about to be attempted. A bad or stale answer leads to a
 * new request, and the ledger says why.
 */
export async function takeAnswers(
  state: CallState,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<Answers> {
  const answered = state.answered.filter((one) => isBeforeAttempt(one, tool));
  const last = answered.at(-1);
  if (last === undefined) return { verdict: 'none' };
  const reader = new AnswerReader(state, tool, ports);
  // An attempt has used its answers: a later attempt of the call follows the same ones.
  if (attemptsOf(state).length === 0) {
    const stale = answered.find((one) => reader.staleness(one) !== undefined);
    if (stale !== undefined) return reader.askAgain(stale, reader.staleness(stale) as string);
  }
  return reader.take(last, answered);
}

class AnswerReader {
  readonly #state: CallState;
  readonly #tool: Tool;
  readonly #ports: ToolCallPorts;

  constructor(state: CallState, tool: Tool, ports: ToolCallPorts) {
    this.#state = state;
    this.#tool = tool;
    this.#ports = ports;
  }

  /** Reason for which an answer no longer counts. `undefined`: it counts. */
  staleness({ request, answer }: RequestWithAnswer): string | undefined {
    const { ledger, clock } = this.#ports;
    const args = ledger.resolve(request.args);
    // A rejection counts, whatever the tool is now.
    const isChanged =
      answer.decision !== 'reject' && requestFingerprint(this.#tool, args) !== request.fingerprint;
    if (isChanged) return 'the tool has changed since it was asked';
    const isForeign = request.requestId !== ledger.requestId(request.callId, request.generation);
    // An approval holds for one call of one ledger: a fork or copy does not spend it a second time.
    // Input is only information, so it holds in a copy too.
    if (isForeign && isApproval(request))
      return 'it was given in the ledger that this one is a copy of';
    const { useWithin } = request.request;
    // The answer may have been in the inbox for long.
    const givenAt = Math.min(answer.answeredAt ?? answer.at, answer.at);
    const isOld =
      request.kind === 'approval' && useWithin !== undefined && clock.now() - givenAt > useWithin;
    return isOld ? `the approval was not used within ${useWithin} ms` : undefined;
  }

  async take(last: RequestWithAnswer, answered: readonly RequestWithAnswer[]): Promise<Answers> {
    const { request, answer } = last;
    const { onExpire } = request.request;
    const value =
      answer.decision === 'expire' && typeof onExpire === 'object' ? onExpire.default : undefined;
    switch (answer.decision) {
      case 'reject':
        return this.#settle(requestRejected(answer.reason));
      case 'cancel':
        return this.#settle(cancelledBefore());
      case 'escalate':
        return this.#escalate(last);
      case 'expire':
        // An expired approval is granted only by the default 'approve'.
        if (
          value === undefined ||
          value === 'reject' ||
          (isApproval(request) && value !== 'approve')
        )
          return this.#settle(requestExpired());
        return this.#go(last, answered, value);
      case 'edit':
        return this.#edit(last);
      default:
        return this.#go(last, answered, undefined);
    }
  }

  #settle(result: ReturnType<typeof requestExpired>): Answers {
    this.#ports.ledger.append([refusalDraft(this.#state, this.#ports.path, result)]);
    return { verdict: 'settled' };
  }

  /**
   * Verdict that the call goes on, if its input still fits.
   * @param given default that replaces the answer of the last request, when that has expired
   */
  async #go(
    last: RequestWithAnswer,
    answered: readonly RequestWithAnswer[],
    given: JsonValue | undefined,
  ): Promise<Answers> {
    const { ledger } = this.#ports;
    const args = deepFreeze(ledger.resolve(last.request.args));
    const asked = answered.find(({ request }) => request.kind === 'input');
    if (asked === undefined) return { verdict: 'go', args, input: undefined, edited: false };
    const raw = asked === last && given !== undefined ? given : ledger.resolve(asked.answer.input);
    const checked = await validateInput(this.#tool, raw);
    // A default that does not fit would lead to the same request again and again.
    if (!checked.ok && asked === last && given !== undefined) return this.#settle(requestExpired());
    if (!checked.ok) return this.askAgain(asked, checked.message);
    return { verdict: 'go', args, input: checked.input, edited: false };
  }

  async #edit(last: RequestWithAnswer): Promise<Answers> {
    if (last.request.request.allowEdit === false)
      return this.askAgain(last, 'its arguments may not be edited');
    const validated = await validateArgs(this.#tool, this.#ports.ledger.resolve(last.answer.input));
    if (!validated.ok)
      return this.askAgain(last, 'the edited arguments do not fit the schema of the tool');
    return { verdict: 'go', args: validated.args, input: undefined, edited: true };
  }

  #escalate({ request }: RequestWithAnswer): Answers {
    const { escalateTo = [], ...rest } = request.request;
    const details: RequestDetails = { ...rest, mayDecide: escalateTo, onExpire: 'reject' };
    return this.#repeat(
      request,
      details,
      'escalate',
      `Nobody answered in time: it goes to ${escalateTo.join(', ')}.`,
    );
  }

  askAgain({ request }: RequestWithAnswer, why: string): Answers {
    // Arguments that another version of the tool prepared are prepared anew before the request.
    if (
      requestFingerprint(this.#tool, this.#ports.ledger.resolve(request.args)) !==
      request.fingerprint
    ) {
      const { ledger, path } = this.#ports;
      ledger.append([
        requestDecision(path, 'ask_again', `The answer is not used: ${why}.`, {
          requestId: request.requestId,
          kind: request.kind,
        }),
      ]);
      return { verdict: 'none' };
    }
    return this.#repeat(request, request.request, 'ask_again', `The answer is not used: ${why}.`);
  }

  #repeat(
    request: RequestWithAnswer['request'],
    details: RequestDetails,
    decided: 'escalate' | 'ask_again',
    reasoning: string,
  ): Answers {
    const { ledger, path, clock } = this.#ports;
    const { kind, callId, name, args, fingerprint } = request;
    const { expiresIn = defaultLifetime(kind, this.#tool, this.#ports) } = details;
    ask(
      ledger,
      {
        kind,
        path,
        callId,
        name,
        args: ledger.resolve(args),
        fingerprint,
        generation: this.#state.generation + 1,
        request: details,
        expiresAt: expiresIn === undefined ? undefined : clock.now() + expiresIn,
      },
      [requestDecision(path, decided, reasoning, { requestId: request.requestId, kind })],
    );
    return { verdict: 'settled' };
  }
}

/** True when a request of this kind has an answer that counts. */
function isGranted({ state, tool, ports }: AskingCall, kind: RequestKind): boolean {
  // An attempt has used the answers; another attempt of the same call follows them.
  if (attemptsOf(state).length > 0 && kind !== 'repeat') return true;
  const answered = state.answered.find(
    (one) => one.request.kind === kind && isBeforeAttempt(one, tool),
  );
  return (
    answered !== undefined &&
    requestFingerprint(tool, ports.ledger.resolve(answered.request.args)) ===
      answered.request.fingerprint
  );
}

/**
 * Makes the requests that are due before a call is attempted. Returns true when the call now waits
 * for an answer, or was aborted.
 */
export async function asksBeforeAttempt(call: AskingCall): Promise<boolean> {
  const { tool, ports, confirm } = call;
  const { yieldSchema, yieldOptions } = tool;
  const approval = tool.approval ?? (confirm === undefined ? undefined : {});
  if (approval !== undefined && !isGranted(call, 'approval')) {
    const isNeeded =
      confirm !== undefined || approval.when === undefined || (await approval.when(call.context()));
    if (ports.scope.aborted) return true;
    const covered = isNeeded && confirm === undefined ? coveredCall(call, approval) : undefined;
    if (covered !== undefined) call.note(covered);
    else if (isNeeded) {
      const {
        allowEdit = true,
        useWithinMs = defaultUseWithin,
        expiresInMs = ports.defaults.approvalExpiresInMs,
      } = approval;
      const options = allowEdit
        ? (['approve', 'edit', 'reject'] as const)
        : (['approve', 'reject'] as const);
      askFor(
        call,
        'approval',
        { ...approval, expiresInMs },
        {
          options,
          allowEdit,
          useWithin: useWithinMs,
          ...(tool.destructive ? { destructive: true } : {}),
          ...(allowEdit ? { inputSchema: tool.inputSchema } : {}),
        },
      );
      return true;
    }
  }
  if (yieldSchema === undefined || isGranted(call, 'input')) return false;
  const inputSchema = defined({ inputSchema: tool.yieldInputSchema });
  askFor(call, 'input', yieldOptions ?? {}, { options: ['answer', 'reject'], ...inputSchema });
  return true;
}

/**
 * Returns the decision that a standing approval covers the call. Requests that only some people
 * may decide are always made.
 */
function coveredCall(
  { args, context, ports, state, tool }: AskingCall,
  { mayDecide }: RequestOptions,
): EventDraft | undefined {
  const people = typeof mayDecide === 'function' ? mayDecide(context()) : mayDecide;
  if (people !== undefined) return undefined;
  const { ledger, path } = ports;
  return coveredDraft(ledger, { args, callId: state.call.callId, path, tool });
}

/**
 * Asks for approval of a call although an equal one may have taken effect. Returns true when the
 * call now waits for an answer.
 */
export function asksToRepeat(call: AskingCall, earlier: string): boolean {
  if (isGranted(call, 'repeat')) return false;
  const details = {
    args: call.args,
    earlierCall: earlier,
    why: 'An earlier call with the same arguments may have taken effect.',
  };
  askFor(
    call,
    'repeat',
    { expiresInMs: call.ports.defaults.approvalExpiresInMs },
    { options: ['approve', 'reject'], details: details as JsonValue },
  );
  return true;
}

/** Milliseconds that a request for input lasts where its tool does not say so. */
function defaultLifetime(
  kind: RequestKind,
  { yieldOptions }: Tool,
  { defaults }: ToolCallPorts,
): number | undefined {
  const { inputExpiresInMs } = defaults;
  const isEndless = kind !== 'input' || yieldOptions?.expiresInMs === false;
  return isEndless || inputExpiresInMs === false ? undefined : inputExpiresInMs;
}

function askFor(
  call: AskingCall,
  kind: RequestKind,
  options: RequestOptions,
  more: Pick<RequestDetails, 'options'> & Partial<RequestDetails>,
): void {
  const { state, tool, ports, args, confirm } = call;
  const { drafts, extras } = call.takeWrites();
  const { summary, details, mayDecide, expiresInMs, onExpire, escalateTo } = options;
  const people = typeof mayDecide === 'function' ? mayDecide(call.context()) : mayDecide;
  if (people?.length === 0)
    throw new ToolFailure(`Nobody may allow ${tool.name}: \`mayDecide\` gave an empty list.`, {
      errorType: 'nobody_may_decide',
    });
  // A default of the app is no part of the request: it may be another one in a later process.
  const ownMs = expiresInMs === false ? undefined : expiresInMs;
  const lastsMs = ownMs ?? defaultLifetime(kind, tool, ports);
  const shown = details === undefined ? undefined : details(call.context());
  const own = summary === undefined ? callSummary(tool.name, args) : summary(call.context());
  const question = {
    kind,
    path: ports.path,
    callId: state.call.callId,
    name: tool.name,
    args,
    generation: state.generation + 1,
    fingerprint: requestFingerprint(tool, args),
    expiresAt: lastsMs === undefined ? undefined : ports.clock.now() + lastsMs,
    request: {
      agent: state.call.agent,
      summary: kind === 'approval' && confirm !== undefined ? `${confirm} ${own}` : own,
      ...defined({ details: shown, mayDecide: people, expiresIn: ownMs, onExpire, escalateTo }),
      ...more,
    },
  };
  ask(ports.ledger, question, drafts, extras);
}
