import type { Event, EventOf } from '../../ledger/event.ts';
import { belongsTo, isRoot, isRootOf, rootOf } from '../../ledger/path.ts';
import type { Batch, InboxItem } from '../../ledger/port.ts';
import type { ReportBroken, WatchedLedger } from './watched-ledger.ts';

/** Kinds of items by which people control a run. */
export type ControlType = 'cancel' | 'pause' | 'interrupt';

/** A cancel, a pause or an interruption that an app has confirmed. */
export interface ConfirmedControl {
  readonly type: ControlType;
  readonly session: string;
  /** Run that is to be cancelled. Pauses and interruptions are for the session. */
  readonly runId: string;
}

/** Milliseconds of the simulation at which people began and ended to let a session go on. */
export interface LetGo {
  readonly session: string;
  readonly from: number;
  until: number;
}

/** Cancels, pauses and interruptions that were posted. */
export class PostedControls {
  /** Their types, by the session and the place in its inbox. */
  readonly #types = new Map<string, ControlType>();

  posted(session: string, { type }: InboxItem, position: number): void {
    if (type === 'cancel' || type === 'pause' || type === 'interrupt')
      this.#types.set(nameOf(session, position), type);
  }

  /** Checks that each of them leaves the inbox in the append that records it. */
  checkTaken(session: string, { consumes = [], events }: Batch, report: ReportBroken): void {
    for (const position of consumes) {
      const type = this.#types.get(nameOf(session, position));
      if (type !== undefined && !events.some((event) => recordsControl(event, type)))
        report('item_with_event', `${session}: a ${type} leaves the inbox without an event`);
    }
  }
}

function nameOf(session: string, position: number): string {
  return JSON.stringify([session, position]);
}

/** True for an event that records a control, or the reason why it is refused. */
function recordsControl(event: Event, type: ControlType): boolean {
  if (event.type !== 'decision') return event.type === type;
  const { component, data, decision } = event;
  if (component === 'inbox' && decision === 'refuse') return data?.['type'] === type;
  return type !== 'cancel' && component === 'run' && decision === 'pause';
}

/** Checks that the controls of people did what they were confirmed to do. */
export function checkControls(
  ledger: WatchedLedger,
  confirmed: readonly ConfirmedControl[],
  letGo: readonly LetGo[],
  report: ReportBroken,
): void {
  for (const control of confirmed) checkRecorded(ledger, control, report);
  for (const event of ledger.events) {
    if (event.type === 'cancel') checkCancelled(ledger, event, report);
    else if (event.type === 'decision' && event.component === 'run' && event.decision === 'pause')
      checkPaused(ledger, event, letGo, report);
  }
}

function checkRecorded(
  { events, session }: WatchedLedger,
  { runId, type }: ConfirmedControl,
  report: ReportBroken,
): void {
  const isRecorded = events.some(
    (event) =>
      recordsControl(event, type) &&
      (type !== 'cancel' || event.type === 'decision' || isOf(event, runId)),
  );
  if (!isRecorded) report('control_heeded', `${session}: the ${type} of ${runId} is in no event`);
}

/** A run that was open when its cancel was recorded ends as cancelled. */
function checkCancelled(
  { events, session }: WatchedLedger,
  { invocationId = '', seq }: EventOf<'cancel'>,
  report: ReportBroken,
): void {
  const end = lastEnd(events, invocationId);
  if (end !== undefined && end.seq > seq && end.status !== 'cancelled')
    report('control_heeded', `${session}: ${invocationId} was cancelled, and is ${end.status}`);
}

/**
 * From its pause until people let it go on, a run ends its rounds, of which each agent may have one
 * under way that it has not recorded yet. Once it has yielded, nothing begins, but for the rounds
 * under way of agents that nothing waits for.
 */
function checkPaused(
  { events, landedAt, session }: WatchedLedger,
  { invocationId: runId = '', seq: paused }: EventOf<'decision'>,
  letGo: readonly LetGo[],
  report: ReportBroken,
): void {
  const pausedAt = landedAt[paused - 1] ?? 0;
  const goesOnAt = letGo.find(({ until }) => until >= pausedAt)?.from ?? Number.POSITIVE_INFINITY;
  const rounds = new Set(events.slice(0, paused).flatMap((event) => roundOf(event) ?? []));
  const begun = new Set<string>();
  const detached = detachedPaths(events);
  let hasYielded = false;
  for (const event of events.slice(paused)) {
    const { type } = event;
    if ((landedAt[event.seq - 1] ?? 0) >= goesOnAt) return;
    // Another lane is neither paused by this pause, nor cancelled by its cancel.
    if (!isOf(event, runId)) continue;
    if (type === 'cancel') return;
    if (type === 'invocation_yield' && event.reason === 'pause' && isRoot(event.invocationId))
      hasYielded = true;
    const isWork = type === 'model_start' || type === 'tool_attempt' || type === 'invocation_start';
    const round = roundOf(event);
    const isOneMore =
      round !== undefined && !rounds.has(round) && begun.has(event.invocationId ?? '');
    const isAwaited = !detached.some((path) => belongsTo(event.invocationId, path));
    if (isOneMore || (hasYielded && isWork && isAwaited))
      report('control_heeded', `${session}: ${runId} was paused at ${paused}, and works on`);
    if (round !== undefined) begun.add(event.invocationId ?? '');
    if (round !== undefined) rounds.add(round);
  }
}

/** Paths of the invocations that nothing waits for: a run yields while they work. */
function detachedPaths(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'invocation_start' && (event.mode === 'dispatch' || event.mode === 'spawn')
      ? [event.invocationId]
      : [],
  );
}

/** Name of the round that a model call begins. */
function roundOf(event: Event): string | undefined {
  return event.type === 'model_start' ? `${event.invocationId} ${event.round}` : undefined;
}

function isOf({ invocationId }: Event, runId: string): boolean {
  return invocationId !== undefined && rootOf(invocationId) === runId;
}

function lastEnd(events: readonly Event[], runId: string): EventOf<'invocation_end'> | undefined {
  return events.findLast(
    (event): event is EventOf<'invocation_end'> =>
      event.type === 'invocation_end' && isRootOf(event.invocationId, runId),
  );
}
