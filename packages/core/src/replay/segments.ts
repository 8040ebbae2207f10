import type { Event, EventOf } from '../ledger/event.ts';

/** A stretch of a record that one process has written. */
export interface Segment {
  /** Place of its first event in the list, and the one behind its last. */
  readonly from: number;
  readonly to: number;
  /** Whether it begins with a run being continued. */
  readonly isResumed: boolean;
  /** The session that wrote it: that of a fork's prefix is another one. */
  readonly session: string | undefined;
  /** Whether its end may lie between events of one append, as the place of a fork may. */
  readonly isCutAnywhere: boolean;
}

/**
 * Splits a record where somebody took a run up that was stopped, had crashed or had waited:
 * whatever became of the process before, the next one read the ledger and went on, and so does a
 * replay. A process resumes nothing that it has begun or resumed itself, and the ids that it gives
 * begin alike.
 * @param isPart whether the record went on
 */
export function segmentsOf(events: readonly Event[], isPart: boolean): readonly Segment[] {
  const segments: Segment[] = [];
  const active = new Set<string>();
  const open = new Set<string>();
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
      (event.type === 'invocation_resume' && active.has(event.invocationId))
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
    }
    writer = by ?? writer;
    noteOpen(event, active, open);
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

/**
 * The session that a fork comes from, as the first event of the fork's own says; `undefined` for
 * other events.
 */
function isForkOf(event: Event): { readonly from: string | undefined } | undefined {
  if (event.type !== 'decision' || event.component !== 'fork') return undefined;
  const from = event.data?.['from'];
  return { from: typeof from === 'string' ? from : undefined };
}

/** The session that wrote what stands before a place. */
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
 * What the ids of one writer of a ledger begin with; `undefined` for ids that say nothing of it.
 */
function writerOf({ id, seq }: Event): string | undefined {
  const place = seq.toString(36);
  return id.length > place.length && id.endsWith(place) ? id.slice(0, -place.length) : undefined;
}

/** What a run was started with, and its first events. */
export interface RootStart {
  readonly runId: string;
  readonly name: string;
  readonly input: string | undefined;
  readonly isNamed: boolean;
  readonly data: unknown;
  readonly timeout: number | undefined;
  readonly limits: Readonly<Record<string, number>> | undefined;
  readonly permissions: readonly string[] | undefined;
  /**
   * The seqs of what came with the start: that is made again, although it says what somebody
   * outside wanted.
   */
  readonly seqs: readonly number[];
}

/** The runs that a record starts, by the seq of the first event that came with the start. */
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
      timeout: deadline === undefined ? undefined : deadline - event.at,
      limits: dataOf(before, 'limits', 'set') as RootStart['limits'],
      permissions: dataOf(before, 'permissions', 'grant')?.[
        'permissions'
      ] as RootStart['permissions'],
    });
  });
  return found;
}

function isOfStart(
  event: Event | undefined,
  { invocationId }: EventOf<'invocation_start'>,
): boolean {
  if (event === undefined || event.invocationId !== invocationId) return false;
  return (
    event.type === 'user' ||
    (event.type === 'decision' &&
      (event.component === 'limits' || event.component === 'permissions'))
  );
}

function dataOf(
  events: readonly Event[],
  component: string,
  decision: string,
): Readonly<Record<string, unknown>> | undefined {
  const found = events.find(
    (event) =>
      event.type === 'decision' && event.component === component && event.decision === decision,
  );
  return found?.type === 'decision' ? found.data : undefined;
}
