/**
 * A side of a comparison: each takes one measurement and gives its value. Preparation belongs
 * outside of what is timed.
 */
export interface Subject {
  readonly name: string;
  readonly measure: () => Promise<number> | number;
  /** Slow subjects are measured only in every nth repetition. @default 1 */
  readonly every?: number;
}

const warmUpMs = 600;
const mostWarmUps = 40;

/** The values of one subject, ascending. */
export class Figure {
  readonly values: readonly number[];

  constructor(values: readonly number[]) {
    this.values = [...values].sort((a, b) => a - b);
  }

  get median(): number {
    const { values } = this;
    const middle = values.length >> 1;
    return values.length % 2 === 1
      ? (values[middle] as number)
      : ((values[middle - 1] as number) + (values[middle] as number)) / 2;
  }

  get least(): number {
    return this.values[0] as number;
  }

  get most(): number {
    return this.values.at(-1) as number;
  }
}

export type Figures = ReadonlyMap<string, Figure>;

/**
 * Measures all subjects in turn, again and again, every other time in reverse order, so that
 * whatever slows the machine for a while slows all of them. Each has warmed up before.
 */
export async function interleave(
  subjects: readonly Subject[],
  repetitions: number,
): Promise<Figures> {
  const values = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (const { measure } of subjects) await warmUp(measure);
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const order = repetition % 2 === 0 ? subjects : subjects.toReversed();
    for (const { name, measure, every = 1 } of order) {
      if (repetition % every !== 0) continue;
      collectYoung();
      values.get(name)?.push(await measure());
    }
  }
  return new Map([...values].map(([name, list]) => [name, new Figure(list)]));
}

/** Until V8 has compiled what is hot, but slow work only once. */
async function warmUp(measure: Subject['measure']): Promise<void> {
  const until = performance.now() + warmUpMs;
  for (let times = 0; times < mostWarmUps && (times === 0 || performance.now() < until); times++)
    await measure();
}

/**
 * The garbage that the last subject has just made. Not a full collection: between runs no object of
 * a conversation is alive, and with the last one of a shape V8 throws away the code that it has
 * optimised for it, so that each run would be three times as slow as in a process that does
 * anything else.
 */
function collectYoung(): void {
  globalThis.gc?.({ type: 'minor' });
}

/** Milliseconds that some work takes. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  return new Figure(values).median;
}

/**
 * Time of the work of `more` above that of `less`: quantile against quantile, and only of the
 * quicker half. Differences of single measurements would be smallest where `less` was disturbed.
 */
export function difference(more: Figure, less: Figure, scale: number): Figure {
  const half = Math.ceil(Math.min(more.values.length, less.values.length) / 2);
  return new Figure(
    more.values.slice(0, half).map((value, i) => (value - (less.values[i] as number)) * scale),
  );
}
