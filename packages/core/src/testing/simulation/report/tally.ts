import type { CheckedSeed } from '../checked-seed.ts';
import type { FaultKind } from '../faults.ts';
import type { SimulatedProgram } from '../people.ts';
import type { SimulationFailure } from './shorter-story.ts';

export interface SimulationReport {
  readonly seeds: number;
  readonly hours: number;
  /** Events of all ledgers. */
  readonly events: number;
  /** Number of faults that happened, by kind. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Programs whose end was compared with that without faults. */
  readonly compared: number;
  /** Seeds with a broken rule. Empty: all rules held. */
  readonly failures: readonly SimulationFailure[];
}

/** Sums of a report. */
export class Tally {
  readonly failures: SimulationFailure[] = [];
  readonly #faults: Partial<Record<FaultKind, number>> = {};
  /** Ends without faults that are not compared with any other, and in how many seeds. */
  readonly #calmEnds = new Map<string, number>();
  #first: { readonly seed: number; readonly programs: readonly SimulatedProgram[] } | undefined;
  #seeds = 0;
  #hours = 0;
  #events = 0;
  #ends = 0;
  #compared = 0;
  #metByFault = 0;

  add({ calm, compared, outcome }: CheckedSeed, programs: readonly SimulatedProgram[]): void {
    const { ends, events, faults, hours, seed } = outcome;
    this.#first ??= { seed, programs };
    this.#seeds++;
    this.#hours += hours;
    this.#events += events;
    this.#compared += compared;
    this.#ends += ends.length;
    for (const fault of faults) {
      const kind = fault.slice(0, fault.indexOf('@')) as FaultKind;
      this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    }
    for (const [index, { isUndisturbed }] of ends.entries()) {
      const { isUndisturbed: isCalm, status = 'without an end' } = calm.ends[index] ?? {};
      const way = `run${index} ${status}`;
      if (isCalm !== true) this.#calmEnds.set(way, (this.#calmEnds.get(way) ?? 0) + 1);
      else if (!isUndisturbed) this.#metByFault++;
    }
  }

  get report(): SimulationReport {
    return {
      seeds: this.#seeds,
      hours: this.#hours,
      events: this.#events,
      faults: this.#faults,
      compared: this.#compared,
      failures: this.#failed(),
    };
  }

  /** A simulation that has compared no end has not checked the app: it has failed. */
  #failed(): readonly SimulationFailure[] {
    if (this.failures.length > 0 || this.#compared > 0 || this.#first === undefined)
      return this.failures;
    const broken = [{ rule: 'ends_compared', detail: this.#whyUncompared() }] as const;
    return [{ ...this.#first, broken, faults: [], story: [] }];
  }

  #whyUncompared(): string {
    const calm = [...this.#calmEnds].map(([way, seeds]) => `${way} (seeds: ${seeds})`);
    const remedy = 'give more hours or fewer faults';
    const met = `${this.#metByFault} met a fault that may change it: ${remedy}`;
    const ways = `without faults, too, work is refused, fails or is cancelled: ${calm.join(', ')}`;
    const reasons = [
      ...(this.#metByFault === 0 ? [] : [met]),
      ...(calm.length === 0 ? [] : [ways]),
    ];
    return `none of ${this.#ends} ends was compared; ${reasons.join('; ')}`;
  }
}
