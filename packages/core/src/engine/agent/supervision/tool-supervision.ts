import { ownRetryDelay } from '../../../effects/tool-call/retry.ts';
import type {
  CheckedCall,
  CheckMode,
  EndedAttempt,
  SupervisedCall,
  SupervisedResult,
  ToolSupervisor,
} from '../../../effects/tool-call/supervisor.ts';
import type { Writes } from '../../../effects/writes.ts';
import { noWrites } from '../../../effects/writes.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../../ledger/event.ts';
import { isSuccess, type ToolResult } from '../../../ledger/tool-result.ts';
import type { CallState } from '../../../loop/call-state.ts';
import type { Position } from '../../../loop/position.ts';
import { hintFor } from '../../../supervision/error-chains.ts';
import type { Supervision } from '../../../supervision/options.ts';
import { toolResult } from '../../../tools/result.ts';
import type { Tool } from '../../../tools/tool.ts';
import { abortAsRecorded } from '../../frame/recorded-abort.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import type { HookPipeline } from '../hooks/hook-pipeline.ts';
import type { AgentTools } from '../tool-lookup.ts';
import { CircuitStage } from './circuit-stage.ts';
import { ErrorHandlerStage } from './error-handler-stage.ts';
import { ErrorRouting } from './error-routing.ts';
import { GuardrailStage } from './guardrail-stage.ts';
import { HookStage } from './hook-stage.ts';
import { LoopStage } from './loop-stage.ts';
import { PermissionStage } from './permission-stage.ts';
import { ResultCheckStage } from './result-check-stage.ts';
import { SeenCalls } from './seen-calls.ts';
import { type CallStage, type Outcome, type ResultStage, settledWith } from './stage.ts';

/** Number of past calls that are compared where the loop detector is off. */
const defaultWindow = 30;

interface ToolSupervisionPorts {
  readonly frame: BodyFrame;
  readonly position: Position;
  readonly supervision: Supervision;
  readonly hooks: HookPipeline | undefined;
  readonly tools: Pick<AgentTools, 'find'>;
}

/** Runs the stages of supervision around each tool call of one agent invocation. */
export class ToolSupervision implements ToolSupervisor {
  readonly #frame: BodyFrame;
  readonly #hookPipeline: HookPipeline | undefined;
  readonly #routing: ErrorRouting | undefined;
  readonly #loops: LoopStage;
  readonly #circuit: CircuitStage;
  readonly #hooks: HookStage | undefined;
  /** Stages before an attempt, in their order. Hooks come after them, because hooks wait. */
  readonly #callStages: readonly CallStage[];
  /** Stages after an attempt, in their order. Hooks, handlers and the router come after them. */
  readonly #resultStages: readonly ResultStage[];

  constructor({ frame, position, supervision, hooks, tools }: ToolSupervisionPorts) {
    const { path } = frame.record;
    const { errors, loops } = supervision;
    const find = (name: string) => tools.find(name);
    const seen = new SeenCalls(frame, position, loops?.window ?? defaultWindow);
    const routing = errors && new ErrorRouting({ frame, position, errors, seen, find });
    const guardrails = new GuardrailStage(path, supervision.guardrails);
    this.#frame = frame;
    this.#hookPipeline = hooks;
    this.#routing = routing;
    this.#loops = new LoopStage({
      path,
      turn: () => position.turn.number,
      loops,
      seen,
      routing,
      find,
    });
    this.#circuit = new CircuitStage({ frame, isOn: !!supervision.circuitBreaker, routing });
    this.#hooks =
      hooks && new HookStage(path, hooks, new ErrorHandlerStage({ frame, hooks, routing, errors }));
    this.#callStages = [new PermissionStage(frame), guardrails, this.#loops, this.#circuit];
    this.#resultStages = [new ResultCheckStage(path, supervision.results), guardrails];
  }

  check(
    call: SupervisedCall,
    mode: CheckMode,
  ): CheckedCall | undefined | Promise<CheckedCall | undefined> {
    let refused: SupervisedResult | undefined;
    let passed: CheckedCall | undefined;
    for (const stage of this.#callStages) {
      if (refused !== undefined && stage.judgesRefused !== true) continue;
      const found = stage.check(call, mode);
      if (found?.refused !== undefined) refused = found.refused;
      else passed = found ?? passed;
    }
    // The decisions of guardrails are recorded also for a call that a later stage refuses.
    if (refused !== undefined) return { refused, guidance: [], writes: passed?.writes ?? noWrites };
    if (mode === 'approved' || this.#hooks?.asksBefore !== true) return passed;
    return this.#hooks.check(call, passed);
  }

  admit(call: SupervisedCall): CheckedCall | undefined {
    return this.#circuit.admit(call);
  }

  observe(call: SupervisedCall, result: ToolResult): readonly EventDraft[] {
    return this.#circuit.count(call, result);
  }

  late(attempt: EndedAttempt): SupervisedResult {
    return settledWith(this.#checked(attempt), noWrites);
  }

  landing(callId: string, events: readonly Event[]): void {
    this.#hookPipeline?.takeWrites(callId);
    const end = events.at(-1);
    if (end?.type === 'tool_result')
      abortAsRecorded(this.#frame.run, events, String(end.result.content));
  }

  ended(attempt: EndedAttempt): SupervisedResult | Promise<SupervisedResult> {
    const outcome = this.#checked(attempt);
    if (this.#hooks?.asksAfter !== true) return this.#concluded(attempt, outcome, noWrites);
    return this.#hooks.after(attempt, outcome, (hookWrites) =>
      this.#concluded(attempt, outcome, hookWrites),
    );
  }

  refused(state: CallState, tool: Tool | undefined, result: ToolResult): SupervisedResult {
    const isFirst = state.attempts.length === 0 && state.answered.length === 0;
    const vetoed = isFirst ? this.#loops.veto(state, tool) : undefined;
    if (vetoed !== undefined) return vetoed;
    const routed = this.#routing?.refused(state, tool, result);
    const outcome: Outcome = {
      result: routed?.result ?? result,
      notes: routed?.notes ?? [],
      drafts: routed?.writes.drafts ?? [],
    };
    if (routed?.retryAfterMs !== undefined) return routed;
    this.#loops.warn(state, tool !== undefined, outcome);
    const { drafts, ...rest } = outcome;
    return { ...rest, writes: { drafts, extras: undefined } };
  }

  withoutFallback(state: CallState, why: string): SupervisedResult {
    const failed = state.attempts.findLast(({ result }) => result !== undefined)?.result?.result;
    const name = state.fallback ?? '';
    const result =
      failed ?? toolResult.permanent(`The call failed, and ${why}.`, { errorType: 'unknown_tool' });
    const draft = decision('error_router', 'report', {
      invocationId: this.#frame.record.path,
      reasoning: `The tool ${name} cannot stand in: ${why}.`,
      alternatives: ['fallbackTool'],
      data: { callId: state.call.callId, tool: state.call.name, fallback: name },
    });
    return {
      result,
      notes: [
        `The tool ${name} could not be run in its place: ${why}.`,
        hintFor(result.errorType ?? result.status),
      ],
      writes: { drafts: [draft], extras: undefined },
    };
  }

  #checked(attempt: EndedAttempt): Outcome {
    const outcome: Outcome = { result: attempt.result, notes: attempt.guidance, drafts: [] };
    for (const stage of this.#resultStages) stage.after(attempt, outcome);
    return outcome;
  }

  /** Ends a call: another attempt of the tool itself, the choice of the router, or the result. */
  #concluded(attempt: EndedAttempt, outcome: Outcome, hookWrites: Writes): SupervisedResult {
    const { result } = outcome;
    if (attempt.isLast) return settledWith(outcome, hookWrites);
    if (isSuccess(result) && result.errorType === undefined && result.escalate !== true) {
      this.#loops.warn(attempt.state, true, outcome);
      return settledWith(outcome, hookWrites);
    }
    const delay = ownRetryDelay(attempt, { ...attempt, result });
    if (delay !== undefined) {
      const drafts =
        this.#routing === undefined ? [] : [this.#routing.ownRetry(attempt, result, delay)];
      outcome.drafts = [...outcome.drafts, ...drafts];
      return { ...settledWith(outcome, hookWrites), retryAfterMs: delay };
    }
    const routed = this.#routing?.failed(attempt, result);
    if (routed !== undefined) {
      outcome.result = routed.result;
      outcome.notes = [...outcome.notes, ...routed.notes];
      outcome.drafts = [...outcome.drafts, ...routed.writes.drafts];
      if (routed.retryAfterMs !== undefined || routed.asks === true)
        return { ...routed, ...settledWith(outcome, hookWrites) };
    }
    this.#loops.warn(attempt.state, true, outcome);
    return settledWith(outcome, hookWrites);
  }
}
