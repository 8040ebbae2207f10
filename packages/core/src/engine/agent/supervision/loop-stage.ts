import type {
  CheckedCall,
  CheckMode,
  SupervisedCall,
  SupervisedResult,
} from '../../../effects/tool-call/supervisor.ts';
import { noWrites } from '../../../effects/writes.ts';
import { type DecisionDraft, decision } from '../../../ledger/decisions/decision.ts';
import type { CallState } from '../../../loop/call-state.ts';
import { type CallEvidence, vetoType } from '../../../supervision/evidence.ts';
import {
  type JudgedCall,
  judgeCall,
  judgeResult,
} from '../../../supervision/loops/loop-detector.ts';
import type { LoopVerdict } from '../../../supervision/loops/loop-verdict.ts';
import {
  type CallFacts,
  judgeStalledCall,
  judgeStalledResult,
  type RoundCall,
} from '../../../supervision/loops/stall.ts';
import type { Supervision } from '../../../supervision/options.ts';
import { toolResult } from '../../../tools/result.ts';
import type { Tool } from '../../../tools/tool.ts';
import type { AgentTools } from '../tool-lookup.ts';
import { refusal } from './decision-draft.ts';
import type { ErrorRouting } from './error-routing.ts';
import { mayMend } from './repetition.ts';
import type { SeenCalls } from './seen-calls.ts';
import type { CallStage, Outcome } from './stage.ts';

interface LoopStagePorts {
  readonly path: string;
  /** Returns the turn that the agent is in. */
  turn(): JudgedCall['turn'];
  readonly loops: Supervision['loops'];
  readonly seen: SeenCalls;
  readonly routing: ErrorRouting | undefined;
  readonly find: AgentTools['find'];
}

/** Blocks calls that repeat themselves, and warns the model of results that do. */
export class LoopStage implements CallStage {
  /** True because a refused call that is made again and again is a loop, too. */
  readonly judgesRefused = true;
  readonly #ports: LoopStagePorts;
  readonly #facts: CallFacts;

  constructor(ports: LoopStagePorts) {
    this.#ports = ports;
    this.#facts = {
      isReadOnly: (name) => ports.find(name)?.readOnly === true,
      isFirst: ports.seen.isFirst,
    };
  }

  check({ state, tool }: SupervisedCall, mode: CheckMode): CheckedCall | undefined {
    if (mode !== 'first' || state.fallback !== undefined) return undefined;
    const refused = this.veto(state, tool);
    return refused && { refused, guidance: [], writes: noWrites };
  }

  /** Returns the result for a call that is not let through; `undefined` when it may be made. */
  veto(state: CallState, tool: Tool | undefined): SupervisedResult | undefined {
    const verdict = this.#judgedCall(state, tool);
    if (verdict === undefined) return undefined;
    const result = toolResult.blocked(verdict.message, { errorType: vetoType });
    return refusal(result, loopDecision(this.#ports.path, state, verdict, 'block'));
  }

  #judgedCall(state: CallState, tool: Tool | undefined): LoopVerdict | undefined {
    const { loops, seen, routing, find } = this.#ports;
    if (loops === undefined) return undefined;
    const judged = this.#judged(state, tool !== undefined);
    if (seen.has(state, judged.isKnown)) {
      const isExhausted = (last: CallEvidence, failures: number) =>
        routing?.isExhausted(last, failures, tool) ?? false;
      const mayChange = (name: string, errorType: string) => mayMend(find(name), errorType);
      const verdict = judgeCall(seen.all(), judged, loops, isExhausted, mayChange);
      if (verdict !== undefined) return verdict;
    }
    return judged.round < loops.stallBlockAt
      ? undefined
      : judgeStalledCall(seen.all(), judged, loops, this.#facts);
  }

  /** Adds a note for the model to the `outcome` of a call that repeats itself or gets nowhere. */
  warn(state: CallState, isKnown: boolean, outcome: Outcome): void {
    const { loops, seen, path } = this.#ports;
    if (loops === undefined) return;
    const judged = this.#judged(state, isKnown);
    const { result } = outcome;
    const verdict =
      (seen.has(state, isKnown) ? judgeResult(seen.all(), judged, result, loops) : undefined) ??
      (judged.round < loops.stallWarnAt
        ? undefined
        : judgeStalledResult(seen.all(), judged, result, loops, this.#facts));
    if (verdict === undefined) return;
    outcome.notes = [...outcome.notes, verdict.message];
    outcome.drafts = [...outcome.drafts, loopDecision(path, state, verdict, 'warn')];
  }

  #judged({ call }: CallState, isKnown: boolean): JudgedCall & RoundCall {
    const { name, args, round } = call;
    return { name, args, round, turn: this.#ports.turn(), isKnown };
  }
}

function loopDecision(
  path: string,
  { call }: CallState,
  { detector, count, reasoning, alternatives }: LoopVerdict,
  level: 'block' | 'warn',
): DecisionDraft {
  return decision('loop_detector', level, {
    invocationId: path,
    reasoning,
    alternatives,
    data: { callId: call.callId, tool: call.name, detector, count },
  });
}
