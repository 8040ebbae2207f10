import { Figure, type Figures } from './measure.ts';

export type Unit =
  | 'ms'
  | 'µs'
  | 'B'
  | 'KiB'
  | 'MiB'
  | 'runs/s'
  | 'rounds/s'
  | 'appends/s'
  | 'events/s'
  | 'tasks/s'
  | 'tasks'
  | 'statements'
  | 'rows'
  | 'connections'
  | 'nodes'
  | '×'
  | '%';

/** Limit that the design sets. */
export interface Ceiling {
  readonly limit: number;
  /** @default 'most' */
  readonly at?: 'most' | 'least';
  /** Ratios err to both sides: the best of them says nothing. @default 'best' */
  readonly of?: 'best' | 'median';
}

/** One line of the table. */
export interface Row {
  readonly work: string;
  readonly unit: Unit;
  readonly figures: Figures;
  readonly ceiling?: Ceiling | undefined;
}

export interface Benchmark {
  readonly name: string;
  /** Contenders that were left out, with the reason, and remarks for the reader. */
  readonly notes?: readonly string[];
  run(settings: Settings): Promise<readonly Row[]>;
}

export interface Settings {
  /** Fewer repetitions, for a look. */
  readonly quick: boolean;
  /** A folder for files of the benchmarks; it is deleted afterwards. */
  readonly folder: string;
}

export const ours = 'Adjutant';

/**
 * The value of ours that counts: the best of the repetitions, because other programs on the machine
 * can only make them worse. What nothing else can disturb (bytes) is the same in all of them.
 */
export function checkedValue({ figures, ceiling }: Row): number | undefined {
  const figure: Figure | undefined = figures.get(ours);
  if (ceiling?.of === 'median') return figure?.median;
  return ceiling?.at === 'least' ? figure?.most : figure?.least;
}

/** Tells whether a row is within its ceiling; `undefined` when it has none. */
export function isWithin(row: Row): boolean | undefined {
  const value = checkedValue(row);
  if (row.ceiling === undefined || value === undefined) return undefined;
  return row.ceiling.at === 'least' ? value >= row.ceiling.limit : value <= row.ceiling.limit;
}

/** Time of ours against other work of ours, by the best repetition of each. */
export function ratioOf(work: string, figures: Figures, other: string, limit: number): Row {
  const ratio =
    (figures.get(ours)?.least ?? Number.NaN) / (figures.get(other)?.least ?? Number.NaN);
  return { work, unit: '×', figures: new Map([[ours, new Figure([ratio])]]), ceiling: { limit } };
}
