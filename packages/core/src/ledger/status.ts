import { defined } from '../base/defined.ts';
import { isBlobReference } from './blobs/blob.ts';
import type { Event, EventOf } from './event.ts';
import type { InvocationRecord, InvocationTree } from './folds/invocation-fold.ts';
import { laneAt } from './folds/lanes.ts';
import type { SessionSummary } from './port.ts';

export type SessionStatus = SessionSummary['status'];

const titleLength = 80;

/**
 * Status of a session: the state of its last run. It is `active` also before the first run, and
 * after a message that no run has taken yet. Of several lanes, one at work comes first, then one
 * that waits.
 */
export function sessionStatus(ledger: { readonly invocations: InvocationTree }): SessionStatus {
  const { roots, byPath, lanes, outside, waits } = ledger.invocations;
  const last = byPath.get(roots.at(-1) ?? '');
  const lastMessage = outside.findLast((event) => event.type === 'user');
  const status = statusAfter(
    last === undefined ? undefined : { status: last.status, endSeq: last.end?.seq },
    lastMessage?.seq ?? 0,
    waits.get(laneAt(ledger.invocations, last?.path)) ?? new Set(),
  );
  if (lanes.size < 2) return status;
  const others = [...lanes].map(([lane, root]) => {
    const lastRun = { status: byPath.get(root)?.status ?? 'open', endSeq: undefined };
    return statusAfter(lastRun, 0, waits.get(lane) ?? new Set());
  });
  return statusOfLanes(status, others);
}

/** States of lanes of which the first that one of them has is that of the session. */
const ranking: readonly SessionStatus[] = ['active', 'awaiting_input', 'sleeping'];

/**
 * Status of a session with several lanes.
 * @param status status after the last run of all
 * @param ofLanes status after the last run of each lane
 */
export function statusOfLanes(
  status: SessionStatus,
  ofLanes: readonly SessionStatus[],
): SessionStatus {
  return ranking.find((one) => status === one || ofLanes.includes(one)) ?? status;
}

/**
 * Status after a last run, and after a message outside all runs.
 * @param lastMessageSeq sequence number of that message, 0 when there is none
 * @param waits what the parts of the run wait for
 */
export function statusAfter(
  lastRun:
    | { readonly status: InvocationRecord['status']; readonly endSeq: number | undefined }
    | undefined,
  lastMessageSeq: number,
  waits: ReadonlySet<EventOf<'invocation_yield'>['reason']>,
): SessionStatus {
  if (lastRun === undefined) return 'active';
  if (lastRun.endSeq !== undefined && lastMessageSeq > lastRun.endSeq) return 'active';
  switch (lastRun.status) {
    case 'open':
      return 'active';
    case 'yielded':
      return waits.has('sleep') && waits.size === 1 ? 'sleeping' : 'awaiting_input';
    case 'error':
      return 'error';
    default:
      return 'completed';
  }
}

/** Name of the agent that acted last. */
export function currentAgentName(events: readonly Event[]): string | undefined {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as Event;
    if (event.type === 'invocation_start' && event.kind === 'agent') return event.name;
    if ('agent' in event) return event.agent;
  }
  return undefined;
}

/** Makes the entry of a session in the session list. */
export function sessionSummary(ledger: {
  readonly events: readonly Event[];
  readonly invocations: InvocationTree;
  readonly user: string | undefined;
}): SessionSummary {
  const first = ledger.events.find((event) => event.type === 'user');
  const runnable = ledger.invocations.byPath.get(ledger.invocations.roots.at(-1) ?? '')?.name;
  return {
    status: sessionStatus(ledger),
    ...defined({
      title: first === undefined ? undefined : shorten(first.text),
      runnable,
      user: ledger.user,
    }),
  };
}

function shorten(text: unknown): string {
  // A long first message is kept as a blob; its preview is the beginning of its JSON.
  const beginning = isBlobReference(text) ? text.preview.slice(1) : text;
  const line = String(typeof beginning === 'string' ? beginning : '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= titleLength ? line : `${line.slice(0, titleLength - 1)}…`;
}
