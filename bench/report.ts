import { availableParallelism, cpus, loadavg } from 'node:os';
import { checkedValue, isWithin, ours, type Row } from './row.ts';

const allPeers = ['AI SDK', 'LangGraph.js', 'Mastra', 'pg-boss', 'BullMQ'];

export function machineLine(): string {
  const load = loadavg().map((value) => value.toFixed(2));
  return (
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}; load ` +
    `of the last 1, 5 and 15 minutes: ${load.join(', ')}`
  );
}

/** Medians side by side, and the best of ours against its ceiling. */
export function table(rows: readonly Row[]): string {
  const peers = allPeers.filter((name) => rows.some(({ figures }) => figures.has(name)));
  const lines = [
    ['work', 'unit', 'floor', ours, '(checked)', ...peers, 'ceiling', 'verdict'],
    ...rows.map((row) => cells(row, peers)),
  ];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length))) ??
    [];
  return lines
    .map((line) =>
      line
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

function cells(row: Row, peers: readonly string[]): string[] {
  const { work, unit, figures, ceiling } = row;
  const within = isWithin(row);
  const medians = ['bare loop', ours].map((name) => number(figures.get(name)?.median));
  const limit =
    ceiling === undefined ? '' : `${ceiling.at === 'least' ? '≥' : '≤'} ${number(ceiling.limit)}`;
  const verdict = within === undefined ? '' : within ? 'ok' : 'EXCEEDED';
  return [
    work,
    unit,
    ...medians,
    number(ceiling === undefined ? undefined : checkedValue(row)),
    ...peers.map((name) => number(figures.get(name)?.median)),
    limit,
    verdict,
  ];
}

function number(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 1
        ? value.toFixed(2)
        : value.toFixed(4).replace(/0{1,2}$/, '');
}

/** Everything measured, for other programs. */
export function toJson(groups: ReadonlyMap<string, readonly Row[]>): string {
  const rows = [...groups].flatMap(([benchmark, list]) =>
    list.map((row) => ({
      benchmark,
      work: row.work,
      unit: row.unit,
      figures: Object.fromEntries(
        [...row.figures].map(([name, { median, least, most }]) => [name, { median, least, most }]),
      ),
      ceiling: row.ceiling,
      within: isWithin(row),
    })),
  );
  return `${JSON.stringify({ machine: machineLine(), rows }, null, 2)}\n`;
}
