import { checkOptions } from '../base/invalid-option.ts';
import { isFlag, isOneOf, isText, type OptionChecks } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';
import { isRootOf, predecessorOf } from '../ledger/path.ts';
import { type RunTreeNode, type RunTreeToolCall, runTree } from './run-tree.ts';

export interface RunMermaidOptions {
  /** Only this run. @default all */
  readonly run?: string;
  /** True to show tool calls. @default true */
  readonly toolCalls?: boolean;
  /** From top to bottom, or from left to right. @default 'TB' */
  readonly direction?: 'TB' | 'LR';
}

const optionChecks: OptionChecks<RunMermaidOptions> = {
  run: isText,
  toolCalls: isFlag,
  direction: isOneOf('TB', 'LR'),
};

/**
 * The runs of a ledger as a Mermaid flowchart: what ran below what, with times, tokens and cost, in
 * colours that say how it ended.
 * @throws InvalidOptionError
 */
export function runMermaid(events: readonly Event[], options: RunMermaidOptions = {}): string {
  checkOptions('runMermaid', options, optionChecks);
  const { run, toolCalls = true, direction = 'TB' } = options;
  const roots = runTree(events).filter(({ path }) => run === undefined || isRootOf(path, run));
  const chart = new Chart(toolCalls);
  for (const root of roots) chart.add(root);
  return [`flowchart ${direction}`, ...chart.lines, ...styles]
    .map((line, i) => (i === 0 ? line : `  ${line}`))
    .join('\n');
}

/**
 * Colours that can be read on white and on black, and told apart without seeing red and green:
 * marks say the same.
 */
const styles: readonly string[] = [
  'classDef completed fill:#dcfce7,stroke:#15803d,color:#14532d',
  'classDef failed fill:#fee2e2,stroke:#b91c1c,color:#7f1d1d',
  'classDef cancelled fill:#e5e7eb,stroke:#6b7280,color:#1f2937',
  'classDef waiting fill:#fef9c3,stroke:#a16207,color:#713f12',
  'classDef open fill:#dbeafe,stroke:#1d4ed8,color:#1e3a8a',
];

type Style = 'completed' | 'failed' | 'cancelled' | 'waiting' | 'open';
const marks: Readonly<Record<Style, string>> = {
  completed: '✓',
  failed: '✗',
  cancelled: '■',
  waiting: '○',
  open: '…',
};

/**
 * Writes nodes and edges. Names of nodes are numbers, so that no text of a ledger can become part
 * of the chart.
 */
class Chart {
  readonly lines: string[] = [];
  readonly #toolCalls: boolean;
  readonly #byPath = new Map<string, string>();
  #count = 0;

  constructor(toolCalls: boolean) {
    this.#toolCalls = toolCalls;
  }

  add(node: RunTreeNode, above?: string): void {
    const id = this.#node(node, above);
    const calls = this.#toolCalls
      ? node.toolCalls.map((call) => ({ seq: call.seq, add: () => this.#call(call, id) }))
      : [];
    const children = node.children.map((child) => ({
      seq: child.seq,
      add: () => this.add(child, id),
    }));
    for (const below of [...calls, ...children].sort((a, b) => a.seq - b.seq)) below.add();
  }

  #node(node: RunTreeNode, above: string | undefined): string {
    const { path, name, kind, status, durationMs, tokens, cost } = node;
    const id = this.#next();
    const style = styleOf(status);
    const took = [
      milliseconds(durationMs),
      `${tokens} tokens`,
      ...(cost === undefined ? [] : [`$${Number(cost.toPrecision(3))}`]),
    ];
    const label = [
      labelText(`${marks[style]} ${name}`),
      labelText(`${kind} ${status}`),
      took.join(' · '),
    ].join('<br/>');
    this.lines.push(`${id}["${label}"]:::${style}`);
    this.#byPath.set(path, id);
    const from = this.#byPath.get(predecessorOf(path) ?? '');
    // A handoff: the line goes from the invocation before it, not from the one above both.
    if (from !== undefined) this.lines.push(`${from} -. handed over .-> ${id}`);
    else if (above !== undefined) this.lines.push(`${above} --> ${id}`);
    return id;
  }

  #call({ name, status, success, durationMs, attempts }: RunTreeToolCall, above: string): void {
    const id = this.#next();
    const style: Style = status === undefined ? 'waiting' : success ? 'completed' : 'failed';
    const took = [
      ...(status === undefined || success ? [] : [status]),
      milliseconds(durationMs),
      ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ];
    this.lines.push(
      `${id}(["${labelText(`${marks[style]} ${name}`)}<br/>${took.join(' · ')}"]):::${style}`,
      `${above} --> ${id}`,
    );
  }

  #next(): string {
    this.#count++;
    return `n${this.#count}`;
  }
}

function styleOf(status: string): Style {
  switch (status) {
    case 'completed':
    case 'transferred':
      return 'completed';
    case 'error':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
    case 'yielded':
      return 'waiting';
    default:
      return 'open';
  }
}

const longestLabel = 80;

/** A text of which Mermaid, and the page that it is shown on, take nothing for their own. */
export function labelText(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const symbols = [...plain];
  const short =
    symbols.length > longestLabel ? `${symbols.slice(0, longestLabel - 1).join('')}…` : plain;
  return short.replace(/[^\p{L}\p{N} .,:_+=✓✗■○…-]/gu, (symbol) => `#${symbol.codePointAt(0)};`);
}

function milliseconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}
