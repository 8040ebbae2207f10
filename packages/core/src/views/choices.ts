import { defined } from '../base/defined.ts';
import type { JsonObject } from '../base/json.ts';
import { isFromOutside } from '../ledger/actor.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventOf, EventType } from '../ledger/event.ts';
import { isRoot } from '../ledger/path.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';
import { isQuestion } from '../session/pending-request.ts';

/** A choice as one event records it, before it is linked to its place. */
export interface Choice {
  readonly component: string;
  readonly decision: string;
  readonly why: string;
  readonly alternatives?: readonly string[];
  readonly data?: JsonObject;
}

type ChoiceOf = { readonly [Type in EventType]?: (event: EventOf<Type>) => Choice | undefined };

/**
 * Finds the choices in events. The events are given one after the other, because some choices
 * depend on earlier events.
 */
export class Choices {
  readonly #resolve: (value: unknown) => unknown;
  /** Names of the called tools, by `callId`. */
  readonly #tools = new Map<string, string>();
  /** Names of the questions of steps, by `callId`. */
  readonly #questions = new Map<string, string>();
  /** Number of the last attempt that has no result yet, by `callId`. */
  readonly #attempted = new Map<string, number>();
  /** All events, to look for a decision beside one of them; `seq` 1 is the first. */
  readonly #events: readonly Event[];

  constructor(events: readonly Event[], resolve: (value: unknown) => unknown) {
    this.#events = events;
    this.#resolve = resolve;
  }

  of(event: Event): Choice | undefined {
    // A stored type may have the name of an inherited member, such as `constructor`.
    return Object.hasOwn(this.#by, event.type)
      ? (this.#by[event.type] as (event: Event) => Choice | undefined)(event)
      : undefined;
  }

  readonly #by: ChoiceOf = {
    decision: ({ component, decision, reasoning, alternatives, data }) => ({
      component,
      decision,
      why: String(this.#resolve(reasoning)),
      ...(alternatives === undefined
        ? {}
        : { alternatives: this.#resolve(alternatives) as readonly string[] }),
      ...(data === undefined ? {} : { data: this.#resolve(data) as JsonObject }),
    }),
    tool_call: ({ callId, name }) => {
      this.#tools.set(callId, name);
      return undefined;
    },
    tool_attempt: (event) => this.#attempt(event),
    tool_result: (event) => this.#result(event),
    tool_yield: (event) => {
      const { callId, name, kind, request, requestId } = event;
      (isQuestion(event) ? this.#questions : this.#tools).set(callId, name);
      const { summary, options } = this.#resolve(request) as typeof request;
      return {
        component: 'request',
        decision: 'ask',
        why: summary,
        alternatives: options,
        data: { ...this.#subject(callId), kind, callId, requestId },
      };
    },
    tool_input: ({ callId, requestId, decision, reason, by }) => ({
      component: 'request',
      decision: decision ?? 'answer',
      why: reason ?? `${sayer(by)} said so.`,
      data: { ...this.#subject(callId), callId, requestId },
    }),
    model_end: (event) =>
      event.substitutedBy === undefined
        ? modelChoice(event, this.#goesOnElsewhere(event))
        : this.#givenAnswer(event, event.substitutedBy),
    compaction: (event) => this.#compaction(event),
    handoff: ({ from, to, reason, depth }) => ({
      component: 'handoff',
      decision: 'transfer',
      why: reason ?? `${from} decided that ${to} is to go on.`,
      data: { from, to, depth },
    }),
    cancel: ({ reason, by }) => ({
      component: 'run',
      decision: 'cancel',
      why: reason ?? `${sayer(by)} wanted it.`,
    }),
    invocation_resume: ({ invocationId }) =>
      isRoot(invocationId)
        ? {
            component: 'recovery',
            decision: 'resume',
            why: 'It had stopped without an end, slept, or waited for an answer.',
          }
        : undefined,
    invocation_reopen: ({ reason, effects }) => ({
      component: 'run',
      decision: 'reopen',
      why: reason,
      ...(effects === undefined ? {} : { data: { effects } }),
    }),
    invocation_end: ({ stopReason }) =>
      stopReason === undefined
        ? undefined
        : {
            component: 'run',
            decision: 'stop_early',
            why: stopReasons[stopReason] ?? stopReason,
            data: { stopReason },
          },
    error: ({ phase, error }) =>
      phase === 'escalation'
        ? {
            component: 'failures',
            decision: 'escalate',
            why: error.message,
            data: { code: error.code },
          }
        : undefined,
  };

  /** Names the tool, or the question of a step, that a request is about. */
  #subject(callId: string): JsonObject {
    const question = this.#questions.get(callId);
    return question === undefined ? { tool: this.#tools.get(callId) ?? callId } : { question };
  }

  /** Finds a repeated attempt: the attempt before it has no result, so it was interrupted. */
  #attempt({ callId, attempt, tool }: EventOf<'tool_attempt'>): Choice | undefined {
    const before = this.#attempted.get(callId);
    this.#attempted.set(callId, attempt);
    if (before === undefined) return undefined;
    const name = tool ?? this.#tools.get(callId) ?? callId;
    return {
      component: 'recovery',
      decision: 'repeat',
      why:
        `Attempt ${before} has no result in the ledger, and what the tool says of itself ` +
        'allows it to be run again.',
      data: { tool: name, callId, attempt },
    };
  }

  #result({
    callId,
    name,
    attempt,
    result,
    settled,
    retryAfterMs,
    seq,
    by,
  }: EventOf<'tool_result'>): Choice | undefined {
    this.#attempted.delete(callId);
    const data = { tool: name, callId, attempt };
    if (isFromOutside(by))
      return {
        component: 'recovery',
        decision: 'resolve',
        why: toldOutcome(by, this.#resolve(result) as ToolResult),
        data,
      };
    if (settled && result.status === 'unknown') {
      return {
        component: 'recovery',
        decision: 'unknown',
        why: 'The attempt has no result that can be relied on, and it is not repeated.',
        data,
      };
    }
    if (retryAfterMs === undefined || this.#isDecidedBeside(seq, callId)) return undefined;
    const why =
      `Attempt ${attempt} ended with ${result.errorType ?? result.status}; the next one ` +
      `comes after ${duration(retryAfterMs)}.`;
    return { component: 'tools', decision: 'retry', why, data };
  }

  /**
   * True when another model, key or effort is asked after a failed call. A decision right behind
   * the call records this.
   */
  #goesOnElsewhere({ seq, invocationId }: EventOf<'model_end'>): boolean {
    const next = this.#events[seq];
    return isDecision(next, 'models', 'fallback') && next.invocationId === invocationId;
  }

  /** Explains an answer that did not come from the model. */
  #givenAnswer({ seq, error }: EventOf<'model_end'>, substitutedBy: string): Choice | undefined {
    // An answer that is not the last one has a decision of its own right before it.
    const before = this.#events[seq - 2];
    if (isDecision(before, 'hooks', 'continue')) return undefined;
    const why =
      `${substitutedBy} answered in the place of the ` +
      `model${error === undefined ? '' : `, which had failed: ${error.message}`}`;
    return { component: 'hooks', decision: 'answer', why: asSentence(why) };
  }

  #compaction({
    seq,
    strategy = 'summary',
    reason = 'window',
    covers,
    tokensBefore,
    tokensAfter,
    invocationId,
  }: EventOf<'compaction'>): Choice | undefined {
    if (this.#isDecidedBeside(seq, invocationId, 'context')) return undefined;
    const cause =
      reason === 'overflow'
        ? 'The provider refused the prompt as too long'
        : 'The prompt came near the end of the window';
    return {
      component: 'context',
      decision: compactionDecisions[strategy],
      why: `${cause}: ${tokensBefore} tokens before, ${tokensAfter} after.`,
      data: { covers: covers.length, tokensBefore, tokensAfter },
    };
  }

  /** True when a decision about the same thing stands beside the event. It says more. */
  #isDecidedBeside(seq: number, id: string | undefined, component?: string): boolean {
    for (let at = Math.max(1, seq - reach); at <= seq + reach; at++) {
      const event = this.#events[at - 1];
      if (event?.type !== 'decision') continue;
      if (
        component === undefined
          ? event.data?.['callId'] === id
          : event.component === component && event.invocationId === id
      )
        return true;
    }
    return false;
  }
}

/** Greatest distance in `seq` from an event to its decision. Both are in one append. */
const reach = 4;

const compactionDecisions = {
  summary: 'compact',
  trim: 'trim',
  shorten: 'shorten',
  last: 'trim',
} as const;

const stopReasons: Readonly<Record<string, string>> = {
  round_limit: 'The limit of rounds was reached.',
  token_limit: 'The limit of tokens was reached.',
  cost_limit: 'The limit of cost was reached.',
  error_limit: 'The limit of errors was reached.',
  output_limit: 'The answer reached the longest length that the model may give.',
  loop: 'Its calls of tools led nowhere.',
  goal_unmet: 'Its answer does not do what was asked.',
  refused: 'It was not let in.',
};

function modelChoice(
  { status, error, retryAfterMs, attempt }: EventOf<'model_end'>,
  goesOnElsewhere: boolean,
): Choice | undefined {
  if (status === 'interrupted') {
    return {
      component: 'recovery',
      decision: 'interrupted',
      why: 'The process stopped, or a message came in between. What it used is estimated.',
    };
  }
  if (status !== 'error') return undefined;
  const data = defined({ attempt, code: error?.code });
  const failed = asSentence(error?.message ?? 'It failed.');
  if (retryAfterMs === undefined || goesOnElsewhere)
    return { component: 'models', decision: 'failed', why: failed, data };
  return {
    component: 'models',
    decision: 'retry',
    why: `${failed} The next attempt comes after ${duration(retryAfterMs)}.`,
    data,
  };
}

/** Explains an outcome that somebody has found out. */
function toldOutcome(by: string, result: ToolResult): string {
  const { content, errorType } = result;
  if (isSuccess(result)) return `${sayer(by)} found out that it took place.`;
  const nothing = `${sayer(by)} found out that it did not take place`;
  return errorType === 'no_effect' ? `${nothing}.` : asSentence(`${nothing}: ${String(content)}`);
}

/** Returns `text` with a full stop, unless it ends like a sentence. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 100) / 10} s`;
}

/** Returns the words for an actor such as `user:ann`, for people. */
function sayer(by: string): string {
  const [kind, id] = [by.split(':')[0] as string, by.slice(by.indexOf(':') + 1)];
  return kind === by ? `The ${kind}` : `${id} (${kind})`;
}
