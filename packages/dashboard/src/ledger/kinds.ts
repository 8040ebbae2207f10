/** Kind of an event: what it is drawn as. `failed` goes before all others. */
export type EventKind =
  | 'message'
  | 'model'
  | 'tool'
  | 'wait'
  | 'state'
  | 'decision'
  | 'control'
  | 'error';

const kindOfTypes: Readonly<Record<string, EventKind>> = {
  user: 'message',
  assistant: 'message',
  model_start: 'model',
  model_end: 'model',
  thought: 'model',
  tool_call: 'tool',
  tool_attempt: 'tool',
  tool_result: 'tool',
  tool_yield: 'wait',
  tool_input: 'wait',
  invocation_yield: 'wait',
  state_change: 'state',
  memory: 'state',
  artifact: 'state',
  decision: 'decision',
  plan: 'decision',
  plan_update: 'decision',
  unreadable: 'error',
};

/** Returns the kind of a type. Types that this page does not know count as control. */
export function kindOf(type: string, failed = false): EventKind {
  return failed ? 'error' : (kindOfTypes[type] ?? 'control');
}

/** Kinds in the order in which filters name them, with their words. */
export const kindNames: readonly (readonly [EventKind, string])[] = [
  ['message', 'Messages'],
  ['model', 'Model'],
  ['tool', 'Tools'],
  ['state', 'State'],
  ['decision', 'Decisions'],
  ['wait', 'Waits'],
  ['control', 'Control'],
  ['error', 'Errors'],
];

export function isEventKind(text: string | null): text is EventKind {
  return kindNames.some(([kind]) => kind === text);
}
