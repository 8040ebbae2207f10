import { Figure, type Figures, interleave } from '../measure.ts';
import { type Ceiling, ours, type Row, type Unit } from '../row.ts';

/** A side of a comparison: each takes one measurement, of several values at once. */
export interface PairedSubject<Value> {
  readonly name: string;
  readonly measure: () => Promise<Value>;
}

/**
 * Several values of each measurement, by the name of the subject and in the order of the
 * repetitions.
 */
export class Paired<Value> {
  readonly #values: ReadonlyMap<string, readonly Value[]>;

  constructor(values: ReadonlyMap<string, readonly Value[]>) {
    this.#values = values;
  }

  figures(value: (of: Value) => number): Figures {
    return new Map([...this.#values].map(([name, list]) => [name, new Figure(list.map(value))]));
  }

  /** Figures that only ours has. */
  only(value: (of: Value) => number): Figures {
    return new Map([[ours, new Figure((this.#values.get(ours) ?? []).map(value))]]);
  }

  row(work: string, unit: Unit, value: (of: Value) => number): Row {
    return { work, unit, figures: this.figures(value) };
  }

  /**
   * Figures of ours against another one, repetition by repetition: both were measured right after
   * each other.
   */
  against(
    work: string,
    value: (of: Value) => number,
    { other, ...ceiling }: Ceiling & { readonly other: string },
  ): Row {
    return {
      ...this.#compared(work, '×', (own, its) => value(own) / value(its), other),
      ceiling: { of: 'median', ...ceiling },
    };
  }

  /** Figures of ours above another one. */
  above(work: string, unit: Unit, value: (of: Value) => number, other: string): Row {
    return this.#compared(work, unit, (own, its) => value(own) - value(its), other);
  }

  #compared(
    work: string,
    unit: Unit,
    compare: (own: Value, its: Value) => number,
    other: string,
  ): Row {
    const theirs = this.#values.get(other) ?? [];
    const compared = (this.#values.get(ours) ?? []).map((own, i) =>
      compare(own, theirs[i] as Value),
    );
    return { work, unit, figures: new Map([[ours, new Figure(compared)]]) };
  }
}

/** Measures in turn, as `interleave` does; what is measured to warm up does not count. */
export async function paired<Value>(
  subjects: readonly PairedSubject<Value>[],
  repetitions: number,
): Promise<Paired<Value>> {
  const values = new Map<string, Value[]>(subjects.map(({ name }) => [name, []]));
  await interleave(
    subjects.map(({ name, measure }) => ({
      name,
      measure: async () => {
        values.get(name)?.push(await measure());
        return 0;
      },
    })),
    repetitions,
  );
  return new Paired(new Map([...values].map(([name, list]) => [name, list.slice(-repetitions)])));
}
