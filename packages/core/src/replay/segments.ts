import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import { defaultLane } from '../ledger/folds/lanes.ts';
import { isRootOf, rootOf } from '../ledger/path.ts';

/** A part of a record that one process wrote. */
export interface Segment {
  /** Place of the first event in the list. */
  readonly from: number;
  /** Place behind the last event. */
  readonly to: number;
  /** True when it begins with a run that is continued. */
  readonly isResumed: boolean;
  /** The session that wrote it: the prefix of a fork comes from another one. */
  readonly session: string | undefined;
  /** True when its end may lie between events of one append, as the place of a fork may. */
  readonly isCutAnywhere: boolean;
}

/**
 * Splits a record where a process continued a run that was stopped, had crashed or had waited. For
 * any of these reasons, the next process read the ledger and went on, and so does a replay. A
 * process never resumes a run that it has begun or resumed itself, unless it went on with the run
 * of another lane meanwhile. The ids that one process makes have the same beginning.
 * @param isPart true when the record went on
 */
export function segmentsOf(events: readonly Event[], isPart: boolean): readonly Segment[] {
  const segments: Segment[] = [];
  const active = new Set<string>();
  const open = new Set<string>();
  const lanes = new WorkingLanes();
  let writer: string | undefined;
  let from = 0;
  let isResumed = false;
  events.forEach((event, at) => {
    const by = writerOf(event);
    const isOthers = by !== undefined && writer !== undefined && by !== writer;
    const isFork = isForkOf(event) !== undefined;
    if (
      isFork ||
      isOthers ||
      (event.type === 'invocation_resume' &&
        active.has(event.invocationId) &&
        !lanes.isOtherAtWork(event.invocationId))
    ) {
      if (at > from)
        segments.push({
          from,
          to: at,
          isResumed,
          session: writerSession(events, at),
          isCutAnywhere: isFork,
        });
      from = at;
      isResumed = open.size > 0;
      active.clear();
      lanes.clear();
    }
    writer = by ?? writer;
    noteOpen(event, active, open);
    lanes.note(event);
  });
  if (events.length > from)
    segments.push({
      from,
      to: events.length,
      isResumed,
      session: undefined,
      isCutAnywhere: isPart,
    });
  return segments;
}

/** Runs that a process is at work on, by the events of their roots. */
class WorkingLanes {
  /** Lane of each run. */
  readonly #lanes = new Map<string, string>();
  readonly #atWork = new Set<string>();

  note({ type, invocationId, ...event }: Event): void {
    const run = rootOf(invocationId ?? '');
    if (run === '') return;
    if (type === 'invocation_start' && run === invocationId)
      this.#lanes.set(run, (event as { lane?: string }).lane ?? defaultLane);
    const rests = type === 'invocation_yield' || type === 'invocation_end';
    if (rests && isRootOf(invocationId ?? '', run)) this.#atWork.delete(run);
    else if (type === 'invocation_start' || type === 'invocation_resume') this.#atWork.add(run);
  }

  /** True when the process is at work on a run of another lane than that of an invocation. */
  isOtherAtWork(path: string): boolean {
    const lane = this.#lanes.get(rootOf(path));
    return [...this.#atWork].some((run) => this.#lanes.get(run) !== lane);
  }

  clear(): void {
    this.#atWork.clear();
  }
}

/**
 * Returns the session that a fork comes from, as recorded in the first event of the fork itself;
 * `undefined` for other events.
 */
function isForkOf(event: Event): { readonly from: string | undefined } | undefined {
  if (!isDecision(event, 'fork')) return undefined;
  const from: unknown = event.data?.from;
  return { from: typeof from === 'string' ? from : undefined };
}

/** Returns the session that wrote the events before a place. */
function writerSession(events: readonly Event[], at: number): string | undefined {
  const fork = events.slice(at).find((event) => isForkOf(event) !== undefined);
  return fork === undefined ? undefined : isForkOf(fork)?.from;
}

function noteOpen(event: Event, active: Set<string>, open: Set<string>): void {
  if (event.type === 'invocation_end') open.delete(event.invocationId);
  if (event.type === 'invocation_start' || event.type === 'invocation_resume')
    active.add(event.invocationId);
  if (event.type === 'invocation_start' || event.type === 'invocation_reopen')
    open.add(event.invocationId);
}

/**
 * Returns the beginning that the ids of one writer of a ledger share; `undefined` for ids without
 * one.
 */
function writerOf({ id, seq }: Event): string | undefined {
  const place = seq.toString(36);
  return id.length > place.length && id.endsWith(place) ? id.slice(0, -place.length) : undefined;
}

/** The arguments that a run was started with, and its first events. */
export interface RootStart {
  readonly runId: string;
  readonly name: string;
  readonly input: string | undefined;
  readonly isNamed: boolean;
  readonly data: unknown;
  readonly lane: string | undefined;
  readonly model: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly limits: Readonly<Record<string, number>> | undefined;
  readonly permissions: readonly string[] | undefined;
  /**
   * The seqs of the events that came with the start. They are made again, although they come from
   * outside.
   */
  readonly seqs: readonly number[];
}

/**
 * Returns the runs that a record starts, by the seq of the first event that came with the start.
 */
export function rootStarts(
  events: readonly Event[],
  resolve: (value: unknown) => unknown,
): ReadonlyMap<number, RootStart> {
  const found = new Map<number, RootStart>();
  events.forEach((event, at) => {
    if (event.type !== 'invocation_start' || event.mode !== 'root') return;
    let first = at;
    while (isOfStart(events[first - 1], event)) first--;
    const before = events.slice(first, at);
    const said = before.find((other) => other.type === 'user');
    const { deadline } = event;
    found.set((events[first] as Event).seq, {
      seqs: before.map(({ seq }) => seq),
      runId: event.invocationId,
      name: event.name,
      input: said?.type === 'user' ? String(resolve(said.text)) : undefined,
      isNamed: said?.type === 'user' && said.clientKey !== undefined,
      data: (resolve(event.input) as { data?: unknown } | undefined)?.data,
      lane: event.lane,
      model: event.model,
      timeoutMs: deadline === undefined ? undefined : deadline - event.at,
      limits: before.find((one) => isDecision(one, 'limits', 'set'))?.data as RootStart['limits'],
      permissions: before.find((one) => isDecision(one, 'permissions', 'grant'))?.data?.permissions,
    });
  });
  return found;
}

function isOfStart(
  event: Event | undefined,
  { invocationId }: EventOf<'invocation_start'>,
): boolean {
  if (event === undefined || event.invocationId !== invocationId) return false;
  return event.type === 'user' || isDecision(event, 'limits') || isDecision(event, 'permissions');
}
