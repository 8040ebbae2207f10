import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { EventOf, ModelEndEvent, NextInvocation, StopReason } from '../ledger/event.ts';
import { isRoot } from '../ledger/path.ts';
import type { CallEvidence } from '../supervision/evidence.ts';
import type { CallState } from './call-state.ts';

/** Rounds in which the loop detector did not let a call through. */
export interface Vetoes {
  /** The last such round. */
  round: number;
  /** How many of them have followed each other, up to the last one. */
  streak: number;
  total: number;
}

/** The last question about a limit of the agent. */
export interface LimitRequest {
  readonly request: EventOf<'tool_yield'>;
  answer: EventOf<'tool_input'> | undefined;
}

/** Where an agent invocation stands: folded from its events, changed in place by the fold. */
export interface Position {
  readonly path: string;
  /** Whether messages that belong to no invocation are for this agent. */
  readonly isRoot: boolean;
  /** Rounds whose model call has been answered. */
  rounds: number;
  /** The last model call: whether it is still without an end, and how it ended. */
  model: { readonly start: EventOf<'model_start'>; end: ModelEndEvent | undefined } | undefined;
  /** Attempts of the present round's model call that ended as errors. */
  modelErrors: number;
  /** Texts of the last answer, joined. */
  text: string;
  /**
   * The last text that was not empty, of whatever round: all that there is when a limit cuts the
   * answer off.
   */
  lastText: string;
  readonly calls: Map<string, CallState>;
  unsettled: number;
  tokens: number;
  cost: number;
  /** The runnable that a tool handed over to. */
  next: NextInvocation | undefined;
  /** Messages, endings of spawned children and late results that no prompt has had yet. */
  unseen: number;
  readonly openSpawns: Set<string>;
  /** The limit that was declared exhausted: from then on the model only answers. */
  stopReason: StopReason | undefined;
  readonly warned: Set<string>;
  /** What was asked when a limit was reached. */
  limitRequest: LimitRequest | undefined;
  /** How many questions about limits were asked. */
  limitRequests: number;
  /** What people allowed beyond the limits, by reason. */
  readonly granted: Map<StopReason, number>;
  /**
   * Counts messages from outside as the model comes to read them: each may be reason to do again
   * what led nowhere before.
   */
  turn: number;
  /** Whether the next model call opens a turn: something came from outside since the last one. */
  opensTurn: boolean;
  /** The last settled calls of this invocation, oldest first. */
  readonly evidence: CallEvidence[];
  vetoes: Vetoes;
  /** Failed attempts of tools and of model calls. */
  errors: number;
  /** What the invocation is to end with. */
  failure: ErrorRecord | undefined;
  /** What a guardrail says in the place of an answer. */
  refusal: string | undefined;
  /** A tool result that is the answer as it stands. */
  final: { readonly output: JsonValue } | undefined;
  /** The last answer as the output schema reads it. */
  parsed: JsonValue | undefined;
  /**
   * Whether the last answer does not fit the output schema: it is no answer, and another is asked
   * for.
   */
  isUnfit: boolean;
  /** Answers that did not fit the output schema, and answers that did not do what was asked. */
  repairs: number;
  goalRounds: number;
  /** The step of the agent's models that is in use: 0 is the first model as it was given. */
  rung: number;
  compactions: number;
  /** Recoveries from prompts that the provider refused as too long, since its last answer. */
  overflows: number;
  /** Longest tool result in characters, when results were shortened. */
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
