import type { Event, EventOf, StreamEvent } from 'adjutant';
import { defined } from 'adjutant/text';

/** Open request of a run. */
export interface OpenRequest {
  readonly requestId: string;
  readonly callId: string;
  readonly kind: EventOf<'tool_yield'>['kind'];
  readonly name: string;
  readonly agent: string;
  readonly summary: string;
  readonly expiresAt?: number;
}

/** State of a run. */
export interface RunState {
  /** `seq` of its first event. */
  readonly firstSeq: number;
  readonly status: 'running' | 'waiting' | 'completed' | 'error' | 'cancelled';
  /** Reason why it waits. */
  readonly reason?: EventOf<'invocation_yield'>['reason'];
  readonly requests: readonly OpenRequest[];
  /** Its end, if it has ended. */
  readonly end?: EventOf<'invocation_end'>;
}

/** Name of the run that an invocation belongs to: the first part of its path. */
export function runOf(invocationId: string): string {
  const end = invocationId.search(/[/>]/);
  return end < 0 ? invocationId : invocationId.slice(0, end);
}

/** True when an invocation is the root of its run, or takes its place after a handoff. */
export function isRoot(invocationId: string): boolean {
  return !invocationId.includes('/');
}

/**
 * True when an event belongs to the stream of a run: its path is of the run, or it concerns the
 * whole session while the run is open, such as granted permissions.
 */
export function concerns(run: string, state: RunState | undefined, event: StreamEvent): boolean {
  if (event.invocationId !== undefined) return runOf(event.invocationId) === run;
  return state !== undefined && state.end === undefined;
}

/** Follows one run: what it is doing after one more event of its session. */
export function runAfter(
  run: string,
  state: RunState | undefined,
  event: Event,
): RunState | undefined {
  if (event.invocationId === undefined || runOf(event.invocationId) !== run) return state;
  const known: RunState = state ?? { firstSeq: event.seq, status: 'running', requests: [] };
  switch (event.type) {
    case 'tool_yield':
      return { ...known, requests: [...known.requests, requestOf(event)] };
    case 'tool_input':
      return {
        ...known,
        requests: known.requests.filter(({ requestId }) => requestId !== event.requestId),
      };
    case 'tool_result':
      // A call that was cancelled is asked about no more.
      return event.settled
        ? { ...known, requests: known.requests.filter(({ callId }) => callId !== event.callId) }
        : known;
    default:
      return isRoot(event.invocationId) ? rootAfter(known, event) : known;
  }
}

function rootAfter(known: RunState, event: Event): RunState {
  const { firstSeq, requests } = known;
  switch (event.type) {
    case 'invocation_yield':
      return { firstSeq, requests, status: 'waiting', reason: event.reason };
    case 'invocation_resume':
    case 'invocation_reopen':
      return { firstSeq, requests, status: 'running' };
    case 'invocation_end':
      if (event.next !== undefined) return known;
      return {
        firstSeq,
        requests: [],
        status: event.status === 'transferred' ? 'completed' : event.status,
        end: event,
      };
    default:
      return known;
  }
}

function requestOf({
  requestId,
  callId,
  kind,
  name,
  request,
  expiresAt,
}: EventOf<'tool_yield'>): OpenRequest {
  const { agent, summary } = request;
  return {
    requestId,
    callId,
    kind,
    name,
    agent,
    summary,
    ...defined({ expiresAt }),
  };
}
