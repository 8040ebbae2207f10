import type {
  GraphJoin,
  RecordedEdge,
  RecordedGraph,
} from '../../ledger/decisions/routing-decisions.ts';

/** An edge with its number, which stands for it while a graph runs. */
export interface ShapedEdge extends RecordedEdge {
  readonly index: number;
}

/** Facts that follow from the nodes and edges of a graph, computed once. */
export interface GraphShape {
  readonly recorded: RecordedGraph;
  /** Nodes in an order in which sources stand before targets, cycles left out. */
  readonly order: readonly string[];
  /** Nodes at which a way may end well: none of their edges for values leads to another node. */
  readonly ends: readonly string[];
  /** Joins of nodes that do not wait for all. */
  readonly joins: ReadonlyMap<string, Exclude<GraphJoin, 'all'>>;
  /** Edges that close no cycle, by source and by target. */
  readonly forwardFrom: ReadonlyMap<string, readonly ShapedEdge[]>;
  readonly forwardTo: ReadonlyMap<string, readonly ShapedEdge[]>;
  /** All edges, by source. */
  readonly edgesFrom: ReadonlyMap<string, readonly ShapedEdge[]>;
  /** Nodes that can be reached without closing a cycle, the node itself included. */
  readonly below: ReadonlyMap<string, ReadonlySet<string>>;
}

/** An edge with a limit closes a cycle. */
export function closesCycle({ max }: RecordedEdge): boolean {
  return max !== undefined;
}

export function shapeOf(recorded: RecordedGraph): GraphShape {
  const edges = recorded.edges.map((edge, index): ShapedEdge => ({ ...edge, index }));
  const ids = recorded.nodes.map(({ id }) => id);
  const forward = edges.filter((edge) => !closesCycle(edge));
  const forwardFrom = grouped(ids, forward, ({ from }) => from);
  const forwardTo = grouped(ids, forward, ({ to }) => to);
  const order = orderOf(ids, forwardFrom, forwardTo);
  const below = new Map<string, ReadonlySet<string>>();
  for (const id of order.toReversed()) {
    const found = new Set([id]);
    for (const { to } of edgesOf(forwardFrom, id))
      for (const one of below.get(to) ?? []) found.add(one);
    below.set(id, found);
  }
  const edgesFrom = grouped(ids, edges, ({ from }) => from);
  const joins = new Map(
    recorded.nodes.flatMap(({ id, join = 'all' }) => (join === 'all' ? [] : [[id, join] as const])),
  );
  const ends = order.filter((id) =>
    edgesOf(edgesFrom, id).every(({ to, isError }) => to === id || isError === true),
  );
  return { recorded, order, ends, joins, forwardFrom, forwardTo, edgesFrom, below };
}

export function edgesOf(
  edges: ReadonlyMap<string, readonly ShapedEdge[]>,
  node: string,
): readonly ShapedEdge[] {
  return edges.get(node) ?? [];
}

function grouped(
  ids: readonly string[],
  edges: readonly ShapedEdge[],
  of: (edge: ShapedEdge) => string,
): ReadonlyMap<string, readonly ShapedEdge[]> {
  const byNode = new Map<string, ShapedEdge[]>(ids.map((id) => [id, []]));
  for (const edge of edges) byNode.get(of(edge))?.push(edge);
  return byNode;
}

/** Sorts nodes so that sources stand before targets; nodes of a cycle are left out. */
function orderOf(
  ids: readonly string[],
  from: ReadonlyMap<string, readonly ShapedEdge[]>,
  to: ReadonlyMap<string, readonly ShapedEdge[]>,
): readonly string[] {
  const missing = new Map(ids.map((id) => [id, edgesOf(to, id).length]));
  const order = ids.filter((id) => missing.get(id) === 0);
  for (const id of order)
    for (const { to: target } of edgesOf(from, id)) {
      const left = (missing.get(target) ?? 0) - 1;
      missing.set(target, left);
      if (left === 0) order.push(target);
    }
  return order;
}

/** Nodes whose work leads to nothing but this one: all ways on from them come to it first. */
export function onlyFor(shape: GraphShape, node: string): ReadonlySet<string> {
  const found = new Set(
    shape.order.filter((id) => id !== node && shape.below.get(id)?.has(node) === true),
  );
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const id of found)
      if (edgesOf(shape.edgesFrom, id).some(({ to }) => to !== node && !found.has(to)))
        found.delete(id);
  }
  return found;
}
