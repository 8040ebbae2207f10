import type { Runnable } from '../../../session/runnable.ts';
import { HandoffRefusedError, UnknownRunnableError } from '../../frame/errors.ts';
import { handoffDepth } from '../handoff.ts';
import type { BodyPlace } from './body-place.ts';

/**
 * Checks the name of a child that may outlive its caller's body. Such a child is continued by name,
 * so the name must lead to it in other processes too.
 * @throws UnknownRunnableError
 */
export function assertName({ run }: BodyPlace, runnable: Runnable): void {
  const { registry, strictNames } = run.app;
  if (registry.has(runnable.name)) return;
  if (strictNames) throw new UnknownRunnableError({ name: runnable.name, known: registry.names });
  registry.register(runnable);
}

/**
 * Checks the depth of a child.
 * @throws HandoffRefusedError when the child would lie too deep
 */
export function assertDepth({ run, path }: BodyPlace, runnable: Runnable): void {
  const depth = handoffDepth(run, path) + 1;
  const most = run.limits.depth;
  if (depth <= most) return;
  const reason = `it would be level ${depth} of calls and handoffs, and ${most} are allowed`;
  throw new HandoffRefusedError({ path, to: runnable.name, reason });
}
