import type { RunTreeNode } from 'adjutant';
import { formatCost, formatCount, formatDuration } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/** Runs as trees: invocations with what they took, and their tool calls. */
export function treeLines(style: Style, nodes: readonly RunTreeNode[], indent = ''): string[] {
  return nodes.flatMap((node) => {
    const { kind, name, status, durationMs, tokens, cost, path } = node;
    const took = [formatDuration(durationMs), formatCount(tokens, 'token'), ...(cost === undefined ? [] : [formatCost(cost)])].join(' · ');
    return [
      `${indent}${statusMark(style, status)} ${style.bold(plainLine(name))} ${kind} ${status} ${style.dim(`(${took}) ${plainLine(path)}`)}`,
      ...node.toolCalls.map((call) => {
        const mark = call.success ? style.green('✓') : style.red('✗');
        return `${indent}  ${mark} ${plainLine(call.name)} ${style.dim(`(${formatDuration(call.durationMs)})`)}`;
      }),
      ...treeLines(style, node.children, `${indent}  `),
    ];
  });
}

function statusMark(style: Style, status: string): string {
  if (status === 'completed' || status === 'transferred') return style.green('●');
  return status === 'open' || status === 'yielded' ? style.yellow('○') : style.red('●');
}
