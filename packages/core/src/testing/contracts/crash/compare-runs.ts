import type { Event, EventOf } from '../../../ledger/event.ts';
import { sleepsUntil } from '../../../ledger/folds/sleeps.ts';
import { isBelow } from '../../../ledger/path.ts';
import type { Execution, ScenarioComparison } from './crash-scenario.ts';
import { openInvocations } from './scenario-process.ts';
import type { EndedScenario } from './scenario-runs.ts';
import { differencesBetween, type ValueDifference } from './value-difference.ts';

/** A difference between a run that was stopped and continued and one that was not. */
export interface Problem {
  /** A sentence without its full stop. */
  readonly what: string;
  /** `left`: without a stop; `right`: continued. */
  readonly differences: readonly ValueDifference[];
}

export interface Comparison {
  readonly compares: ScenarioComparison;
  /**
   * True when the run went on in a copy of its ledger. Its writes to shared scopes are then its
   * own, and the earlier executions are not known.
   */
  readonly isCopy: boolean;
}

/** Returns the first difference between a continued run and one that was not stopped. */
export function findProblem(
  whole: EndedScenario,
  continued: EndedScenario,
  { compares, isCopy }: Comparison,
): Problem | undefined {
  const { outcome, events, held, shared } = continued;
  return (
    difference('its result is another one', whole.outcome.result, outcome.result) ??
    (compares === 'end'
      ? undefined
      : difference('its state is another one', whole.outcome.state, outcome.state)) ??
    (isCopy || compares === 'end'
      ? undefined
      : difference('its shared scopes hold something else', whole.shared, shared)) ??
    (compares === 'projection'
      ? difference('its ledger tells something else', whole.outcome.projection, outcome.projection)
      : undefined) ??
    difference('invocations have no end', [], openInvocations(events)) ??
    difference('sleeps have ended before their time', [], earlySleeps(events)) ??
    difference(
      'its events are not numbered one after the other',
      places(events),
      numbers(events),
    ) ??
    difference('the store has not what the process has', held, events) ??
    effectProblem(whole, continued, isCopy)
  );
}

function difference(what: string, left: unknown, right: unknown): Problem | undefined {
  const differences = differencesBetween(left, right);
  return differences.length === 0 ? undefined : { what, differences };
}

/** Paths of the sleeps that ended before their recorded time, and milliseconds by which. */
function earlySleeps(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'invocation_end' || event.status !== 'completed') return [];
    const start = events.findLast(
      (begun) =>
        begun.type === 'invocation_start' &&
        begun.kind === 'sleep' &&
        begun.invocationId === event.invocationId,
    );
    if (start?.type !== 'invocation_start') return [];
    const early = sleepsUntil(start.input) - event.at;
    return early > 0 ? [`${event.invocationId}: ${early} ms`] : [];
  });
}

function problem(what: string): Problem {
  return { what, differences: [] };
}

function numbers(events: readonly Event[]): readonly number[] {
  return events.map(({ seq }) => seq);
}

function places(events: readonly Event[]): readonly number[] {
  return events.map((_, index) => index + 1);
}

/**
 * Checks how often tools were entered. Each attempt enters its tool once at most, and a tool that
 * reports is entered once in all. A tool that succeeded has been entered, and a settled call is not
 * entered again. A call that has called an agent or an effect is continued by running it again,
 * which does not count.
 */
function effectProblem(
  whole: EndedScenario,
  continued: EndedScenario,
  isCopy: boolean,
): Problem | undefined {
  const { events, before } = continued;
  const settled = settledCalls(events);
  const calls = new Set(settled.map(({ callId }) => callId));
  return (
    entryProblem(continued) ??
    keyProblem(continued) ??
    settledTwice(events) ??
    difference(
      'not every call was settled',
      [...new Set(attemptedCalls(events))].sort(),
      [...calls].sort(),
    ) ??
    (isCopy
      ? undefined
      : successProblem(settled, [...before.executions, ...continued.executions], whole, events))
  );
}

/** A call is settled once. An effect whose unknown outcome was reopened may be settled again. */
function settledTwice(events: readonly Event[]): Problem | undefined {
  const last = new Map<string, number>();
  for (const { callId, seq } of settledCalls(events)) {
    const before = last.get(callId);
    if (before !== undefined && !isReopened(events, callId, before, seq))
      return problem('a call was settled twice');
    last.set(callId, seq);
  }
  return undefined;
}

/** True when an effect was reopened between two events. */
function isReopened(
  events: readonly Event[],
  callId: string,
  from: number,
  to = Number.POSITIVE_INFINITY,
): boolean {
  return events.some(
    (event) =>
      event.type === 'invocation_reopen' &&
      event.seq > from &&
      event.seq < to &&
      event.effects?.includes(callId) === true,
  );
}

function entryProblem({ events, executions, before }: EndedScenario): Problem | undefined {
  const settledBefore = new Set(
    settledCalls(before.events).flatMap(({ callId, seq }) =>
      isReopened(events, callId, seq) ? [] : [callId],
    ),
  );
  const [after, first] = [Map.groupBy(executions, callOf), Map.groupBy(before.executions, callOf)];
  for (const [callId, entered] of after) {
    if (settledBefore.has(callId)) return problem(`"${callId}" was settled and was run again`);
    if (isReentrant(events, callId)) continue;
    // A tool that may be repeated begins before its attempt is durable: of the stopped process only
    // its events are known.
    const attempts = attemptsOf(events, callId) - attemptsOf(before.events, callId);
    if (entered.length > attempts)
      return problem(
        `"${callId}" was run ${entered.length} times after the stop, in ${attempts} attempts`,
      );
    const all = [...(first.get(callId) ?? []), ...entered];
    const allowed = 1 + allowedRepetitions(events, callId);
    if (all.every(({ recovery }) => recovery === 'report') && all.length > allowed) {
      return problem(`"${callId}" was run ${all.length} times, and may not be repeated`);
    }
  }
  return undefined;
}

/**
 * Number of times that a tool which reports may be tried again: it is known to have had no effect,
 * or a person says so.
 */
function allowedRepetitions(events: readonly Event[], callId: string): number {
  return events.filter((event) => {
    if (event.type === 'tool_result')
      return event.callId === callId && !event.settled && event.effect === 'none';
    return event.type === 'tool_input' && event.callId === callId && event.decision === 'retry';
  }).length;
}

function successProblem(
  settled: readonly EventOf<'tool_result'>[],
  entered: readonly Execution[],
  whole: EndedScenario,
  events: readonly Event[],
): Problem | undefined {
  const known = new Set(whole.executions.map(callOf));
  const ran = new Set(entered.map(callOf));
  const told = new Set(
    events.flatMap((event) =>
      event.type === 'tool_input' && event.decision === 'succeeded' ? [event.callId] : [],
    ),
  );
  const never = settled.find(
    ({ callId, result }) =>
      result.status === 'success' && known.has(callId) && !ran.has(callId) && !told.has(callId),
  );
  return never === undefined
    ? undefined
    : problem(`"${never.callId}" has succeeded and was not run`);
}

/**
 * Checks that the next attempt has the same idempotency key, as long as the effect of an attempt is
 * unknown.
 */
function keyProblem({ events, executions, before }: EndedScenario): Problem | undefined {
  const keys = new Map<string, string>();
  for (const event of before.events) {
    if (event.type === 'tool_attempt') keys.set(event.callId, event.key);
    if (event.type === 'tool_result' && event.effect === 'none') keys.delete(event.callId);
  }
  // The answer of a person after the stop counts for the next attempt.
  const attempted = new Set<string>();
  for (const event of events.slice(before.events.length)) {
    if (event.type === 'tool_attempt') attempted.add(event.callId);
    if (event.type === 'tool_result' && event.effect === 'none' && !attempted.has(event.callId))
      keys.delete(event.callId);
  }
  const repeated = executions.filter(
    ({ callId }, i) =>
      executions.findIndex((other) => other.callId === callId) === i && keys.has(callId),
  );
  return difference(
    'what may have happened was tried again under another key',
    Object.fromEntries(repeated.map(({ callId }) => [callId, keys.get(callId)])),
    Object.fromEntries(repeated.map(({ callId, key }) => [callId, key])),
  );
}

function callOf({ callId }: { readonly callId: string }): string {
  return callId;
}

function attemptsOf(events: readonly Event[], callId: string): number {
  return events.filter((event) => event.type === 'tool_attempt' && event.callId === callId).length;
}

function isReentrant(events: readonly Event[], callId: string): boolean {
  return events.some(
    (event) =>
      (event.type === 'invocation_start' && isBelow(event.invocationId, callId)) ||
      (event.type === 'tool_attempt' && isBelow(event.callId, callId)),
  );
}

function settledCalls(events: readonly Event[]): readonly EventOf<'tool_result'>[] {
  return events.filter(
    (event): event is EventOf<'tool_result'> => event.type === 'tool_result' && event.settled,
  );
}

function attemptedCalls(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'tool_call' || event.type === 'tool_attempt' ? [event.callId] : [],
  );
}
