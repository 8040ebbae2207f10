import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import { sleepsUntil } from '../../ledger/folds/sleeps.ts';
import { taskOfRun } from '../../ledger/folds/task.ts';
import { parentOf } from '../../ledger/path.ts';
import { isSuccess } from '../../ledger/tool-result.ts';
import type { AnySession } from '../../session/session.ts';
import { confidenceOf } from '../confidence.ts';
import { isJsonObject } from '../decision-subject.ts';
import { EventPlaces } from '../event-places.ts';
import type { ExplainedDecision } from '../explain.ts';
import { causalGraph } from './causal-graph.ts';
import { EventWords } from './event-words.ts';
import {
  concludingEvent,
  type ExplainedRunOptions,
  openRequests,
  type RunToExplain,
  runToExplain,
} from './explained-run.ts';

/** Something that the conclusion of a run rests on. */
export interface Evidence {
  /** `seq` of the event that has it. */
  readonly seq: number;
  /** Where it comes from: `tool search`, `message`, or `answer` of a person. */
  readonly source: string;
  /** Arguments of the tool. */
  readonly args?: JsonValue;
  readonly result: JsonValue;
  /** Confidence in it, when it was lowered. */
  readonly confidence?: number;
}

/** Something that a reader should doubt. */
export interface Limitation {
  readonly seq: number;
  readonly what: string;
}

/** A request that nobody has answered yet. */
export interface OpenRequestWords {
  /** `seq` of the event that opened it. */
  readonly seq: number;
  readonly requestId: string;
  /** The question, or why there is one. */
  readonly what: string;
}

/** Conclusion of a run with its evidence, as data. */
export interface Explanation {
  readonly run: string;
  /** Name of what was run. */
  readonly agent: string;
  /** The firing of a trigger that began the run, if one did. */
  readonly began?: { readonly trigger: string; readonly firing: string; readonly why: string };
  readonly status: 'completed' | 'error' | 'cancelled' | 'waiting' | 'sleeping' | 'running';
  /** Need of a run with the status `waiting`: a message, an answer, or to be let go on. */
  readonly waitsFor?: 'input' | 'tool_input' | 'pause';
  /** `seq` of the event that it was concluded with. */
  readonly seq: number;
  /**
   * The output, else the message of the error, the question that it waits with, what it said before
   * it waits for a message, or the time until which it sleeps.
   */
  readonly conclusion: JsonValue;
  /** Requests that a run with `waitsFor: 'tool_input'` waits with, oldest first. */
  readonly requests?: readonly OpenRequestWords[];
  /** Confidence in the output, when something lowers it. */
  readonly confidence?: number;
  readonly evidence: readonly Evidence[];
  /** Choices on the way to the conclusion that had alternatives. */
  readonly decisions: readonly ExplainedDecision[];
  /** Calls that failed and results that were doubted. */
  readonly limitations: readonly Limitation[];
}

/** @throws InvalidOptionError also when there is no such run */
export function explanationOf(
  source: AnySession | readonly Event[],
  options: ExplainedRunOptions,
): Explanation {
  const explained = runToExplain('explainTo', source, options);
  const { run, events, all, resolve } = explained;
  const words = new EventWords(all, resolve);
  const { nodes } = causalGraph(source, options);
  const onTheWay = events.filter((_event, index) => nodes[index]?.decisive === true);
  const { event, agent, status, waitsFor, conclusion } = concluded(explained, words);
  const whole = all.map((one) => (one.type === 'invocation_end' ? withOutput(one, resolve) : one));
  const confidence = status === 'completed' ? confidenceOf(whole, run) : undefined;
  return {
    run,
    agent,
    ...defined({ began: beganBy(explained) }),
    status,
    ...defined({ waitsFor }),
    seq: event.seq,
    conclusion,
    ...(waitsFor === 'tool_input' ? { requests: requestsOf(events, words) } : {}),
    ...defined({ confidence }),
    evidence: evidenceOf(events, onTheWay, resolve),
    decisions: onTheWay.flatMap((one) => {
      const choice = words.choice(one);
      return choice === undefined || choice.alternatives.length === 0 ? [] : choice;
    }),
    limitations: events.flatMap((one) =>
      isLimitation(one) ? { seq: one.seq, what: words.of(one) } : [],
    ),
  };
}

/** The firing of a trigger that began a run. */
function beganBy({ all, resolve, run }: RunToExplain): Explanation['began'] {
  const began = resolve(taskOfRun(all, run)?.began);
  if (!isJsonObject(began)) return undefined;
  const [trigger, firing, why] = [began['trigger'], began['firing'], began['why']];
  return { trigger: String(trigger), firing: String(firing), why: String(why) };
}

function requestsOf(events: readonly Event[], words: EventWords): readonly OpenRequestWords[] {
  return openRequests(events).map((event) => ({
    seq: event.seq,
    requestId: event.requestId,
    what: words.choice(event)?.why ?? words.of(event),
  }));
}

type Resolve = RunToExplain['resolve'];

function withOutput(end: EventOf<'invocation_end'>, resolve: Resolve): EventOf<'invocation_end'> {
  return { ...end, ...defined({ output: resolve(end.output) as JsonValue | undefined }) };
}

interface Concluded extends Pick<Explanation, 'agent' | 'status' | 'waitsFor' | 'conclusion'> {
  readonly event: Event;
}

function concluded(explained: RunToExplain, words: EventWords): Concluded {
  const { all, resolve, run, events } = explained;
  const event = concludingEvent(explained) as Event;
  const agent = new EventPlaces(all).of(bodyOf(event, events)).agent ?? run;
  if (event.type === 'invocation_end') {
    const { status, output, error } = event;
    const said = status === 'error' || status === 'cancelled' ? error?.message : resolve(output);
    return {
      event,
      agent,
      status: status === 'transferred' ? 'completed' : status,
      conclusion: (said ?? null) as JsonValue,
    };
  }
  if (event.type === 'invocation_start' && event.kind === 'sleep') {
    const until = new Date(sleepsUntil(event.input)).toISOString();
    return { event, agent, status: 'sleeping', conclusion: until };
  }
  const waitsFor = waitsForIn(event, events);
  const status = waitsFor === undefined ? 'running' : 'waiting';
  const said = events.findLast(({ type }) => type === 'assistant');
  const conclusion =
    waitsFor === 'input' && said?.type === 'assistant'
      ? (resolve(said.text) as string)
      : (words.choice(event)?.why ?? words.of(event));
  return { event, agent, status, ...defined({ waitsFor }), conclusion };
}

/**
 * Returns the need of a run that has come to an event. `undefined`: it is at work, or has what it
 * waited for and goes on.
 */
function waitsForIn(event: Event, events: readonly Event[]): Explanation['waitsFor'] {
  const last = events.findLast(
    ({ type }) => type === 'invocation_yield' || type === 'invocation_resume',
  );
  if (last?.type !== 'invocation_yield') return undefined;
  if (event.type === 'tool_yield') return 'tool_input';
  return last.reason === 'input' || last.reason === 'pause' ? last.reason : undefined;
}

/** The start of the step that asks or sleeps, instead of its question or its sleep. */
function bodyOf(event: Event, events: readonly Event[]): Event {
  const startOf = (path: string | undefined) =>
    events.find((one) => one.type === 'invocation_start' && one.invocationId === path);
  const start = startOf(event.invocationId);
  if (start?.type !== 'invocation_start') return event;
  const isWait = start.kind === 'question' || start.kind === 'sleep';
  return (isWait ? startOf(parentOf(start.invocationId)) : undefined) ?? event;
}

function evidenceOf(
  events: readonly Event[],
  onTheWay: readonly Event[],
  resolve: Resolve,
): readonly Evidence[] {
  const args = new Map<string, JsonValue>();
  for (const event of events) if (event.type === 'tool_call') args.set(event.callId, event.args);
  return onTheWay.flatMap((event): Evidence | readonly [] => {
    const { seq } = event;
    switch (event.type) {
      case 'user':
        return { seq, source: 'message', result: resolve(event.text) as JsonValue };
      case 'tool_input':
        return {
          seq,
          source: 'answer',
          result: (resolve(event.input) ?? event.decision) as JsonValue,
        };
      case 'tool_result': {
        const { callId, name, result, settled } = event;
        if (!settled || !isSuccess(result)) return [];
        return {
          seq,
          source: `tool ${name}`,
          ...defined({ args: resolve(args.get(callId)) as JsonValue | undefined }),
          result: resolve(result.content) as JsonValue,
          ...defined({ confidence: result.confidence }),
        };
      }
      default:
        return [];
    }
  });
}

function isLimitation(event: Event): boolean {
  if (event.type === 'decision') return event.component === 'result_check';
  return event.type === 'tool_result' && event.settled && !isSuccess(event.result);
}
