import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import type { JsonObject } from '../base/json.ts';
import {
  describeValue,
  isListOfText,
  isNumber,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import { visibleText } from '../base/visible-text.ts';
import type { Event, EventOf, EventType } from '../ledger/event.ts';
import { enclosingInvocation } from '../ledger/folds/invocation-fold.ts';
import type { AnySession } from '../session/session.ts';
import { type DecisionComponent, decisionSentence } from './decision-words.ts';

/** A choice that was made while a session was worked on, in plain words. */
export interface ExplainedDecision {
  /** Place in the ledger. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Missing when only events were given. */
  readonly session?: string;
  /** Id of the run; missing for what belongs to no run. */
  readonly run?: string;
  /** Path of the invocation. */
  readonly path?: string;
  /** Name of what was run there. */
  readonly agent?: string;
  readonly component: string;
  readonly decision: string;
  /** What was decided. */
  readonly what: string;
  readonly why: string;
  /** What else was considered. */
  readonly alternatives: readonly string[];
  readonly by: string;
  readonly data?: JsonObject;
}

export interface ExplainOptions {
  /** Only this run. @default all */
  readonly run?: string;
  /** Only these components, such as `loop_detector`. @default all */
  readonly components?: readonly (DecisionComponent | (string & {}))[];
  /** Only the first events, up to this `seq`. @default all */
  readonly upTo?: number;
}

/** What an event says was decided, before it is linked to its place. */
interface Choice {
  readonly component: string;
  readonly decision: string;
  readonly why: string;
  readonly alternatives?: readonly string[];
  readonly data?: JsonObject;
}

/** Where the events of a ledger belong. */
export class Places {
  readonly #names = new Map<string, string>();

  constructor(events: readonly Event[]) {
    for (const event of events)
      if (event.type === 'invocation_start') this.#names.set(event.invocationId, event.name);
  }

  of({ invocationId: path }: Event): Pick<ExplainedDecision, 'run' | 'path' | 'agent'> {
    if (path === undefined) return {};
    const agent = this.#names.get(path) ?? enclosingInvocation(this.#names, path);
    return {
      run: path.split(/[/>]/)[0] as string,
      path,
      ...(agent === undefined ? {} : { agent }),
    };
  }
}

/**
 * What was decided in a session, why, and what else was considered: by supervision, by people and
 * by the runtime itself, in the order of the ledger.
 * @throws InvalidOptionError
 */
export function explain(
  source: AnySession | readonly Event[],
  options: ExplainOptions = {},
): readonly ExplainedDecision[] {
  checkOptions<ExplainOptions>('explain', options, explainChecks);
  const { run, components, upTo = Number.POSITIVE_INFINITY } = options;
  const { events, resolve, session } = sourceOf('explain', source);
  const places = new Places(events);
  const choices = new Choices(events, resolve);
  const explained: ExplainedDecision[] = [];
  for (const event of events) {
    if (event.seq > upTo) break;
    const choice = choices.of(event);
    if (
      choice === undefined ||
      (components !== undefined && !components.includes(choice.component))
    )
      continue;
    const place = places.of(event);
    if (run !== undefined && place.run !== run) continue;
    const { component, decision, why, alternatives = [], data } = choice;
    const what = decisionSentence(
      { component, decision, ...(data === undefined ? {} : { data }) },
      place.agent ?? 'the run',
    );
    explained.push({
      seq: event.seq,
      at: event.at,
      ...(session === undefined ? {} : { session }),
      ...place,
      component,
      decision,
      what,
      why,
      alternatives,
      by: event.by,
      ...(data === undefined ? {} : { data }),
    });
  }
  return explained;
}

const explainChecks: OptionChecks<ExplainOptions> = {
  run: isText,
  components: isListOfText,
  upTo: isNumber,
};

/** The events of a session, or those that were given to a view. */
export function sourceOf(
  view: string,
  source: AnySession | readonly Event[],
): {
  readonly events: readonly Event[];
  readonly resolve: (value: unknown) => unknown;
  readonly session: string | undefined;
} {
  if (Array.isArray(source))
    return { events: source, resolve: (value) => value, session: undefined };
  const session = source as Partial<AnySession> | null | undefined;
  if (session?.events === undefined || session.ledger === undefined) {
    throw new InvalidOptionError({
      function: view,
      reason: `it needs a session or a list of events, not ${describeValue(source)}`,
    });
  }
  return { events: session.events, resolve: session.ledger.resolve, session: session.id };
}

type ChoiceOf = { readonly [Type in EventType]?: (event: EventOf<Type>) => Choice | undefined };

/**
 * Finds the choices in events, one after the other: some can only be told from what came before.
 */
class Choices {
  readonly #resolve: (value: unknown) => unknown;
  /** Tools of calls, by call. */
  readonly #tools = new Map<string, string>();
  /** Calls whose last attempt has no result yet. */
  readonly #attempted = new Map<string, number>();
  /** What a decision event says already, by the `seq` of what lies beside it. */
  readonly #decided: readonly Event[];

  constructor(events: readonly Event[], resolve: (value: unknown) => unknown) {
    this.#decided = events;
    this.#resolve = resolve;
  }

  of(event: Event): Choice | undefined {
    // Stored types may have names that every object answers to.
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
    tool_yield: ({ callId, name, kind, request, requestId }) => {
      this.#tools.set(callId, name);
      const { summary, options } = this.#resolve(request) as typeof request;
      return {
        component: 'request',
        decision: 'ask',
        why: summary,
        alternatives: options,
        data: { tool: name, kind, callId, requestId },
      };
    },
    tool_input: ({ callId, requestId, decision, reason, by }) => ({
      component: 'request',
      decision: decision ?? 'answer',
      why: reason ?? `${sayer(by)} said so.`,
      data: { tool: this.#tools.get(callId) ?? callId, callId, requestId },
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
      invocationId.includes('/')
        ? undefined
        : {
            component: 'recovery',
            decision: 'resume',
            why: 'It had stopped without an end, or waited for an answer.',
          },
    invocation_reopen: ({ reason }) => ({ component: 'run', decision: 'reopen', why: reason }),
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

  /** An attempt after one without a result: that one was interrupted. */
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
  }: EventOf<'tool_result'>): Choice | undefined {
    this.#attempted.delete(callId);
    const data = { tool: name, callId, attempt };
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
   * Whether another model, key or effort is asked after a failed call: a decision right behind it
   * says so.
   */
  #goesOnElsewhere({ seq, invocationId }: EventOf<'model_end'>): boolean {
    const next = this.#decided[seq];
    return (
      next?.type === 'decision' &&
      next.component === 'models' &&
      next.decision === 'fallback' &&
      next.invocationId === invocationId
    );
  }

  /** An answer that did not come from the model. */
  #givenAnswer({ seq, error }: EventOf<'model_end'>, substitutedBy: string): Choice | undefined {
    // One that is not the end is a decision right before it.
    const before = this.#decided[seq - 2];
    if (
      before?.type === 'decision' &&
      before.component === 'hooks' &&
      before.decision === 'continue'
    )
      return undefined;
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

  /** Whether a decision about the same thing landed together with an event: that says more. */
  #isDecidedBeside(seq: number, what: string | undefined, component?: string): boolean {
    for (let at = Math.max(1, seq - reach); at <= seq + reach; at++) {
      const event = this.#decided[at - 1];
      if (event?.type !== 'decision') continue;
      if (
        component === undefined
          ? event.data?.['callId'] === what
          : event.component === component && event.invocationId === what
      )
        return true;
    }
    return false;
  }
}

/** How far from an event a decision about it may lie: they are parts of one append. */
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
  const data = { attempt, ...(error === undefined ? {} : { code: error.code }) };
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

/** What others wrote, ended like a sentence. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 100) / 10} s`;
}

/** Who said something, for people. */
function sayer(by: string): string {
  const [kind, id] = [by.split(':')[0] as string, by.slice(by.indexOf(':') + 1)];
  return kind === by ? `The ${kind}` : `${id} (${kind})`;
}

/** Explained decisions as lines for a terminal. */
export function explainText(explained: readonly ExplainedDecision[]): string {
  if (explained.length === 0) return 'Nothing was decided that needs an explanation.\n';
  let run: string | undefined;
  const lines: string[] = [];
  for (const entry of explained) {
    if (lines.length === 0 || entry.run !== run)
      lines.push(
        ...(lines.length === 0 ? [] : ['']),
        entry.run === undefined ? 'Session' : `Run ${oneLine(entry.run)}`,
      );
    run = entry.run;
    lines.push(
      `  ${entry.seq}. ${oneLine(entry.what)} [${oneLine(entry.component)}: ` +
        `${oneLine(entry.decision)}]`,
    );
    lines.push(`     Why: ${oneLine(entry.why)}`);
    if (entry.alternatives.length > 0)
      lines.push(`     Also considered: ${entry.alternatives.map(oneLine).join('; ')}`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Ledgers hold text of models and tools: no control character of theirs reaches a terminal, and
 * none is passed over.
 */
function oneLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}
