import { checkOptions } from '../../base/invalid-option.ts';
import { isOneOf, type OptionChecks } from '../../base/options.ts';
import { labelText } from '../../views/mermaid.ts';
import type { Graph } from './definition.ts';
import {
  type GraphEdgeView,
  type GraphNodeView,
  type GraphView,
  viewOfDefinition,
} from './view.ts';

export interface GraphMermaidOptions {
  /** From top to bottom, or from left to right. @default 'TB' */
  readonly direction?: 'TB' | 'LR';
}

const optionChecks: OptionChecks<GraphMermaidOptions> = { direction: isOneOf('TB', 'LR') };

/** Colours of nodes by status; marks say the same without colours. */
const styles: readonly string[] = [
  'classDef idle fill:#ffffff,stroke:#6b7280,color:#1f2937',
  'classDef completed fill:#dcfce7,stroke:#15803d,color:#14532d',
  'classDef failed fill:#fee2e2,stroke:#b91c1c,color:#7f1d1d',
  'classDef cancelled fill:#e5e7eb,stroke:#6b7280,color:#1f2937',
  'classDef waiting fill:#fef9c3,stroke:#a16207,color:#713f12',
  'classDef open fill:#dbeafe,stroke:#1d4ed8,color:#1e3a8a',
];

const looks: Readonly<Record<GraphNodeView['status'], readonly [style: string, mark: string]>> = {
  idle: ['idle', ''],
  open: ['open', '… '],
  yielded: ['waiting', '○ '],
  completed: ['completed', '✓ '],
  transferred: ['completed', '✓ '],
  error: ['failed', '✗ '],
  cancelled: ['cancelled', '■ '],
};

/**
 * Draws a graph as a Mermaid flowchart: a definition before it runs, or a view of a run with the
 * ways taken as thick lines.
 * @throws InvalidOptionError
 */
export function graphMermaid(
  source: Pick<Graph, 'name' | 'shape'> | GraphView,
  options: GraphMermaidOptions = {},
): string {
  checkOptions('graphMermaid', options, optionChecks);
  const view = 'shape' in source ? viewOfDefinition(source.name, source.shape) : source;
  const ids = new Map(view.nodes.map(({ id }, i) => [id, `n${i + 1}`]));
  const idOf = (node: string): string => ids.get(node) ?? 'unknown';
  return [
    `flowchart ${options.direction ?? 'TB'}`,
    ...view.start.map((node, i) => `s${i + 1}(( )) --> ${idOf(node)}`),
    ...view.nodes.map((node) => nodeLine(node, idOf(node.id))),
    ...view.edges.map((edge) => edgeLine(edge, idOf)),
    ...styles,
  ]
    .map((line, i) => (i === 0 ? line : `  ${line}`))
    .join('\n');
}

function nodeLine({ id, name, join, status, executions }: GraphNodeView, node: string): string {
  const [style, mark] = looks[status];
  const label = [
    labelText(`${mark}${id}`),
    ...(name === id ? [] : [labelText(name)]),
    ...(join === undefined ? [] : [`waits for ${join}`]),
    ...(executions.length > 1 ? [`${executions.length} times`] : []),
  ].join('<br/>');
  return `${node}["${label}"]:::${style}`;
}

function edgeLine(
  { from, to, isError, condition, label, max, taken }: GraphEdgeView,
  idOf: (node: string) => string,
): string {
  const words = [
    ...(isError === true ? ['error'] : []),
    ...(label === undefined ? (condition === undefined ? [] : [condition]) : [label]),
    ...(max === undefined ? [] : [taken > 0 ? `${taken} of ${max}` : `at most ${max}`]),
  ].join(': ');
  const line = taken > 0 ? '==>' : isError === true ? '-.->' : '-->';
  const text = words === '' ? '' : `|"${labelText(words)}"|`;
  return `${idOf(from)} ${line}${text} ${idOf(to)}`;
}
