import {
  type Event,
  type EventOf,
  type Fold,
  foldEvent,
  type ModelEndEvent,
  type NextInvocation,
  type StopReason,
  unchanged,
} from '../ledger/event.ts';

/** One execution of a tool. */
export interface AttemptState {
  readonly attempt: number;
  readonly key: string;
  readonly seq: number;
  /** Missing while it runs, or when the process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** One tool call of the open round. */
export interface CallState {
  /** Names the call among what is in flight. Made once: it is looked up whenever it is asked what is to be done. */
  readonly key: string;
  readonly call: EventOf<'tool_call'>;
  readonly attempts: AttemptState[];
  settled: EventOf<'tool_result'> | undefined;
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
  /** The last text that was not empty, of whatever round: all that there is when a limit cuts the answer off. */
  lastText: string;
  readonly calls: Map<string, CallState>;
  unsettled: number;
  tokens: number;
  cost: number;
  /** The runnable that a tool handed over to. */
  next: NextInvocation | undefined;
  /** Messages and endings of spawned children that no prompt has had yet. */
  unseen: number;
  readonly openSpawns: Set<string>;
  /** The limit that was declared exhausted: from then on the model only answers. */
  stopReason: StopReason | undefined;
  readonly warned: Set<string>;
}

export function startPosition(path: string): Position {
  return {
    path,
    isRoot: !path.includes('/'),
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
  };
}

function onModelEnd(position: Position, event: ModelEndEvent): Position {
  if (position.model !== undefined) position.model.end = event;
  position.tokens += event.usage.inputTokens + event.usage.outputTokens;
  position.cost += event.cost ?? 0;
  if (event.status === 'completed') {
    position.rounds = event.round;
    position.modelErrors = 0;
  } else if (event.status === 'error') position.modelErrors++;
  return position;
}

function onToolResult(position: Position, event: EventOf<'tool_result'>): Position {
  const state = position.calls.get(event.callId);
  if (state === undefined || event.late === true) return position;
  const attempt = state.attempts.find((candidate) => candidate.attempt === event.attempt);
  if (attempt !== undefined) attempt.result = event;
  if (event.settled && state.settled === undefined) {
    state.settled = event;
    position.unsettled--;
    position.next ??= event.next;
  }
  return position;
}

function onDecision(position: Position, event: EventOf<'decision'>): Position {
  if (event.component === 'spawn' && event.decision === 'detach') position.openSpawns.delete(String(event.data?.['path']));
  if (event.component !== 'limits') return position;
  const reason = event.data?.['reason'] as StopReason | undefined;
  if (event.decision === 'exhausted' && reason !== undefined) position.stopReason ??= reason;
  if (event.decision === 'warn' && reason !== undefined && event.data?.['of'] !== 'run') position.warned.add(reason);
  return position;
}

/** Folds the events that concern an agent invocation into its position. */
export const positionFold: Fold<Position> = {
  user: (position) => {
    position.unseen++;
    return position;
  },
  assistant: (position, event) => {
    position.text += event.text;
    position.lastText = position.text;
    return position;
  },
  thought: unchanged,
  tool_call: (position, event) => {
    position.calls.set(event.callId, { key: `tool:${event.callId}`, call: event, attempts: [], settled: undefined });
    position.unsettled++;
    return position;
  },
  tool_attempt: (position, event) => {
    position.calls.get(event.callId)?.attempts.push({ attempt: event.attempt, key: event.key, seq: event.seq, result: undefined });
    return position;
  },
  tool_result: onToolResult,
  tool_yield: unchanged,
  tool_input: unchanged,
  state_change: unchanged,
  invocation_start: (position, event) => {
    if (event.mode === 'spawn') position.openSpawns.add(event.invocationId);
    return position;
  },
  invocation_yield: unchanged,
  invocation_resume: unchanged,
  invocation_end: (position, event) => {
    // A child that hands over goes on in its slot.
    if (event.next !== undefined || !position.openSpawns.delete(slotOf(event.invocationId))) return position;
    const callId = event.invocationId.slice(0, event.invocationId.lastIndexOf('/'));
    // A call that is still running may have waited for the child itself.
    if (position.calls.get(callId)?.settled !== undefined || !position.calls.has(callId)) position.unseen++;
    return position;
  },
  invocation_reopen: (position) => {
    // What ended it does not count any more: the last call is made again, and limits are looked at anew.
    const { model } = position;
    if (model?.end !== undefined && model.end.status !== 'completed') model.end = { ...model.end, status: 'interrupted' };
    position.modelErrors = 0;
    position.stopReason = undefined;
    return position;
  },
  model_start: (position, event) => {
    if (event.round !== position.model?.start.round) {
      position.calls.clear();
      position.modelErrors = 0;
    }
    position.model = { start: event, end: undefined };
    position.text = '';
    position.unseen = 0;
    return position;
  },
  model_end: onModelEnd,
  handoff: unchanged,
  decision: onDecision,
  compaction: unchanged,
  artifact: unchanged,
  error: unchanged,
  cancel: unchanged,
};

/** The slot of an invocation: its path without hand-overs. */
function slotOf(path: string): string {
  return path.replace(/>[^/]*$/, '');
}

/** Whether an event concerns the agent invocation at `position`. */
export function concerns(position: Position, event: Event): boolean {
  if (event.invocationId === position.path) return event.type !== 'invocation_start' && event.type !== 'invocation_end';
  switch (event.type) {
    case 'user':
      return position.isRoot && event.invocationId === undefined;
    case 'invocation_start':
      return (
        event.mode === 'spawn' &&
        event.invocationId.startsWith(`${position.path}/r`) &&
        event.invocationId.split('/').length === position.path.split('/').length + 2
      );
    case 'invocation_end':
      return position.openSpawns.has(slotOf(event.invocationId));
    default:
      return false;
  }
}

/**
 * The position after all these events of the ledger.
 * @param whole puts large values in the place of their references
 */
export function foldPosition(path: string, events: readonly Event[], whole: (event: Event) => Event = (event) => event): Position {
  const position = startPosition(path);
  for (const event of events) if (concerns(position, event)) foldEvent(positionFold, position, whole(event));
  return position;
}
