import type { Columns } from '../../../ledger/columns.ts';

/** Row of the timeline: decisions, writes of state, or the invocations of one place. */
export interface TimelineRow {
  readonly key: string;
  readonly label: string;
  readonly kind: 'decision' | 'state' | 'invocation';
  /** Number of invocations above it. */
  readonly depth: number;
  /** Agent that its mark stands for. */
  readonly agent: string | undefined;
}

/** Rows, and the row of each invocation. */
export interface TimelineRows {
  readonly rows: readonly TimelineRow[];
  /** Index of the row, by the number of the invocation in the columns. */
  readonly rowOf: readonly number[];
}

const decisions: TimelineRow = {
  key: 'decisions',
  label: 'Decisions',
  kind: 'decision',
  depth: 0,
  agent: undefined,
};
const state: TimelineRow = {
  key: 'state',
  label: 'State',
  kind: 'state',
  depth: 0,
  agent: undefined,
};

/**
 * Finds the rows of a ledger. Invocations of the same place in the same agent share a row: a session
 * with a thousand runs of one agent has one row for it.
 */
export function rowsOf(columns: Columns): TimelineRows {
  const found = new Map<string, TimelineRow>();
  const keys: string[] = [];
  const names = new Map(columns.spans.map(({ id, name }) => [id, name]));
  for (const [number, span] of columns.spans.entries()) {
    const parts = span.id.split('/');
    const [root = ''] = parts;
    const key = [names.get(root) ?? root, ...parts.slice(1)].join('/');
    keys[number] = key;
    if (found.has(key)) continue;
    found.set(key, {
      key,
      label: labelOf(span.name, parts),
      kind: 'invocation',
      depth: parts.length - 1,
      agent: span.agent,
    });
  }
  const sorted = inOrder([...found.values()]);
  const rows = [decisions, state, ...sorted];
  const indexes = new Map(rows.map(({ key }, index) => [key, index]));
  return { rows, rowOf: keys.map((key) => indexes.get(key) ?? 0) };
}

/** Name of the invocation; several of one name are told apart by the end of their path. */
function labelOf(name: string, parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length === 1 || last === name || last.startsWith(`${name}>`)
    ? name
    : `${name} · ${last}`;
}

/** Parents before their children, and those that began first before their neighbours. */
function inOrder(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  const places = new Map(rows.map(({ key }, index) => [key, index]));
  // The place of each row above it, then its own: a list of numbers that sorts as the tree does.
  const ranks = new Map(
    rows.map((row) => {
      const parts = row.key.split('/');
      const above = parts.map((_, i) => places.get(parts.slice(0, i + 1).join('/')) ?? -1);
      return [row, above] as const;
    }),
  );
  return rows.toSorted((left, right) => compare(ranks.get(left) ?? [], ranks.get(right) ?? []));
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (const [i, place] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    if (place !== other) return place - other;
  }
  return left.length - right.length;
}
