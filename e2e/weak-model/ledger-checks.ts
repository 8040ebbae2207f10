import type { Event, EventOf } from 'adjutant';

/** Returns sentences about all that a ledger of a session at rest must not have. */
export function faultsOf(events: readonly Event[]): readonly string[] {
  return [...gaps(events), ...openRuns(events), ...openCalls(events), ...openAnswers(events)];
}

export function only<Type extends Event['type']>(
  events: readonly Event[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

function gaps(events: readonly Event[]): readonly string[] {
  return events
    .filter(({ seq }, index) => seq !== index + 1)
    .map(({ seq }) => `Event ${seq} is not where its number says.`);
}

/** Runs of which the last that is known is neither an end nor that they wait. */
function openRuns(events: readonly Event[]): readonly string[] {
  const last = new Map<string, Event>();
  for (const event of events)
    if (event.type.startsWith('invocation_') && event.invocationId !== undefined)
      last.set(event.invocationId, event);
  return [...last.values()]
    .filter(({ type }) => type !== 'invocation_end' && type !== 'invocation_yield')
    .map(({ invocationId, type, seq }) => `${invocationId} is open: ${type} (#${seq}).`);
}

function openCalls(events: readonly Event[]): readonly string[] {
  const settled = new Map<string, number>();
  for (const { callId, settled: isSettled } of only(events, 'tool_result'))
    if (isSettled) settled.set(callId, (settled.get(callId) ?? 0) + 1);
  return only(events, 'tool_call')
    .filter(({ callId }) => settled.get(callId) !== 1)
    .map(({ name, seq, callId }) => `${name} (#${seq}) has ${settled.get(callId) ?? 0} results.`);
}

/** Calls of the model of which nobody knows how they ended. */
function openAnswers(events: readonly Event[]): readonly string[] {
  const keyOf = ({ invocationId, round, attempt }: EventOf<'model_start' | 'model_end'>): string =>
    JSON.stringify([invocationId, round, attempt]);
  const ends = only(events, 'model_end').map(keyOf);
  return only(events, 'model_start')
    .filter((start) => ends.filter((end) => end === keyOf(start)).length !== 1)
    .map(({ seq }) => `The call of the model at #${seq} has not exactly one end.`);
}
