import type { JsonValue } from '../../base/json.ts';
import {
  isAnything,
  isCount,
  isGroup,
  isList,
  isObject,
  isPositive,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { withBody } from '../../engine/invoke/composed-body.ts';
import { checkDefinition } from '../../runnables/errors.ts';
import type { OutputOf } from '../../session/runnable.ts';
import { runGraph } from './body.ts';
import { checkGraph } from './check.ts';
import type { Graph, GraphLimits, GraphNodes, GraphOptions } from './definition.ts';
import { recordedGraph } from './record.ts';

const graphOptions: OptionChecks<GraphOptions> = {
  name: isText,
  description: isText,
  nodes: isObject,
  edges: isList,
  start: isAnything,
  joins: isObject,
  output: isText,
  limits: isGroup<GraphLimits>({ parallel: isCount }),
  nodeTimeoutMs: isPositive,
  version: isText,
};

const defaultParallel = 16;

/**
 * Defines a graph. What cannot work is refused here: unknown nodes, nodes that nothing leads to,
 * cycles without a limit. While it runs, edges are evaluated once and recorded.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { runtime, step } from 'adjutant';
 * import { graph } from 'adjutant/plan';
 *
 * const load = step({ name: 'load', execute: (ctx) => ctx.complete({ cents: 900 }) });
 * const pay = step({ name: 'pay', execute: (ctx) => ctx.complete('paid') });
 * const ask = step({ name: 'ask', execute: (ctx) => ctx.complete('asked') });
 * const bill = graph({
 *   name: 'bill',
 *   nodes: { load, pay, ask },
 *   edges: [
 *     { from: 'load', to: 'pay', when: ({ cents }) => cents < 1_000 },
 *     { from: 'load', to: 'ask', otherwise: true },
 *   ],
 *   start: 'load',
 * });
 * console.log((await runtime({ app: 'shop' }).run(bill)).output); // { pay: 'paid' }
 * ```
 */
export function graph<
  const Nodes extends GraphNodes,
  const Name extends string = string,
  Output extends keyof Nodes & string = never,
>(
  options: GraphOptions<Nodes, Output, Name>,
): Graph<[Output] extends [never] ? JsonValue : OutputOf<Nodes[Output]>, Name> {
  // The types of nodes and outputs are for the caller only.
  const given = options as unknown as GraphOptions;
  checkDefinition<GraphOptions>('graph', given, graphOptions);
  checkGraph(given);
  const nodes = Object.freeze({ ...given.nodes });
  const made: Graph<[Output] extends [never] ? JsonValue : OutputOf<Nodes[Output]>, Name> = {
    kind: 'graph',
    name: options.name,
    version: options.version,
    description: options.description,
    nodes,
    edges: Object.freeze([...given.edges]) as Graph['edges'],
    output: given.output,
    parallel: given.limits?.parallel ?? defaultParallel,
    nodeTimeoutMs: given.nodeTimeoutMs,
    shape: recordedGraph(given),
    parts: Object.freeze([...new Set(Object.values(nodes))]),
  };
  return withBody(made, runGraph);
}
