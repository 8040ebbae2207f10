import type { RunTreeModelCall, RunTreeNode, RunTreeToolCall } from 'adjutant/views';
import { formatCost, formatCount, formatDuration } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/**
 * Returns runs as trees, in the order of the ledger. They show invocations with their model and
 * tool calls. The time, tokens and cost of an invocation are shown in total and without its
 * children.
 */
export function treeLines(style: Style, nodes: readonly RunTreeNode[], indent = ''): string[] {
  return nodes.flatMap((node) => [
    `${indent}${nodeLine(style, node)}`,
    ...linesBelow(style, node, `${indent}  `),
  ]);
}

function linesBelow(
  style: Style,
  { modelCalls, toolCalls, children }: RunTreeNode,
  indent: string,
): string[] {
  const below = [
    ...modelCalls.map((call) => ({ seq: call.seq, lines: [`${indent}${modelLine(style, call)}`] })),
    ...toolCalls.map((call) => ({
      seq: call.seq,
      lines: [`${indent}${toolCallLine(style, call)}`],
    })),
    ...children.map((child) => ({ seq: child.seq, lines: treeLines(style, [child], indent) })),
  ];
  return below.sort((a, b) => a.seq - b.seq).flatMap(({ lines }) => lines);
}

function nodeLine(style: Style, node: RunTreeNode): string {
  const {
    kind,
    name,
    status,
    lane,
    durationMs,
    selfMs,
    waitingMs,
    tokens,
    selfTokens,
    cost,
    selfCost,
    path,
    children,
  } = node;
  const where = lane === undefined ? '' : ` · lane ${plainLine(lane)}`;
  const hasParts = children.length > 0;
  const ownTime = hasParts ? `, itself ${formatDuration(selfMs)}` : '';
  const waited = waitingMs > 0 ? `, waited ${formatDuration(waitingMs)}` : '';
  const hasOwnTokens = hasParts && selfTokens > 0 && selfTokens < tokens;
  const ownTokens = hasOwnTokens ? `, itself ${selfTokens.toLocaleString('en-US')}` : '';
  const took = [
    `${formatDuration(durationMs)}${ownTime}${waited}`,
    `${formatCount(tokens, 'token')}${ownTokens}`,
    ...(cost === undefined ? [] : [costWithOwn(cost, hasParts ? selfCost : undefined)]),
  ].join(' · ');
  return (
    `${statusMark(style, status)} ${style.bold(plainLine(name))} ${kind} ${status}${where} ` +
    `${style.dim(`(${took}) ${plainLine(path)}`)}`
  );
}

function costWithOwn(cost: number, selfCost: number | undefined): string {
  const own = selfCost !== undefined && selfCost < cost ? `, itself ${formatCost(selfCost)}` : '';
  return `${formatCost(cost)}${own}`;
}

function modelLine(
  style: Style,
  { model, round, attempt, status, durationMs, tokens, cost }: RunTreeModelCall,
): string {
  const mark =
    status === 'completed'
      ? style.green('◆')
      : status === 'open'
        ? style.yellow('◇')
        : style.red('◆');
  const repeated = attempt > 1 ? `, attempt ${attempt}` : '';
  const which = `round ${round}${repeated}${status === 'completed' ? '' : ` ${status}`}`;
  const took = [
    formatDuration(durationMs),
    formatCount(tokens, 'token'),
    ...(cost === undefined ? [] : [formatCost(cost)]),
  ].join(' · ');
  return (
    `${mark} ${plainLine(model)} ` +
    `${which}${status === 'open' ? '' : ` ${style.dim(`(${took})`)}`}`
  );
}

function toolCallLine(
  style: Style,
  { name, version, success, status, durationMs, waitingMs, attempts, confidence }: RunTreeToolCall,
): string {
  const mark =
    status === undefined ? style.yellow('…') : success ? style.green('✓') : style.red('✗');
  const took = [
    `${formatDuration(durationMs)}${waitingMs > 0 ? `, waited ${formatDuration(waitingMs)}` : ''}`,
    ...(attempts > 1 ? [formatCount(attempts, 'attempt')] : []),
    ...(status === undefined || success ? [] : [status]),
    ...(confidence === undefined ? [] : [`confidence ${confidence}`]),
  ].join(' · ');
  const named = version === undefined ? name : `${name}@${version}`;
  return `${mark} ${plainLine(named)} ${style.dim(`(${took})`)}`;
}

function statusMark(style: Style, status: string): string {
  if (status === 'completed' || status === 'transferred') return style.green('●');
  return status === 'open' || status === 'yielded' ? style.yellow('○') : style.red('●');
}
