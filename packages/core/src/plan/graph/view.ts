import { isDecision } from '../../ledger/decisions/decision.ts';
import type { DataOf } from '../../ledger/decisions/decision-map.ts';
import type { RecordedEdge, RecordedGraph } from '../../ledger/decisions/routing-decisions.ts';
import { type Event, foldEvent } from '../../ledger/event.ts';
import {
  emptyInvocationTree,
  type InvocationRecord,
  type InvocationTree,
  invocationFold,
  lastRecord,
} from '../../ledger/folds/invocation-fold.ts';
import { childPath, isBelow } from '../../ledger/path.ts';
import type { AnySession } from '../../session/session.ts';
import { sourceOf } from '../../views/view-source.ts';
import { GraphProgress, keyOf, type Visit } from './progress.ts';
import { type GraphShape, shapeOf } from './shape.ts';

/** State of a node: that of its last execution; `idle` before the first. */
export type GraphNodeStatus = 'idle' | InvocationRecord['status'];

export interface GraphNodeView {
  readonly id: string;
  readonly kind: string;
  /** Name of the runnable. */
  readonly name: string;
  readonly join?: 'all' | 'any' | number;
  readonly status: GraphNodeStatus;
  /** Paths of its executions, in their order. */
  readonly executions: readonly string[];
}

export interface GraphEdgeView extends RecordedEdge {
  /** Number of times that it was taken. */
  readonly taken: number;
}

/** A run of a graph as data: nodes with their executions, edges with the ways taken. */
export interface GraphView {
  /** Path of the graph; missing for a definition that has not run. */
  readonly path?: string;
  readonly name: string;
  readonly status: GraphNodeStatus;
  readonly start: readonly string[];
  readonly nodes: readonly GraphNodeView[];
  readonly edges: readonly GraphEdgeView[];
}

/**
 * Reads the graphs that ran in a session, in the order in which they began. It needs events alone:
 * each run has recorded its nodes and edges.
 * @throws InvalidOptionError
 */
export function graphViews(source: AnySession | readonly Event[]): readonly GraphView[] {
  const { events, resolve } = sourceOf('graphViews', source);
  const tree = emptyInvocationTree();
  for (const event of events) foldEvent(invocationFold, tree, event);
  return events.flatMap((event) => {
    if (!isDecision(event, 'graph', 'begin') || event.data === undefined) return [];
    const record = tree.byPath.get(event.invocationId ?? '');
    return record === undefined
      ? []
      : [viewOf(tree, record, resolve(event.data) as RecordedGraph, resolve)];
  });
}

/** Returns the view of a definition before it has run. */
export function viewOfDefinition(name: string, shape: RecordedGraph): GraphView {
  return {
    name,
    status: 'idle',
    start: shape.start,
    nodes: shape.nodes.map((node) => ({ ...node, status: 'idle', executions: [] })),
    edges: shape.edges.map((edge) => ({ ...edge, taken: 0 })),
  };
}

function viewOf(
  tree: InvocationTree,
  { path, name, status, events, children }: InvocationRecord,
  recorded: RecordedGraph,
  resolve: (value: unknown) => unknown,
): GraphView {
  const shape = shapeOf(recorded);
  const progress = progressOf(
    shape,
    endsOf(tree, path, recorded, children),
    choicesOf(events, resolve),
  );
  const nodes = recorded.nodes.map((node): GraphNodeView => {
    const executions = executionsOf(tree, path, node.id);
    const last = executions.at(-1);
    return {
      ...node,
      status: last === undefined ? 'idle' : statusOf(tree, last),
      executions,
    };
  });
  const edges = recorded.edges.map((edge, i) => ({ ...edge, taken: progress.timesTaken(i) }));
  return { path, name, status, start: recorded.start, nodes, edges };
}

/** Status of an execution; one in which something waits for people waits itself. */
function statusOf(tree: InvocationTree, execution: string): GraphNodeStatus {
  const status = lastRecord(tree, execution)?.status ?? 'idle';
  if (status !== 'open') return status;
  for (const record of tree.byPath.values())
    if (record.status === 'yielded' && isBelow(record.path, execution)) return 'yielded';
  return 'open';
}

function executionsOf(tree: InvocationTree, path: string, node: string): readonly string[] {
  const executions: string[] = [];
  for (let visit = 1; ; visit++) {
    const execution = childPath(path, keyOf({ node, visit }));
    if (!tree.byPath.has(execution)) return executions;
    executions.push(execution);
  }
}

interface End extends Visit {
  readonly record: InvocationRecord;
}

/** Ends of the executions, in the order of the ledger. */
function endsOf(
  tree: InvocationTree,
  path: string,
  { nodes }: RecordedGraph,
  children: readonly string[],
): readonly End[] {
  const began = new Set(children);
  return nodes
    .flatMap(({ id }) =>
      executionsOf(tree, path, id).flatMap((execution, i): End[] => {
        const record = began.has(execution) ? lastRecord(tree, execution) : undefined;
        return record?.end === undefined ? [] : [{ node: id, visit: i + 1, record }];
      }),
    )
    .toSorted((a, b) => (a.record.end?.seq ?? 0) - (b.record.end?.seq ?? 0));
}

function choicesOf(
  events: readonly Event[],
  resolve: (value: unknown) => unknown,
): ReadonlyMap<string, readonly string[]> {
  const choices = new Map<string, readonly string[]>();
  for (const event of events) {
    if (!isDecision(event, 'graph', 'edges') || event.data === undefined) continue;
    const data = resolve(event.data) as DataOf<'graph', 'edges'>;
    choices.set(keyOf(data), data.taken);
  }
  return choices;
}

/** Goes the way of a run again. Choices that are not recorded yet are not made. */
function progressOf(
  shape: GraphShape,
  ends: readonly End[],
  choices: ReadonlyMap<string, readonly string[]>,
): GraphProgress {
  const progress = new GraphProgress(shape);
  progress.begin();
  for (const { node, visit, record } of ends) {
    if (!progress.isWaitedFor({ node, visit })) continue;
    const outcome = record.status === 'completed' ? 'completed' : 'error';
    const taken =
      choices.get(keyOf({ node, visit })) ?? progress.choose(node, outcome, () => false).taken;
    progress.ended({ node, visit }, outcome, taken);
  }
  return progress;
}
