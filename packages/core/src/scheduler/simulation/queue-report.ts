import type { TaskPriority } from '../../engine/tasks/priority.ts';
import type { SimulatedTask } from './arrivals.ts';

/** Waits of the tasks of one priority, in milliseconds. */
export interface WaitReport {
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly maxMs: number;
}

/** Result of a simulation of the queue. */
export interface QueueReport {
  /** Time from the submission of tasks to their begin, by priority. */
  readonly waits: Readonly<Partial<Record<TaskPriority, WaitReport>>>;
  /** Part of the work that each tenant got, from 0 to 1. */
  readonly shares: Readonly<Record<string, number>>;
  readonly ended: number;
  readonly refused: number;
  /** Number of times that a task gave its place to another one. */
  readonly preempted: number;
  /** Tasks that had not ended at the end of the simulation. */
  readonly left: number;
  /** Milliseconds that were simulated. */
  readonly simulatedMs: number;
}

/** Measures of a simulation while it goes on. */
export class Measures {
  readonly #waits = new Map<TaskPriority, number[]>();
  readonly #work = new Map<string, number>();
  #ended = 0;
  #refused = 0;
  #preempted = 0;

  began({ priority = 'normal' }: SimulatedTask, waitMs: number): void {
    const waits = this.#waits.get(priority) ?? [];
    waits.push(waitMs);
    this.#waits.set(priority, waits);
  }

  worked({ tenant = 'default', roundMs }: SimulatedTask): void {
    this.#work.set(tenant, (this.#work.get(tenant) ?? 0) + roundMs);
  }

  ended(_task: SimulatedTask): void {
    this.#ended += 1;
  }

  refused(_task: SimulatedTask): void {
    this.#refused += 1;
  }

  preempted(): void {
    this.#preempted += 1;
  }

  report(left: number, simulatedMs: number): QueueReport {
    const total = [...this.#work.values()].reduce((sum, ms) => sum + ms, 0);
    return {
      waits: Object.fromEntries(
        [...this.#waits].map(([priority, waits]) => [priority, waitReport(waits)]),
      ),
      shares: Object.fromEntries([...this.#work].map(([tenant, ms]) => [tenant, ms / total])),
      ended: this.#ended,
      refused: this.#refused,
      preempted: this.#preempted,
      left,
      simulatedMs,
    };
  }
}

function waitReport(waits: readonly number[]): WaitReport {
  const sorted = [...waits].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { count: sorted.length, p50Ms: at(0.5), p90Ms: at(0.9), maxMs: at(1) };
}
