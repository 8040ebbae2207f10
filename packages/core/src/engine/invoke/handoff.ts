import { defined } from '../../base/defined.ts';
import type { EventDraft, InvocationInput, NextInvocation } from '../../ledger/event.ts';
import { belongsTo, handoffPath, lastPartOf, slotOf } from '../../ledger/path.ts';
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

/** An invocation that has or had a slot. */
interface Holder {
  readonly name: string;
  /** Sequence number of its end; `undefined` for the one that has the slot now. */
  readonly endSeq: number | undefined;
}

/** Returns the invocations that have had the slot of `path`, in order. */
function holdersOf(run: RunContext, path: string): Holder[] {
  const { byPath } = run.ledger.invocations;
  const [, ...targets] = lastPartOf(path).split('>');
  let holder = slotOf(path);
  const holders = [holder];
  for (const name of targets) {
    holder = handoffPath(holder, name);
    holders.push(holder);
  }
  return holders.map((each) => {
    const record = byPath.get(each);
    return { name: record?.name ?? lastPartOf(each), endSeq: record?.end?.seq };
  });
}

/**
 * Returns the names that have had the slot of `path` in this turn, in order. A turn begins with a
 * message of the user or with an answer from outside.
 */
function chainOf(run: RunContext, path: string): string[] {
  const turn = turnStart(run, slotOf(path));
  return holdersOf(run, path)
    .filter(({ endSeq }) => endSeq === undefined || endSeq > turn)
    .map(({ name }) => name);
}

/** The sequence number of the last message or answer for a slot; 0 when there was none. */
function turnStart({ ledger }: RunContext, slot: string): number {
  const last = ledger.events.findLast(({ type, by, invocationId }) => {
    if (by === 'runtime') return false;
    if (type === 'tool_input') return belongsTo(invocationId, slot);
    if (type !== 'user') return false;
    return (
      invocationId === undefined || belongsTo(slot, invocationId) || belongsTo(invocationId, slot)
    );
  });
  return last?.seq ?? 0;
}

/** Checks that a chain of names has one right behind another. */
function hasPair(chain: readonly string[], from: string, to: string): boolean {
  return chain.some((name, i) => name === from && chain[i + 1] === to);
}

/** Options of a handoff. */
export interface HandoffRequest {
  /** Message to the target. */
  readonly message?: string | undefined;
  /** True when a target that has had the turn may get it back, once from each holder. */
  readonly back?: boolean | undefined;
}

/**
 * Checks a handoff of the slot at `path` to `target`. Three kinds are refused: depths over the
 * run's limit, circles within one turn, and targets that another process could not find.
 */
export function planHandoff(
  run: RunContext,
  path: string,
  target: Runnable,
  { message, back = false }: HandoffRequest = {},
):
  | { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] }
  | { readonly refused: string } {
  const chain = chainOf(run, path);
  const from = chain.at(-1) ?? '';
  const isBack = back && from !== target.name && !hasPair(chain, from, target.name);
  if (chain.includes(target.name) && !isBack) {
    return {
      refused:
        `"${target.name}" has already handed this conversation on in the same turn ` +
        `(${[...chain, target.name].join(' → ')}); go on with it yourself`,
    };
  }
  const depth = handoffDepth(run, path) + 1;
  const allowed = run.limits.depth;
  if (depth > allowed)
    return {
      refused:
        `the handoff to "${target.name}" would be number ${depth}, ` + `and ${allowed} are allowed`,
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
    next: { name: target.name, ...defined({ input }) },
    drafts: [
      {
        type: 'handoff',
        by: 'runtime',
        invocationId: path,
        from,
        to: target.name,
        ...defined({ reason: message }),
        depth,
      },
    ],
  };
}
