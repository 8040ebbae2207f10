import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Row, type Unit } from '../row.ts';
import { measureScale, type ScaleFigures } from '../scale-out/driver.ts';
import { postgresUrl } from '../stores.ts';

const workerCounts = [1, 2, 4, 8];
const sizes = { tasks: 500, wakes: 30, warmUp: 500 };
const quickSizes = { tasks: 100, wakes: 10, warmUp: 100 };
const percentile = 0.99;

/** Worker processes on one PostgreSQL: what a run costs must not grow with their number. */
export const scaleOut: Benchmark = {
  name: 'scale-out',
  notes: [
    'scale-out: runs that do nothing, one task each, by processes that have worked before. The ' +
      'log is that of the whole server. More workers than processors show no speed-up. Two on ' +
      'Temporal are measured where TEMPORAL_ADDRESS names a server (`npm run with-temporal`).',
  ],
  async run({ quick }) {
    const url = postgresUrl;
    if (url === undefined) return [];
    const rows: Row[] = [];
    const measured = quick ? quickSizes : sizes;
    for (const workers of workerCounts)
      rows.push(...rowsOf(namesOf(workers), await measureScale(url, { workers }, measured)));
    const temporal = process.env['TEMPORAL_ADDRESS'];
    if (temporal) {
      const figures = await measureScale(url, { workers: 2, temporal }, measured);
      rows.push(...rowsOf('2 worker processes on Temporal', figures));
    }
    return rows;
  },
};

function namesOf(workers: number): string {
  return workers === 1 ? '1 worker process' : `${workers} worker processes`;
}

function rowsOf(name: string, figures: ScaleFigures): readonly Row[] {
  const { databaseMs, wakes } = figures;
  const last = wakes.values[Math.ceil(wakes.values.length * percentile) - 1] ?? Number.NaN;
  const lines: readonly (readonly [string, Unit, number | undefined])[] = [
    ['runs', 'runs/s', figures.runsPerSecond],
    ['processor time of the workers for a run', 'ms', figures.workerMs],
    ['processor time of PostgreSQL for a run', 'ms', databaseMs],
    ['statements for a run', 'statements', figures.statements],
    ['rows written for a run', 'rows', figures.rows],
    ['write-ahead log for a run', 'B', figures.walBytes],
    ['wake of an idle worker, p50', 'ms', wakes.median],
    ['wake of an idle worker, p99', 'ms', last],
    ['processor time of the workers for a task that finds them idle', 'ms', figures.wakeMs],
    ['connections of all workers', 'connections', figures.connections],
  ];
  return lines.flatMap(([what, unit, value]) =>
    value === undefined
      ? []
      : [{ work: `${what}, ${name}`, unit, figures: new Map([[ours, new Figure([value])]]) }],
  );
}
