import {
  findInvalidOption,
  isAnything,
  isCount,
  isFunction,
  isListOfText,
  isNonEmptyText,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { InvalidDefinitionError } from '../../runnables/errors.ts';
import type { GraphOptions, ValueEdge } from './definition.ts';
import { recordedGraph } from './record.ts';
import { edgesOf, type GraphShape, shapeOf } from './shape.ts';

const idPattern = /^[A-Za-z_][\w .:-]{0,127}$/;

const edgeChecks: OptionChecks<ValueEdge> = {
  from: isNonEmptyText,
  to: isNonEmptyText,
  label: isText,
  max: isCount,
  when: isFunction,
  otherwise: (value) => (value === true ? undefined : 'true, or left out'),
  data: isFunction,
  error: isAnything,
};

/** Checks a graph whose options have the right kinds. @throws InvalidDefinitionError */
export function checkGraph(options: GraphOptions): void {
  const refuse = (reason: string): never => {
    throw new InvalidDefinitionError({ kind: 'graph', name: options.name, reason });
  };
  for (const reason of [nodeFault(options), ...edgeFaults(options), placeFault(options)])
    if (reason !== undefined) refuse(reason);
  const shape = shapeOf(recordedGraph(options));
  const reason =
    cycleFault(shape) ?? reachFault(shape) ?? joinFault(shape) ?? endFault(shape, options);
  if (reason !== undefined) refuse(reason);
}

function nodeFault({ nodes }: GraphOptions): string | undefined {
  const entries = Object.entries(nodes ?? {});
  if (entries.length === 0) return '`nodes` must have at least one node';
  for (const [id, node] of entries) {
    if (!idPattern.test(id))
      return (
        `the node "${id}" has no usable id: 1 to 128 letters, digits, spaces, "_", "-", "." or ` +
        '":", and a letter or "_" first'
      );
    const given = node as { kind?: unknown; name?: unknown } | undefined;
    if (typeof given?.kind !== 'string' || typeof given.name !== 'string')
      return `the node "${id}" is not a runnable, such as an agent or a step`;
  }
  return undefined;
}

function* edgeFaults({ nodes, edges }: GraphOptions): Generator<string | undefined> {
  const known = Object.keys(nodes);
  const seen = new Set<string>();
  for (const [i, given] of edges.entries()) {
    const edge = given as ValueEdge & { readonly error?: unknown };
    const invalid = findInvalidOption(edge, edgeChecks);
    if (invalid !== undefined) yield `in \`edges[${i}]\` ${invalid.reason}`;
    for (const end of ['from', 'to'] as const)
      if (!known.includes(edge[end]))
        yield `\`edges[${i}].${end}\` is "${edge[end]}", and there are: ${known.join(', ')}`;
    if (edge.when !== undefined && edge.otherwise === true)
      yield `\`edges[${i}]\` has \`when\` and \`otherwise\`: it can have one of them`;
    if (edge.error !== undefined) yield errorFault(edge, i);
    const key = JSON.stringify([edge.from, edge.to, edge.error !== undefined]);
    if (seen.has(key))
      yield `two edges lead from "${edge.from}" to "${edge.to}": make one of their conditions`;
    seen.add(key);
  }
}

function errorFault(
  { error, when }: { readonly error?: unknown; readonly when?: unknown },
  i: number,
): string | undefined {
  if (when !== undefined)
    return `\`edges[${i}]\` has \`when\` and \`error\`: a source that fails has no output`;
  const fits =
    error === true ||
    isNonEmptyText(error) === undefined ||
    isFunction(error) === undefined ||
    (isListOfText(error) === undefined && (error as readonly string[]).length > 0);
  return fits
    ? undefined
    : `\`edges[${i}].error\` must be true, a code, a list of codes or a function`;
}

/** Checks the options that name nodes. */
function placeFault({ nodes, start, joins = {}, output }: GraphOptions): string | undefined {
  const known = Object.keys(nodes);
  const starts: unknown = typeof start === 'string' ? [start] : start;
  if (isListOfText(starts) !== undefined || (starts as readonly string[]).length === 0)
    return '`start` must be the id of a node, or a list of them';
  const list = starts as readonly string[];
  const twice = list.find((id, i) => list.indexOf(id) !== i);
  if (twice !== undefined) return `\`start\` has "${twice}" twice`;
  const named: readonly (readonly [string, readonly string[]])[] = [
    ['start', list],
    ['joins', Object.keys(joins)],
    ['output', output === undefined ? [] : [output]],
  ];
  for (const [option, ids] of named)
    for (const id of ids)
      if (!known.includes(id))
        return `\`${option}\` names the node "${id}", and there are: ${known.join(', ')}`;
  return undefined;
}

function cycleFault(shape: GraphShape): string | undefined {
  const { recorded, order, forwardFrom, below } = shape;
  const left = recorded.nodes.map(({ id }) => id).filter((id) => !order.includes(id));
  if (left.length > 0)
    return (
      `there is a cycle without a limit (${cycleAmong(left, forwardFrom)}): give the edge that ` +
      'closes it a `max`, the number of times that it may be taken'
    );
  const idle = recorded.edges.find(
    ({ from, to, max }) => max !== undefined && below.get(to)?.has(from) !== true,
  );
  return idle === undefined
    ? undefined
    : `the edge from "${idle.from}" to "${idle.to}" has a \`max\` and closes no cycle`;
}

/** Names a cycle among nodes of which each lies on one or behind one. */
function cycleAmong(nodes: readonly string[], from: GraphShape['forwardFrom']): string {
  const into = (id: string): string | undefined =>
    nodes.find((one) => edgesOf(from, one).some(({ to }) => to === id));
  const way: string[] = [];
  for (let id = nodes[0]; id !== undefined && !way.includes(id); id = into(id)) way.unshift(id);
  const last = into(way[0] as string) as string;
  const cycle = way.slice(0, way.indexOf(last) + 1);
  const first = cycle.indexOf(nodes.find((id) => cycle.includes(id)) as string);
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(' → ');
}

function reachFault({ recorded, forwardTo, below }: GraphShape): string | undefined {
  const { start, nodes } = recorded;
  const reached = new Set(start.flatMap((id) => [...(below.get(id) ?? [])]));
  const lost = nodes.find(({ id }) => !reached.has(id));
  if (lost !== undefined) return `nothing leads to the node "${lost.id}" from the start`;
  const entered = start.find((id) => edgesOf(forwardTo, id).length > 0);
  if (entered === undefined) return undefined;
  const [edge] = edgesOf(forwardTo, entered);
  return (
    `the start "${entered}" is also led to by "${edge?.from}": a start may only be come back to ` +
    'by an edge with a `max`'
  );
}

function joinFault({ recorded, forwardTo }: GraphShape): string | undefined {
  for (const { id, join } of recorded.nodes) {
    if (join === undefined || join === 'all') continue;
    const ways = edgesOf(forwardTo, id).length;
    const fits = join === 'any' || (Number.isInteger(join) && join >= 1 && join <= ways);
    if (!fits || ways < 2)
      return ways < 2
        ? `\`joins\` has "${id}", to which only ${ways} edges lead`
        : `the join of "${id}" must be 'all', 'any' or a whole number from 1 to ${ways}`;
  }
  return undefined;
}

function endFault({ ends }: GraphShape, { output }: GraphOptions): string | undefined {
  return output !== undefined || ends.length > 0
    ? undefined
    : 'it needs `output`: each node leads to another one, so that none is its end';
}
