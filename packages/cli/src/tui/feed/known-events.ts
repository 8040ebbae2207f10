import type { Event, StoredEvent } from 'adjutant';

const types: ReadonlySet<string> = new Set<Event['type']>([
  ...(['user', 'assistant', 'thought', 'model_start', 'model_end', 'handoff', 'decision'] as const),
  ...(['tool_call', 'tool_attempt', 'tool_result', 'tool_yield', 'tool_input'] as const),
  ...(['invocation_start', 'invocation_yield', 'invocation_resume', 'invocation_end'] as const),
  ...(['invocation_reopen', 'state_change', 'compaction', 'memory', 'artifact'] as const),
  ...(['error', 'cancel'] as const),
]);

/** Checks whether this version knows what an event says. */
export function isKnown(event: StoredEvent): event is Event {
  return types.has(event.type);
}

/** Says that an event cannot be shown, because its type or its form is not known here. */
export function unknownText({ seq }: Pick<StoredEvent, 'seq'>): string {
  return `#${seq} cannot be shown: needs a newer adjutant`;
}
