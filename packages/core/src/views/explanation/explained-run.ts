import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isNumber, isText, type OptionChecks } from '../../base/options.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import { sleepsUntil } from '../../ledger/folds/sleeps.ts';
import { isRoot, isRootOf, rootOf } from '../../ledger/path.ts';
import type { AnySession } from '../../session/session.ts';
import { sourceOf } from '../view-source.ts';

/** Which run is explained. */
export interface ExplainedRunOptions {
  /** Id of the run. @default the last one */
  readonly run?: string;
  /** Only the first events, up to this `seq`. @default all */
  readonly upTo?: number;
}

const optionChecks: OptionChecks<ExplainedRunOptions> = { run: isText, upTo: isNumber };

/** Events of a run that is to be explained. */
export interface RunToExplain {
  readonly run: string;
  /** Events of the run, and the messages that it began with. */
  readonly events: readonly Event[];
  /** Events of the whole ledger. */
  readonly all: readonly Event[];
  readonly resolve: (value: unknown) => unknown;
}

/**
 * The event that a run came to: its end, else its last open request, else the sleep that ends
 * first, else its last event.
 */
export function concludingEvent({ run, events }: RunToExplain): Event | undefined {
  const isEnd = (event: Event): boolean =>
    (event.type === 'invocation_end' || event.type === 'invocation_reopen') &&
    isRootOf(event.invocationId, run);
  const end = events.findLast(isEnd);
  if (end?.type === 'invocation_end' && end.next === undefined) return end;
  return openRequests(events).at(-1) ?? firstSleep(events) ?? events.at(-1);
}

/** Requests of a run that nobody has answered, oldest first. */
export function openRequests(events: readonly Event[]): readonly EventOf<'tool_yield'>[] {
  const settled = new Set(
    events.flatMap((event) => {
      if (event.type === 'tool_input') return event.requestId ?? [];
      if (event.type === 'tool_result') return event.callId;
      return event.type === 'invocation_end' ? event.invocationId : [];
    }),
  );
  return events.flatMap((event) =>
    event.type === 'tool_yield' && !settled.has(event.requestId) && !settled.has(event.callId)
      ? event
      : [],
  );
}

function firstSleep(events: readonly Event[]): Event | undefined {
  const ended = new Set(
    events.flatMap((event) => (event.type === 'invocation_end' ? event.invocationId : [])),
  );
  const open = events.flatMap((event) =>
    event.type === 'invocation_start' && event.kind === 'sleep' && !ended.has(event.invocationId)
      ? event
      : [],
  );
  return open.sort((a, b) => sleepsUntil(a.input) - sleepsUntil(b.input))[0];
}

/** @throws InvalidOptionError also when there is no such run */
export function runToExplain(
  view: string,
  source: AnySession | readonly Event[],
  options: ExplainedRunOptions,
): RunToExplain {
  checkOptions<ExplainedRunOptions>(view, options, optionChecks);
  const { events, resolve } = sourceOf(view, source);
  const { upTo = Number.POSITIVE_INFINITY } = options;
  const all = events.filter(({ seq }) => seq <= upTo);
  const started = all.flatMap((event) =>
    event.type === 'invocation_start' && isRoot(event.invocationId) ? event : [],
  );
  const run = options.run ?? rootOf(started.at(-1)?.invocationId ?? '');
  const first = started.find(({ invocationId }) => invocationId === run);
  if (first === undefined) {
    const reason = options.run === undefined ? 'no run has begun' : `there is no run "${run}"`;
    throw new InvalidOptionError({ function: view, reason });
  }
  return { run, events: eventsOf(all, first), all, resolve };
}

/** Events of the run, and the messages right before its start, which belong to no invocation. */
function eventsOf(
  all: readonly Event[],
  { invocationId: run, lane, seq: start }: EventOf<'invocation_start'>,
): readonly Event[] {
  const before = all.findLast(({ type, seq }) => seq < start && type === 'invocation_end');
  return all.filter((event) => {
    if (event.invocationId !== undefined) return rootOf(event.invocationId) === run;
    const isBefore = event.seq > (before?.seq ?? 0) && event.seq < start;
    return event.type === 'user' && event.lane === lane && isBefore;
  });
}
