/**
 * Paths of invocations, such as `run/agent/r1.0/child#2>other`. `/` separates an invocation from
 * those below it; `>` separates an invocation from the one that continues its slot after a handoff.
 * The first part is the id of the run.
 */

/** The id of the run that `path` belongs to. */
export function rootOf(path: string): string {
  const end = path.search(/[/>]/);
  return end < 0 ? path : path.slice(0, end);
}

/** The path above `path`; `''` above the root of a run. A handoff stays beside its predecessor. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The last part of a path: its name or key, with the handoffs behind it. */
export function lastPartOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path of the first invocation of a slot: `path` without the handoffs in its last part. */
export function slotOf(path: string): string {
  const end = path.indexOf('>', path.lastIndexOf('/') + 1);
  return end < 0 ? path : path.slice(0, end);
}

/** The path of the invocation that handed off to `path`; `undefined` for the first of a slot. */
export function predecessorOf(path: string): string | undefined {
  const end = path.lastIndexOf('>');
  return end > path.lastIndexOf('/') ? path.slice(0, end) : undefined;
}

/** The path of the child, tool call or effect named `part` below `path`. */
export function childPath(path: string, part: string): string {
  return `${path}/${part}`;
}

/** The path of the invocation of `name` that continues the slot after `path`. */
export function handoffPath(path: string, name: string): string {
  return `${path}>${name}`;
}

/** The paths above `path`, nearest first. Predecessors of a handoff are not above it. */
export function ancestorsOf(path: string): readonly string[] {
  const found: string[] = [];
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) found.push(above);
  return found;
}

/** Checks that `path` is the root of a run or one of its handoffs: nothing is above it. */
export function isRoot(path: string): boolean {
  return !path.includes('/');
}

/** Checks that `path` is the root of the run `runId` or one of its handoffs. */
export function isRootOf(path: string, runId: string): boolean {
  return path === runId || (path.startsWith(`${runId}>`) && isRoot(path));
}

/** Checks that `path` is below `owner`, and not `owner` itself or one of its handoffs. */
export function isBelow(path: string, owner: string): boolean {
  return path.length > owner.length && path[owner.length] === '/' && path.startsWith(owner);
}

/** Checks that `path` is `owner` or below it. A handoff of `owner` is another invocation. */
export function isWithin(path: string, owner: string): boolean {
  return path === owner || isBelow(path, owner);
}

/** Checks that `path` is `owner`, one of its handoffs, or below one of these. */
export function belongsTo(path: string | undefined, owner: string): boolean {
  if (path === undefined || !path.startsWith(owner)) return false;
  const next = path[owner.length];
  return next === undefined || next === '/' || next === '>';
}
