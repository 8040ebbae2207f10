import { type Event, foldEvent } from '../ledger/event.ts';
import { emptyInvocationTree, type InvocationRecord, invocationFold } from '../ledger/invocation-fold.ts';
import { runReport } from '../ledger/run-report.ts';

/** An invocation with what it cost and what ran below it. */
export interface RunTreeNode {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
  readonly mode: string;
  readonly status: string;
  /** Milliseconds from start to end, or to the last event of the ledger while it is open. */
  readonly durationMs: number;
  /** Tokens of its own model calls and of all below it. */
  readonly tokens: number;
  /** US dollars, likewise; `undefined` when no price is known. */
  readonly cost: number | undefined;
  /** Names and outcomes of its own tool calls. */
  readonly toolCalls: readonly { readonly name: string; readonly success: boolean; readonly durationMs: number }[];
  readonly children: readonly RunTreeNode[];
}

/** The invocations of a ledger as trees, one for each run. */
export function runTree(events: readonly Event[]): readonly RunTreeNode[] {
  const tree = emptyInvocationTree();
  for (const event of events) foldEvent(invocationFold, tree, event);
  const lastAt = events.at(-1)?.at ?? 0;
  const nodeOf = (record: InvocationRecord): RunTreeNode => {
    const report = runReport(events, record.path);
    const own = runReport(record.events, record.path);
    return {
      path: record.path,
      kind: record.kind,
      name: record.name,
      mode: record.mode,
      status: record.status,
      durationMs: (record.end?.at ?? lastAt) - record.start.at,
      tokens: report.usage.inputTokens + report.usage.outputTokens,
      cost: report.cost,
      toolCalls: own.toolCalls.map(({ name, success, durationMs }) => ({ name, success, durationMs })),
      children: record.children.flatMap((path) => {
        const child = tree.byPath.get(path);
        return child === undefined ? [] : [nodeOf(child)];
      }),
    };
  };
  return tree.roots.flatMap((path) => {
    const record = tree.byPath.get(path);
    return record === undefined ? [] : [nodeOf(record)];
  });
}
