import type { Event } from '../../ledger/event.ts';
import { ancestorsOf } from '../../ledger/path.ts';

/** Paths of the invocations that have begun and not ended. */
export function openPaths(events: readonly Event[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'invocation_start' || event.type === 'invocation_reopen')
      open.add(event.invocationId);
    if (event.type === 'invocation_end') open.delete(event.invocationId);
  }
  return open;
}

/** Paths of the open invocations that go on, without those that their caller has left behind. */
export function pathsGoingOn(events: readonly Event[]): readonly string[] {
  return [...openPaths(events)].filter((path) => isGoingOn(events, path));
}

/**
 * True while an invocation is open, and so is everything that waits for it. Nothing waits for
 * dispatched work, nor for a spawned child whose caller has ended. A caller that is left behind
 * does not end, and its spawned children are left behind with it.
 */
export function isGoingOn(events: readonly Event[], path: string): boolean {
  const open = openPaths(events);
  const modes = new Map<string, string>();
  for (const event of events)
    if (event.type === 'invocation_start') modes.set(event.invocationId, event.mode);
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.search(/[/>][^/>]*$/)))) {
    const mode = modes.get(at);
    if (mode === undefined && hasFailed(events, at)) return false;
    if (mode === undefined || (mode === 'transfer' && open.has(path))) continue;
    if (!open.has(at) && !isHandedOver(events, at)) return false;
    if (mode === 'dispatch' || (mode === 'spawn' && !open.has(callerOf(modes, at)))) return true;
  }
  return true;
}

/** The nearest invocation around a child: its body, or the agent whose tool it is a part of. */
function callerOf(modes: ReadonlyMap<string, string>, path: string): string {
  return ancestorsOf(path).find((one) => modes.has(one)) ?? '';
}

/** True when an invocation ended by handing its slot over to another one. */
function isHandedOver(events: readonly Event[], path: string): boolean {
  const end = events.findLast(
    (event) => event.type === 'invocation_end' && event.invocationId === path,
  );
  return end?.type === 'invocation_end' && end.next !== undefined;
}

/** True for a call that has failed: it may have done so before it asked again for its child. */
function hasFailed(events: readonly Event[], callId: string): boolean {
  const last = events.findLast(
    (event) =>
      (event.type === 'tool_result' && event.callId === callId && event.late !== true) ||
      (event.type === 'invocation_reopen' && event.effects?.includes(callId) === true),
  );
  return last?.type === 'tool_result' && last.settled && last.result.status !== 'success';
}
