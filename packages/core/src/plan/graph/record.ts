import { defined } from '../../base/defined.ts';
import { deepFreeze } from '../../base/json.ts';
import type { RecordedEdge, RecordedGraph } from '../../ledger/decisions/routing-decisions.ts';
import type { ErrorEdge, GraphOptions, ValueEdge } from './definition.ts';

/** Returns the nodes and edges of a graph as data. */
export function recordedGraph({ nodes, edges, start, joins = {} }: GraphOptions): RecordedGraph {
  return deepFreeze({
    start: typeof start === 'string' ? [start] : [...start],
    nodes: Object.entries(nodes).map(([id, { kind, name }]) => ({
      id,
      kind,
      name,
      ...defined({ join: joins[id] }),
    })),
    edges: (edges as readonly (ValueEdge | ErrorEdge)[]).map(recordedEdge),
  });
}

function recordedEdge(edge: ValueEdge | ErrorEdge): RecordedEdge {
  const { from, to, max } = edge;
  const isError = edge.error !== undefined;
  const isConditional = isError ? edge.error !== true : edge.when !== undefined;
  const condition: RecordedEdge['condition'] =
    edge.otherwise === true ? 'otherwise' : isConditional ? 'when' : undefined;
  return {
    from,
    to,
    ...(isError ? { isError } : {}),
    ...defined({ condition, label: edge.label ?? labelOf(edge), max }),
  };
}

function labelOf({ error }: ValueEdge | ErrorEdge): string | undefined {
  if (typeof error === 'string') return error;
  return Array.isArray(error) ? error.join(', ') : undefined;
}

/** Finds the edge of the code that an edge of the record is. */
export function edgeOf(
  edges: readonly (ValueEdge | ErrorEdge)[],
  { from, to, isError = false }: RecordedEdge,
): ValueEdge | ErrorEdge | undefined {
  return edges.find(
    (edge) => edge.from === from && edge.to === to && (edge.error !== undefined) === isError,
  );
}
