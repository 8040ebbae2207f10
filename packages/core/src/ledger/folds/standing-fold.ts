import type { JsonValue } from '../../base/json.ts';
import type { StandingExtent } from '../decisions/runtime-decisions.ts';
import { decisionFold } from '../decisions/steering.ts';
import type { Actor, Event } from '../event.ts';

/** Approval that holds for later calls of a tool in its session. */
export interface StandingApproval {
  /** Id of the request with whose answer it was given. */
  readonly id: string;
  readonly tool: string;
  readonly covers: StandingExtent;
  readonly by: Actor;
  /** Place of the decision in the ledger. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

const steer = decisionFold<'standing', Map<string, StandingApproval>>({
  'request.standing': (approvals, { at, by, data, seq }) => {
    const { covers, requestId: id, tool } = data ?? {};
    if (covers === undefined || id === undefined || tool === undefined) return;
    approvals.set(id, { id, tool, covers, by, seq, at });
  },
  'request.withdraw_standing': (approvals, { data }) => {
    approvals.delete(data?.requestId ?? '');
  },
});

/** Returns the standing approvals that hold after these events, oldest first. */
export function standingApprovals(events: Iterable<Event>): readonly StandingApproval[] {
  const approvals = new Map<string, StandingApproval>();
  for (const event of events) if (event.type === 'decision') steer(approvals, event);
  return [...approvals.values()];
}

/** True for the name of an argument that holds a path, such as `path`, `file` or `targetFolder`. */
export function namesPath(argument: string): boolean {
  return /^(path|file|folder|directory)$|(Path|File|Folder|Directory)$/.test(argument);
}

/**
 * True when the path arguments of a call lie in a folder, by their text. False for a call without
 * such arguments.
 */
export function liesBelow(args: JsonValue, folder: string): boolean {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  const paths = Object.entries(args).filter(([name]) => namesPath(name));
  const top = partsOf(folder);
  return (
    paths.length > 0 &&
    top !== undefined &&
    paths.every(([, path]) => {
      const parts = typeof path === 'string' ? partsOf(path) : undefined;
      const isOfKind = parts !== undefined && (parts[0] === '/') === (top[0] === '/');
      return isOfKind && top.every((part, index) => parts[index] === part);
    })
  );
}

/** Parts of a path without `.` and `..`; `undefined` when it leads out of where it begins. */
function partsOf(path: string): readonly string[] | undefined {
  const parts: string[] = /^[/\\]/.test(path) ? ['/'] : [];
  for (const part of path.split(/[/\\]+/)) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined || parts.length === 0) return undefined;
  }
  return parts;
}
