import type { EventDraft, InvocationInput, NextInvocation } from '../../ledger/event.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { RunContext } from '../frame/run-context.ts';

/** Returns the number of handoffs, calls, spawns and dispatches from the root to this path. */
export function handoffDepth(run: RunContext, path: string): number {
  let depth = path.split('>').length - 1;
  for (
    let record = run.ledger.invocations.byPath.get(path);
    record !== undefined;
    record = run.ledger.invocations.byPath.get(record.parent ?? '')
  ) {
    if (record.mode === 'call' || record.mode === 'spawn' || record.mode === 'dispatch') depth++;
  }
  return depth;
}

/** Returns the names that have had the slot of `path` in this turn, in order. */
function chainOf(run: RunContext, path: string): string[] {
  const slotStart = path.lastIndexOf('/') + 1;
  const [first, ...targets] = path.slice(slotStart).split('>');
  const firstPath = path.slice(0, slotStart) + (first ?? '');
  return [run.ledger.invocations.byPath.get(firstPath)?.name ?? '', ...targets];
}

/**
 * Checks a handoff of the slot at `path` to `target`. Three kinds are refused: depths over the
 * run's limit, circles within one turn, and targets that another process could not find.
 */
export function planHandOver(
  run: RunContext,
  path: string,
  target: Runnable,
  message?: string,
):
  | { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] }
  | { readonly refused: string } {
  const chain = chainOf(run, path);
  const from = chain.at(-1) ?? '';
  if (chain.includes(target.name)) {
    return {
      refused:
        `"${target.name}" has already handed this conversation on in the same turn ` +
        `(${[...chain, target.name].join(' → ')})`,
    };
  }
  const depth = handoffDepth(run, path) + 1;
  const allowed = run.limits.depth;
  if (depth > allowed)
    return {
      refused:
        `the hand-over to "${target.name}" would be number ${depth}, and ${allowed} are ` +
        'allowed',
    };
  if (!run.app.registry.has(target.name)) {
    if (run.app.strictNames) {
      return {
        refused:
          `"${target.name}" is not registered in this app, so a continued run could not find ` +
          'it; add it to runtime({ runnables })',
      };
    }
    run.app.registry.register(target);
  }
  const input: InvocationInput | undefined = message === undefined ? undefined : { message };
  return {
    next: { name: target.name, ...(input === undefined ? {} : { input }) },
    drafts: [
      {
        type: 'handoff',
        by: 'runtime',
        invocationId: path,
        from,
        to: target.name,
        ...(message === undefined ? {} : { reason: message }),
        depth,
      },
    ],
  };
}
