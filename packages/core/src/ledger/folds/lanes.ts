import type { OptionCheck } from '../../base/options.ts';
import type { Event, EventOf } from '../event.ts';
import { rootOf } from '../path.ts';

/** Lane of a run that names none. Events leave it out. */
export const defaultLane = '';

/** Invocations by path, as far as the lane of a run needs them. */
interface Invocations {
  readonly byPath: ReadonlyMap<string, { readonly start: { readonly lane?: string } }>;
}

const longestName = 64;
/** Name that people would take for the lane without a name. */
const reserved = 'default';

/** Accepts the name of a lane. */
export const isLane: OptionCheck = (value) => {
  if (typeof value !== 'string' || !/^[\w-]+$/.test(value) || value.length > longestName)
    return `a name of 1 to ${longestName} letters, digits, _ and -`;
  return value === reserved
    ? `a name other than "${reserved}" (the default lane has none: leave \`lane\` out)`
    : undefined;
};

/** Returns the member of an event or an item that names a lane; nothing for the default lane. */
export function laneMember(lane: string | undefined): { readonly lane?: string } {
  return lane === undefined || lane === defaultLane ? {} : { lane };
}

/** The lane of the run that a path belongs to; the default lane for a path of no run. */
export function laneAt({ byPath }: Invocations, path: string | undefined): string {
  return (path === undefined ? undefined : byPath.get(rootOf(path)))?.start.lane ?? defaultLane;
}

/** The lane of an event; `undefined` for an event that concerns the whole session. */
function laneOf(tree: Invocations, event: Event): string | undefined {
  const { invocationId } = event;
  if (event.type === 'user' && !tree.byPath.has(invocationId ?? ''))
    return event.lane ?? defaultLane;
  return invocationId === undefined ? undefined : laneAt(tree, invocationId);
}

/** Checks that an event belongs to another lane than this one. */
export function isOfOtherLane(tree: Invocations, event: Event, lane: string): boolean {
  return (laneOf(tree, event) ?? lane) !== lane;
}

/** Waits of the parts of the runs of a session, by lane. */
export type LaneWaits = Map<string, Set<EventOf<'invocation_yield'>['reason']>>;

/** Notes that a part of the run of a lane waits. */
export function noteWait(
  waits: LaneWaits,
  lane: string,
  reason: EventOf<'invocation_yield'>['reason'],
): void {
  const reasons = waits.get(lane) ?? new Set();
  waits.set(lane, reasons.add(reason));
}
