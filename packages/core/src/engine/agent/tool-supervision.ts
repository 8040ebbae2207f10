import { AdjutantError, type ErrorRecord, isAdjutantError } from '../../base/error.ts';
import { coerceToJson, type JsonValue } from '../../base/json.ts';
import { ownRetryDelay } from '../../effects/attempt-recorder.ts';
import type {
  CheckedCall,
  CheckMode,
  EndedAttempt,
  SupervisedCall,
  SupervisedResult,
  ToolSupervisor,
  Writes,
} from '../../effects/tool-ports.ts';
import { joinedWrites, noWrites } from '../../effects/tool-writes.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { isSuccess, type ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Position } from '../../loop/position.ts';
import type { ErrorAction, HookToolCall } from '../../runnables/hooks.ts';
import { type BreakerChange, breakerOutcome } from '../../supervision/circuit-breaker.ts';
import { type CallEvidence, vetoType } from '../../supervision/evidence.ts';
import { applyGuardrails, type Guardrail, guardrailsAt } from '../../supervision/guardrail.ts';
import {
  type JudgedCall,
  judgeCall,
  judgeResult,
  type LoopVerdict,
} from '../../supervision/loop-detector.ts';
import type { Supervision } from '../../supervision/options.ts';
import { missingPermissions } from '../../supervision/permission.ts';
import { checkResult } from '../../supervision/result-check.ts';
import { toolResult, toToolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool.ts';
import { abortAsRecorded, abortForHandler } from '../frame/recorded-abort.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { decisionDraft, ErrorRouting, mayMend, mayRepeat } from './error-routing.ts';
import { delayOf, type HookPipeline } from './hook-pipeline.ts';
import { SeenCalls } from './seen-calls.ts';
import type { AgentTools } from './tool-lookup.ts';

/** Calls that are looked back at where the loop detector is off. */
const defaultWindow = 30;

const nothing: readonly never[] = Object.freeze([]);

/** What a call has come to so far. */
interface Outcome {
  result: ToolResult;
  notes: readonly string[];
  drafts: readonly EventDraft[];
}

/**
 * Watches over the tool calls of one agent invocation: checks before, checks after, and what is
 * done about failures.
 */
export class ToolSupervision implements ToolSupervisor {
  readonly #frame: BodyFrame;
  readonly #position: Position;
  readonly #supervision: Supervision;
  readonly #callGuards: readonly Guardrail[];
  readonly #resultGuards: readonly Guardrail[];
  readonly #hooks: HookPipeline | undefined;
  readonly #hasAfterHooks: boolean;
  readonly #routing: ErrorRouting | undefined;
  readonly #mayMend: (tool: string, errorType: string) => boolean;
  readonly #seen: SeenCalls;

  constructor(
    frame: BodyFrame,
    position: Position,
    supervision: Supervision,
    hooks: HookPipeline | undefined,
    tools: Pick<AgentTools, 'find'>,
  ) {
    this.#frame = frame;
    this.#position = position;
    this.#supervision = supervision;
    this.#callGuards = guardrailsAt(supervision.guardrails, 'toolCall');
    this.#resultGuards = guardrailsAt(supervision.guardrails, 'toolResult');
    this.#hooks = hooks;
    this.#hasAfterHooks =
      hooks !== undefined &&
      (hooks.has('afterTool') || hooks.has('onToolError') || hooks.has('errorHandlers'));
    this.#mayMend = (name, errorType) => mayMend(tools.find(name), errorType);
    const { errors } = supervision;
    this.#seen = new SeenCalls(frame, position, supervision.loops?.window ?? defaultWindow);
    const find = (name: string) => tools.find(name);
    this.#routing = errors && new ErrorRouting({ frame, position, errors, seen: this.#seen, find });
  }

  check(
    call: SupervisedCall,
    mode: CheckMode,
  ): CheckedCall | undefined | Promise<CheckedCall | undefined> {
    const missing = this.#missing(call);
    const guarded =
      missing === undefined && this.#callGuards.length > 0 ? this.#guarded(call, mode) : undefined;
    const denied = missing ?? guarded?.refused;
    // Also a call that is not allowed is a loop when it is made again and again.
    const refused =
      (mode === 'first' ? this.#veto(call) : undefined) ??
      denied ??
      this.#circuit(call, false)?.refused;
    // What was decided before is written down all the same.
    if (refused !== undefined)
      return { refused, guidance: [], writes: guarded?.writes ?? noWrites };
    if (mode === 'approved' || this.#hooks?.has('beforeTool') !== true) return guarded;
    return this.#hooked(hookCall(call, guarded?.args), this.#hooks, guarded);
  }

  admit(call: SupervisedCall): CheckedCall | undefined {
    return this.#circuit(call, true);
  }

  heed({ tool, state }: SupervisedCall, result: ToolResult): readonly EventDraft[] {
    const { run } = this.#frame;
    const breakers = this.#supervision.circuitBreaker ? run.app.circuitBreakers : undefined;
    const outcome = breakerOutcome(result);
    if (breakers === undefined || (breakers.isQuiet && outcome !== 'failure')) return nothing;
    const change = breakers.record(tool.name, outcome, run.app.clock.monotonic());
    return change === undefined ? nothing : [this.#breakerDecision(tool.name, state, change)];
  }

  late(attempt: EndedAttempt): SupervisedResult {
    return this.#settled(this.#checked(attempt), noWrites);
  }

  landing(callId: string, events: readonly Event[]): void {
    this.#hooks?.takeWrites(callId);
    const end = events.at(-1);
    if (end?.type === 'tool_result')
      abortAsRecorded(this.#frame.run, events, String(end.result.content));
  }

  #checked(attempt: EndedAttempt): Outcome {
    const outcome: Outcome = { result: attempt.result, notes: attempt.guidance, drafts: nothing };
    this.#checkResult(attempt, outcome);
    if (this.#resultGuards.length > 0) this.#guardResult(attempt, outcome);
    return outcome;
  }

  ended(attempt: EndedAttempt): SupervisedResult | Promise<SupervisedResult> {
    const outcome = this.#checked(attempt);
    if (this.#hooks === undefined || !this.#hasAfterHooks)
      return this.#concluded(attempt, outcome, noWrites);
    return this.#afterHooks(attempt, outcome, this.#hooks);
  }

  refused(state: CallState, tool: Tool | undefined, result: ToolResult): SupervisedResult {
    const vetoed =
      state.attempts.length === 0 && state.answered.length === 0
        ? this.#vetoOf(state, tool)
        : undefined;
    if (vetoed !== undefined) return vetoed;
    const routed = this.#routing?.refused(state, tool, result);
    const outcome: Outcome = {
      result: routed?.result ?? result,
      notes: routed?.notes ?? [],
      drafts: routed?.writes.drafts ?? [],
    };
    if (routed?.retryAfterMs !== undefined) return routed;
    this.#warn(state, tool !== undefined, outcome);
    return {
      result: outcome.result,
      notes: outcome.notes,
      writes: { drafts: outcome.drafts, extras: undefined },
    };
  }

  withoutFallback(state: CallState, why: string): SupervisedResult {
    const failed = state.attempts.findLast(({ result }) => result !== undefined)?.result?.result;
    const name = state.fallback ?? '';
    const result =
      failed ?? toolResult.permanent(`The call failed, and ${why}.`, { errorType: 'unknown_tool' });
    const draft = decisionDraft(
      this.#frame.record.path,
      'error_router',
      'report',
      `The tool ${name} cannot stand in: ${why}.`,
      ['fallbackTool'],
      {
        callId: state.call.callId,
        tool: state.call.name,
        fallback: name,
      },
    );
    return {
      result,
      notes: [`The tool ${name} could not be run in its place: ${why}.`],
      writes: { drafts: [draft], extras: undefined },
    };
  }

  #judged({ call }: CallState, isKnown: boolean): JudgedCall {
    return { name: call.name, args: call.args, turn: this.#position.turn, isKnown };
  }

  #missing({ tool, state }: SupervisedCall): SupervisedResult | undefined {
    if (tool.requiresPermission.length === 0) return undefined;
    const missing = missingPermissions(tool.requiresPermission, this.#frame.run.permissions);
    if (missing.length === 0) return undefined;
    const names = missing.join(', ');
    const result = toolResult.blocked(
      `The tool ${tool.name} was not run: it is not allowed here (${names}). Do not call it again.`,
      {
        errorType: 'permission_denied',
        alternatives: ['do it without this tool', 'tell the user what is not allowed'],
      },
    );
    const reasoning =
      `The tool ${tool.name} needs ${names}, which neither the runtime nor the session nor ` +
      'the run allows.';
    return this.#refusal(result, 'permissions', 'refuse', reasoning, ['grant'], {
      callId: state.call.callId,
      tool: tool.name,
      missing: [...missing],
    });
  }

  #veto({ state, tool }: SupervisedCall): SupervisedResult | undefined {
    return state.fallback === undefined ? this.#vetoOf(state, tool) : undefined;
  }

  #vetoOf(state: CallState, tool: Tool | undefined): SupervisedResult | undefined {
    const { loops } = this.#supervision;
    if (loops === undefined || !this.#seen.has(state, tool !== undefined)) return undefined;
    const isExhausted = (last: CallEvidence, failures: number) =>
      this.#routing?.isExhausted(last, failures, tool) ?? false;
    const verdict = judgeCall(
      this.#seen.all(),
      this.#judged(state, tool !== undefined),
      loops,
      isExhausted,
      this.#mayMend,
    );
    if (verdict === undefined) return undefined;
    const result = toolResult.blocked(verdict.message, { errorType: vetoType });
    const { data, reasoning, alternatives } = loopDetails(state, verdict);
    return this.#refusal(result, 'loop_detector', 'block', reasoning, alternatives, data);
  }

  /** Tells the model with a result that the call repeats itself. */
  #warn(state: CallState, isKnown: boolean, outcome: Outcome): void {
    const { loops } = this.#supervision;
    if (loops === undefined || !this.#seen.has(state, isKnown)) return;
    const verdict = judgeResult(
      this.#seen.all(),
      this.#judged(state, isKnown),
      outcome.result,
      loops,
    );
    if (verdict === undefined) return;
    const { data, reasoning, alternatives } = loopDetails(state, verdict);
    outcome.notes = [...outcome.notes, verdict.message];
    outcome.drafts = [
      ...outcome.drafts,
      this.#decision('loop_detector', 'warn', reasoning, alternatives, data),
    ];
  }

  #guarded({ tool, args, state }: SupervisedCall, mode: CheckMode): CheckedCall | undefined {
    const given = coerceToJson(args).value;
    const { value, denied, guidance, confirm, decisions } = applyGuardrails(
      'toolCall',
      this.#callGuards,
      {
        agent: state.call.agent,
        round: state.call.round,
        name: tool.name,
        args: given,
      },
    );
    if (decisions.length === 0) return undefined;
    const drafts = decisions.map((decision): EventDraft => this.#noted(decision, state));
    // A person has seen and allowed these very arguments.
    if (mode === 'approved') return { guidance, writes: noWrites };
    if (denied !== undefined) {
      const result = toolResult.blocked(denied.message, { errorType: 'guardrail_denied' });
      return {
        refused: { result, notes: guidance, writes: { drafts, extras: undefined } },
        guidance: [],
        writes: noWrites,
      };
    }
    return {
      ...(value === given ? {} : { args: value }),
      guidance,
      confirm: confirm?.summary,
      writes: mode === 'again' ? noWrites : { drafts, extras: undefined },
    };
  }

  #circuit({ tool, state }: SupervisedCall, takes: boolean): CheckedCall | undefined {
    const { run } = this.#frame;
    const breakers = this.#supervision.circuitBreaker ? run.app.circuitBreakers : undefined;
    if (breakers === undefined) return undefined;
    const { tape } = run.ledger.ports;
    // How often a tool has failed is also known from other sessions.
    const recorded = tape?.circuit({
      path: this.#frame.record.path,
      callId: state.call.callId,
      tool: tool.name,
    });
    if (recorded === undefined && breakers.isQuiet) return undefined;
    const now = run.app.clock.monotonic();
    const admission =
      recorded ?? (takes ? breakers.admit(tool.name, now) : breakers.peek(tool.name, now));
    if (admission.admitted) {
      if (!takes || admission.change === undefined) return undefined;
      const drafts = [this.#breakerDecision(tool.name, state, admission.change)];
      return { guidance: [], writes: { drafts, extras: undefined } };
    }
    const { failures, retryInMs } = admission;
    const seconds = Math.ceil(retryInMs / 1_000);
    const result = toolResult.transient(
      `The tool ${tool.name} was not run: it failed ${failures} times in a row and is left ` +
        `alone for a while. It may work again in ${seconds} s.`,
      {
        errorType: 'circuit_open',
        alternatives: ['do something else first', 'do it without this tool'],
      },
    );
    const reasoning =
      `The tool ${tool.name} failed ${failures} times in a row; it is not called for another ` +
      `${seconds} s.`;
    const refused = this.#refusal(
      result,
      'circuit_breaker',
      'refuse',
      reasoning,
      ['call it all the same'],
      {
        callId: state.call.callId,
        tool: tool.name,
        failures,
        retryInMs,
      },
    );
    const routed = this.#routing?.standIn(state, tool, result);
    return refusedWith(
      routed === undefined
        ? refused
        : { ...routed, writes: joinedWrites([refused.writes, routed.writes]) },
    );
  }

  #breakerDecision(
    tool: string,
    { call }: CallState,
    { change, failures }: BreakerChange,
  ): EventDraft {
    const { run } = this.#frame;
    const resetAfter = run.app.circuitBreakers?.options.resetAfter ?? 0;
    const reasonings = {
      open:
        `The tool ${tool} failed ${failures} times in a row: it is not called for ` +
        `${resetAfter} ms.`,
      half_open:
        `The tool ${tool} was left alone for ${resetAfter} ms: one call is let through to ` +
        'see whether it works again.',
      close: `The tool ${tool} works again after ${failures} failures in a row.`,
    };
    const alternatives = {
      open: ['go on calling it'],
      half_open: ['wait longer'],
      close: ['wait longer'],
    };
    return this.#decision('circuit_breaker', change, reasonings[change], alternatives[change], {
      tool,
      callId: call.callId,
      failures,
    });
  }

  async #hooked(
    call: HookToolCall,
    hooks: HookPipeline,
    guarded: CheckedCall | undefined,
  ): Promise<CheckedCall | undefined> {
    let given: ToolResult | undefined;
    try {
      given = await hooks.beforeTool(call);
    } catch (thrown) {
      return {
        ...refusedWith(this.#failedHook(thrown, hooks, call)),
        writes: guarded?.writes ?? noWrites,
      };
    }
    const writes = joinedWrites([guarded?.writes, hooks.takeWrites(call.callId)]);
    if (given !== undefined)
      return {
        refused: { result: given, notes: guarded?.guidance ?? [], writes },
        guidance: [],
        writes: noWrites,
      };
    if (guarded === undefined && writes === noWrites) return undefined;
    return { ...guarded, guidance: guarded?.guidance ?? [], writes };
  }

  #checkResult({ tool, args }: EndedAttempt, outcome: Outcome): void {
    const { results } = this.#supervision;
    if (results === undefined || !isSuccess(outcome.result)) return;
    const { name, readOnly, check } = tool;
    const doubt = checkResult(
      { name, args: args as JsonValue, readOnly, check },
      outcome.result,
      results,
    );
    if (doubt === undefined) return;
    outcome.result = doubt.result;
    outcome.notes = [...outcome.notes, ...doubt.notes];
    const data = {
      tool: name,
      check: doubt.check,
      ...(doubt.result.confidence === undefined ? {} : { confidence: doubt.result.confidence }),
    };
    outcome.drafts = [
      ...outcome.drafts,
      this.#decision(
        'result_check',
        'doubt',
        doubt.reasoning,
        ['take it as it is', 'refuse it'],
        data,
      ),
    ];
  }

  #guardResult({ tool, args, state }: EndedAttempt, outcome: Outcome): void {
    const { result } = outcome;
    const check = {
      agent: state.call.agent,
      round: state.call.round,
      name: tool.name,
      args: args as JsonValue,
      result,
    };
    const { value, denied, guidance, decisions } = applyGuardrails(
      'toolResult',
      this.#resultGuards,
      check,
    );
    if (decisions.length === 0) return;
    outcome.drafts = [
      ...outcome.drafts,
      ...decisions.map((decision) => this.#noted(decision, state)),
    ];
    outcome.notes = [...outcome.notes, ...guidance];
    if (denied !== undefined)
      outcome.result = toolResult.blocked(denied.message, { errorType: 'guardrail_denied' });
    else if (value !== result.content) outcome.result = { ...result, content: value };
  }

  async #afterHooks(
    attempt: EndedAttempt,
    outcome: Outcome,
    hooks: HookPipeline,
  ): Promise<SupervisedResult> {
    const call = hookCall(attempt);
    try {
      if (hooks.has('afterTool')) outcome.result = await hooks.afterTool(call, outcome.result);
      if (!isSuccess(outcome.result) && hooks.has('onToolError'))
        outcome.result = (await hooks.onToolError(call, outcome.result)) ?? outcome.result;
      if (isSuccess(outcome.result) || attempt.isLast || !hooks.has('errorHandlers'))
        return this.#concluded(attempt, outcome, hooks.takeWrites(call.callId));
      const handled = await this.#askHandlers(attempt, outcome, hooks);
      return handled ?? this.#concluded(attempt, outcome, hooks.takeWrites(call.callId));
    } catch (thrown) {
      return this.#failedHook(thrown, hooks, call, outcome);
    }
  }

  /** What an error handler wants, unless all of them pass. */
  async #askHandlers(
    attempt: EndedAttempt,
    outcome: Outcome,
    hooks: HookPipeline,
  ): Promise<SupervisedResult | undefined> {
    const { result } = outcome;
    const mayRetry = mayRepeat(attempt);
    const count = this.#routing?.failures(attempt, result) ?? attempt.attempt;
    const error = new AdjutantError(result.errorType ?? result.status, String(result.content), {
      tool: attempt.tool.name,
    });
    const failure = {
      phase: 'tool' as const,
      error,
      attempt: count,
      retryAfterMs: attempt.retryAfterMs,
      mayRetry,
      call: hookCall(attempt),
      result,
    };
    const handled = await hooks.handleError(failure);
    if (handled === undefined) return undefined;
    const { action, handler } = handled;
    const most = this.#supervision.errors?.attempts;
    const why = !mayRetry
      ? 'another attempt could do something twice'
      : most !== undefined && count >= most
        ? `${most} attempts are all that it gets`
        : '';
    if (action.action === 'retry' && why !== '') {
      outcome.drafts = [
        ...outcome.drafts,
        this.#handlerDecision(
          attempt,
          handler,
          'refuse_retry',
          `It wanted another attempt, but ${why}.`,
          count,
        ),
      ];
      return undefined;
    }
    return this.#handled(attempt, outcome, action, handler, count, hooks);
  }

  #handled(
    attempt: EndedAttempt,
    outcome: Outcome,
    given: ErrorAction,
    handler: string,
    count: number,
    hooks: HookPipeline,
  ): SupervisedResult | undefined {
    const { result } = outcome;
    const record: ErrorRecord = {
      name: 'ToolError',
      code: result.errorType ?? result.status,
      message: String(result.content),
    };
    const note = (reasoning: string, failure?: ErrorRecord) => {
      const draft = this.#handlerDecision(
        attempt,
        handler,
        given.action,
        reasoning,
        count,
        failure,
      );
      outcome.drafts = [...outcome.drafts, draft];
    };
    switch (given.action) {
      case 'retry': {
        const retryAfterMs = delayOf(given);
        note(`It wants another attempt after ${retryAfterMs} ms.`);
        return {
          ...this.#settled(outcome, hooks.takeWrites(attempt.state.call.callId)),
          retryAfterMs,
        };
      }
      case 'fallback':
        note('It gives a result in the place of the failed one.');
        outcome.result = toToolResult(given.result);
        break;
      case 'abort':
        note('It ends the run.');
        abortForHandler(this.#frame.run, handler, record);
        break;
      case 'throw':
        note('It ends the agent with the error.', record);
        break;
      case 'skip':
        note('The model gets the failed result, and nothing else is tried.');
        break;
      default:
        return undefined;
    }
    return this.#settled(outcome, hooks.takeWrites(attempt.state.call.callId));
  }

  #handlerDecision(
    attempt: EndedAttempt,
    handler: string,
    decision: string,
    what: string,
    count: number,
    failure?: ErrorRecord,
  ): EventDraft {
    const { result, state, tool } = attempt;
    const errorType = result.errorType ?? result.status;
    const data = { handler, tool: tool.name, callId: state.call.callId, errorType, attempt: count };
    const reasoning =
      `The error handler "${handler}" was asked about ${errorType} of ` + `${tool.name}. ${what}`;
    const others = ['throw', 'skip', 'abort', 'retry', 'fallback', 'pass'].filter(
      (other) => other !== decision,
    );
    const failed = failure === undefined ? {} : { failure: failure as unknown as JsonValue };
    return this.#decision('error_handler', decision, reasoning, others, { ...data, ...failed });
  }

  /**
   * The end of it: another attempt if the tool asks for one, what the router says, or the result as
   * it is.
   */
  #concluded(attempt: EndedAttempt, outcome: Outcome, hookWrites: Writes): SupervisedResult {
    const { result } = outcome;
    if (attempt.isLast) return this.#settled(outcome, hookWrites);
    if (isSuccess(result) && result.errorType === undefined && result.escalate !== true) {
      this.#warn(attempt.state, true, outcome);
      return this.#settled(outcome, hookWrites);
    }
    const delay = ownRetryDelay(attempt, { ...attempt, result });
    if (delay !== undefined) {
      const drafts =
        this.#routing === undefined ? [] : [this.#routing.ownRetry(attempt, result, delay)];
      outcome.drafts = [...outcome.drafts, ...drafts];
      return { ...this.#settled(outcome, hookWrites), retryAfterMs: delay };
    }
    const routed = this.#routing?.failed(attempt, result);
    if (routed !== undefined) {
      outcome.result = routed.result;
      outcome.notes = [...outcome.notes, ...routed.notes];
      outcome.drafts = [...outcome.drafts, ...routed.writes.drafts];
      if (routed.retryAfterMs !== undefined || routed.asks === true)
        return { ...routed, ...this.#settled(outcome, hookWrites) };
    }
    this.#warn(attempt.state, true, outcome);
    return this.#settled(outcome, hookWrites);
  }

  #settled({ result, notes, drafts }: Outcome, hookWrites: Writes): SupervisedResult {
    return {
      result,
      notes,
      writes:
        drafts.length === 0
          ? hookWrites
          : joinedWrites([hookWrites, { drafts, extras: undefined }]),
    };
  }

  /**
   * A hook that throws ends the agent, when its open calls are settled; the call itself is settled
   * with what is known of it.
   */
  #failedHook(
    thrown: unknown,
    hooks: HookPipeline,
    { callId }: HookToolCall,
    outcome?: Outcome,
  ): SupervisedResult {
    if (!isAdjutantError(thrown, 'hook_failed')) throw thrown;
    const failure = thrown.toJSON();
    const draft = this.#decision('hooks', 'failed', thrown.message, [], {
      failure: failure as unknown as JsonValue,
    });
    const result =
      outcome?.result ?? toolResult.permanent(thrown.message, { errorType: 'hook_failed' });
    const writes = joinedWrites([
      hooks.takeWrites(callId),
      { drafts: [...(outcome?.drafts ?? []), draft], extras: undefined },
    ]);
    return { result, notes: outcome?.notes ?? [], writes };
  }

  #refusal(
    result: ToolResult,
    component: string,
    decision: string,
    reasoning: string,
    alternatives: readonly string[],
    data: Readonly<Record<string, JsonValue>>,
  ): SupervisedResult {
    return {
      result,
      notes: [],
      writes: {
        drafts: [this.#decision(component, decision, reasoning, alternatives, data)],
        extras: undefined,
      },
    };
  }

  #noted(
    decision: Omit<Extract<EventDraft, { type: 'decision' }>, 'type' | 'by' | 'invocationId'>,
    { call }: CallState,
  ): EventDraft {
    return {
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      ...decision,
      data: { ...decision.data, callId: call.callId },
    };
  }

  #decision(
    component: string,
    decision: string,
    reasoning: string,
    alternatives: readonly string[],
    data: Readonly<Record<string, JsonValue>>,
  ): EventDraft {
    return decisionDraft(
      this.#frame.record.path,
      component,
      decision,
      reasoning,
      alternatives,
      data,
    );
  }
}

function refusedWith(refused: SupervisedResult): CheckedCall {
  return { refused, guidance: [], writes: noWrites };
}

function loopDetails(
  { call }: CallState,
  { detector, count, reasoning, alternatives }: LoopVerdict,
) {
  return {
    reasoning,
    alternatives,
    data: { callId: call.callId, tool: call.name, detector, count },
  };
}

function hookCall({ state, args, attempt }: SupervisedCall, changed?: JsonValue): HookToolCall {
  return {
    callId: state.call.callId,
    name: state.fallback ?? state.call.name,
    args: changed ?? coerceToJson(args).value,
    attempt,
  };
}
