import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { EventOf, ModelEndEvent, NextInvocation, StopReason } from '../ledger/event.ts';
import { isRoot } from '../ledger/path.ts';
import type { CallEvidence } from '../supervision/evidence.ts';
import type { CallState } from './call-state.ts';

/** Counts of the calls that the loop detector refused. */
export interface Vetoes {
  /** Last round with a refused call. */
  round: number;
  /** Number of consecutive rounds with refused calls, up to `round`. */
  streak: number;
  total: number;
}

/** Last request about a limit of the agent. */
export interface LimitRequest {
  readonly request: EventOf<'tool_yield'>;
  answer: EventOf<'tool_input'> | undefined;
}

/** State of an agent invocation, folded from its events and changed in place by the fold. */
export interface Position {
  readonly path: string;
  /** True when messages that belong to no invocation are for this agent. */
  readonly isRoot: boolean;
  /** Number of rounds whose model call has completed. */
  rounds: number;
  /** Last model call; `end` is `undefined` while the call is open. */
  model: { readonly start: EventOf<'model_start'>; end: ModelEndEvent | undefined } | undefined;
  /** Number of attempts of the current round's model call that ended as errors. */
  modelErrors: number;
  /** Joined texts of the last answer. */
  text: string;
  /**
   * Text of the last answer with text, of any round. It is the only output when a limit cuts the
   * answer off.
   */
  lastText: string;
  readonly calls: Map<string, CallState>;
  unsettled: number;
  tokens: number;
  cost: number;
  /** Target of the handoff that a tool or a hook began. */
  next: NextInvocation | undefined;
  /**
   * Number of messages, ends of spawned children and late results that no prompt has contained yet.
   */
  unseen: number;
  readonly openSpawns: Set<string>;
  /**
   * Reason why the agent stops, such as an exhausted limit. Once it is set, the model may only give
   * a last answer.
   */
  stopReason: StopReason | undefined;
  readonly warned: Set<string>;
  /** Last request that was made at a limit. */
  limitRequest: LimitRequest | undefined;
  /** Number of requests about limits. */
  limitRequests: number;
  /** Amounts that people granted beyond the limits, by reason. */
  readonly granted: Map<StopReason, number>;
  /**
   * Number of model calls before which a message had arrived or the invocation was reopened. Calls
   * that were useless in an earlier turn may be repeated in a new one.
   */
  turn: number;
  /**
   * True when the next model call opens a turn. A message has arrived, or the invocation was
   * reopened, since the last call.
   */
  opensTurn: boolean;
  /** Last settled calls of this invocation, oldest first. */
  readonly evidence: CallEvidence[];
  vetoes: Vetoes;
  /** Number of failed attempts of tools and of model calls. */
  errors: number;
  /** Error that the invocation is to end with. */
  failure: ErrorRecord | undefined;
  /** Text of a guardrail that replaces the answer. */
  refusal: string | undefined;
  /** Tool result that is the answer, unchanged. */
  final: { readonly output: JsonValue } | undefined;
  /** Last answer as parsed by the output schema. */
  parsed: JsonValue | undefined;
  /**
   * True when the last answer does not fit the output schema. It is then no answer, and the model
   * is asked for another.
   */
  isUnfit: boolean;
  /**
   * Number of repair rounds after answers that did not fit the output schema. `goalRounds` counts
   * the rounds after answers that did not meet the goal.
   */
  repairs: number;
  goalRounds: number;
  /** Index of the model in use among the agent's models: 0 is the first model as it was given. */
  rung: number;
  compactions: number;
  /**
   * Number of compactions after a prompt was refused as too long, since the last completed model
   * call.
   */
  overflows: number;
  /** Maximum length of a tool result in characters, set when a compaction shortened results. */
  resultLimit: number | undefined;
}

export function startPosition(path: string): Position {
  return {
    path,
    isRoot: isRoot(path),
    rounds: 0,
    model: undefined,
    modelErrors: 0,
    text: '',
    lastText: '',
    calls: new Map(),
    unsettled: 0,
    tokens: 0,
    cost: 0,
    next: undefined,
    unseen: 0,
    openSpawns: new Set(),
    stopReason: undefined,
    warned: new Set(),
    limitRequest: undefined,
    limitRequests: 0,
    granted: new Map(),
    turn: 0,
    opensTurn: false,
    evidence: [],
    vetoes: { round: 0, streak: 0, total: 0 },
    errors: 0,
    failure: undefined,
    refusal: undefined,
    final: undefined,
    parsed: undefined,
    isUnfit: false,
    repairs: 0,
    goalRounds: 0,
    rung: 0,
    compactions: 0,
    overflows: 0,
    resultLimit: undefined,
  };
}
