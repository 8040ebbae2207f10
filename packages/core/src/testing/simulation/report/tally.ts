import type { CheckedSeed } from '../checked-seed.ts';
import type { FaultKind } from '../faults.ts';
import type { SimulatedProgram } from '../simulated-program.ts';
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
  /** Programs that were run. */
  readonly programs: number;
  /** Seeds with a broken rule. Empty: all rules held. */
  readonly failures: readonly SimulationFailure[];
}

const successes: ReadonlySet<string> = new Set(['completed', 'transferred']);

/** Sums of a report. */
export class Tally {
  readonly failures: SimulationFailure[] = [];
  readonly #faults: Partial<Record<FaultKind, number>> = {};
  /** Ends without faults that are no success, and in how many seeds. */
  readonly #calmFailures = new Map<string, number>();
  #first: { readonly seed: number; readonly programs: readonly SimulatedProgram[] } | undefined;
  #seeds = 0;
  #hours = 0;
  #events = 0;
  #programs = 0;
  #compared = 0;
  /** Compared ends of programs that succeed without faults. */
  #comparedSuccesses = 0;
  #metByFault = 0;

  add({ calm, compared, outcome }: CheckedSeed, programs: readonly SimulatedProgram[]): void {
    const { ends, events, faults, hours, seed } = outcome;
    this.#first ??= { seed, programs };
    this.#seeds++;
    this.#hours += hours;
    this.#events += events;
    this.#compared += compared.size;
    this.#programs += ends.length;
    for (const fault of faults) {
      const kind = fault.slice(0, fault.indexOf('@')) as FaultKind;
      this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    }
    for (const { index, status = 'without an end' } of calm.ends) {
      const way = `run${index} ${status}`;
      if (!successes.has(status))
        this.#calmFailures.set(way, (this.#calmFailures.get(way) ?? 0) + 1);
      else if (compared.has(index)) this.#comparedSuccesses++;
      else this.#metByFault++;
    }
  }

  get report(): SimulationReport {
    return {
      seeds: this.#seeds,
      hours: this.#hours,
      events: this.#events,
      faults: this.#faults,
      compared: this.#compared,
      programs: this.#programs,
      failures: this.#failed(),
    };
  }

  /** A simulation that has compared no success has not checked the app: it has failed. */
  #failed(): readonly SimulationFailure[] {
    if (this.failures.length > 0 || this.#comparedSuccesses > 0 || this.#first === undefined)
      return this.failures;
    const broken = [{ rule: 'ends_compared', detail: this.#whyUncompared() }] as const;
    return [{ ...this.#first, broken, faults: [], story: [] }];
  }

  #whyUncompared(): string {
    const calm = [...this.#calmFailures].map(([way, seeds]) => `${way} (seeds: ${seeds})`);
    const remedy = 'give more hours or fewer faults';
    const met = `${this.#metByFault} met a fault that may change it: ${remedy}`;
    const ways = `without faults, too, work fails or is cancelled: ${calm.join(', ')}`;
    const reasons = [
      ...(this.#metByFault === 0 ? [] : [met]),
      ...(calm.length === 0 ? [] : [ways]),
    ];
    return `none of ${this.#programs} ends was compared with a success; ${reasons.join('; ')}`;
  }
}
