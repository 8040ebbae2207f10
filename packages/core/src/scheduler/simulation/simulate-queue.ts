import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import { isPositive } from '../../base/options.ts';
import { type WorkOptions, workCheck } from '../../engine/app/runtime-options.ts';
import { levelsBefore } from '../../engine/app/worker-turn.ts';
import { levelOf } from '../../engine/tasks/priority.ts';
import { workDefaults } from '../../engine/tasks/profile.ts';
import type { Claim, LedgerStore, Store, Taken } from '../../ledger/port.ts';
import { memoryStore } from '../../stores/memory.ts';
import { type SimulatedTask, taskChecks } from './arrivals.ts';
import { Measures, type QueueReport } from './queue-report.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** Settings of the simulated queue: those of `work` of a runtime, for one worker or several. */
export interface QueueUnderTest
  extends Pick<WorkOptions, 'slots' | 'reserve' | 'weights' | 'admission' | 'profile'> {}

export interface SimulateQueueOptions {
  /**
   * Milliseconds from the start at which the simulation ends. @default when all tasks have ended
   */
  readonly untilMs?: number;
}

const app = 'simulated';
const ttlMs = Number.MAX_SAFE_INTEGER / 4;
const start = 1_800_000_000_000;

/** A task at work: it ends a round at `roundEndsAt`. */
interface Work {
  readonly task: SimulatedTask;
  readonly taken: Taken;
  roundsLeft: number;
  roundEndsAt: number;
}

/**
 * Runs the order of the queue against a load, on a clock of its own: hours in milliseconds. The
 * choices are those of the store in memory, which the other stores share, so that the report is a
 * statement about the real queue.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { poissonArrivals, simulateQueue } from 'adjutant/scheduler';
 *
 * const untilMs = 3_600_000;
 * const chat = poissonArrivals({ perHour: 200, untilMs, roundMs: 8_000, priority: 'high' });
 * const reports = poissonArrivals({ perHour: 60, untilMs, roundMs: 30_000, rounds: 4, seed: 2 });
 * const report = await simulateQueue({ slots: 4 }, [...chat, ...reports]);
 * console.log(report.waits.high?.p90Ms, report.waits.normal?.p90Ms);
 * ```
 */
export async function simulateQueue(
  queue: QueueUnderTest,
  arrivals: readonly SimulatedTask[],
  options: SimulateQueueOptions = {},
): Promise<QueueReport> {
  checkOptions('simulateQueue', { work: queue }, { work: workCheck });
  checkOptions('simulateQueue', options, { untilMs: isPositive });
  for (const task of arrivals) {
    const { at = null, roundMs = null } = task;
    // `null` stands for a missing member, because the check ignores `undefined`.
    checkOptions('simulateQueue', { ...task, at, roundMs } as SimulatedTask, taskChecks);
  }
  return new QueueSimulation(queue, arrivals, options.untilMs ?? Number.POSITIVE_INFINITY).run();
}

class QueueSimulation {
  readonly #clock = new SimulatedClock(start);
  readonly #store: Store;
  readonly #queue: QueueUnderTest;
  readonly #arrivals: readonly SimulatedTask[];
  readonly #until: number;
  readonly #measures = new Measures();
  readonly #tasks = new Map<string, { readonly task: SimulatedTask; roundsLeft: number }>();
  readonly #working = new Set<Work>();
  readonly #slots: number;
  readonly #realtimeSlots: number;
  #next = 0;
  #tickets = 0;

  constructor(queue: QueueUnderTest, arrivals: readonly SimulatedTask[], untilMs: number) {
    this.#queue = queue;
    this.#arrivals = [...arrivals].sort((left, right) => left.at - right.at);
    this.#until = start + untilMs;
    this.#store = memoryStore({ clock: this.#clock });
    const { slots } = workDefaults(queue);
    this.#slots = queue.slots ?? slots ?? 100;
    this.#realtimeSlots = queue.reserve?.realtime ?? 1;
  }

  async run(): Promise<QueueReport> {
    for (;;) {
      const at = Math.min(this.#nextArrival, this.#nextRoundEnd);
      if (!Number.isFinite(at) || at > this.#until) break;
      this.#clock.moveTo(at);
      await this.#submitDue(at);
      for (const work of [...this.#working]) if (work.roundEndsAt <= at) await this.#endRound(work);
      await this.#fill();
    }
    await this.#store.close();
    return this.#measures.report(this.#tasks.size, this.#clock.now() - start);
  }

  get #nextArrival(): number {
    const task = this.#arrivals[this.#next];
    return task === undefined ? Number.POSITIVE_INFINITY : start + task.at;
  }

  get #nextRoundEnd(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { roundEndsAt } of this.#working) first = Math.min(first, roundEndsAt);
    return first;
  }

  #ledgers(tenant = 'default'): LedgerStore {
    return this.#store.for({ tenant, app });
  }

  async #submitDue(at: number): Promise<void> {
    for (; this.#nextArrival <= at; this.#next++) {
      const task = this.#arrivals[this.#next] as SimulatedTask;
      const session = `task-${this.#next}`;
      const { admission } = workDefaults(this.#queue);
      const { concurrencyKey, priority = 'normal', requester = 'system', rounds = 1 } = task;
      const item = { key: session, lane: 'input', by: 'user', at, type: 'user', data: {} } as const;
      const key = concurrencyKey === undefined ? undefined : { name: concurrencyKey, limit: 1 };
      const turn = {
        level: levelOf(priority),
        requester,
        run: session,
        estimateMs: task.roundMs * rounds,
        ...defined({ key }),
      };
      const settings = { open: true, wakes: false, turn, ...defined({ admit: admission }) };
      try {
        await this.#ledgers(task.tenant).post(session, item, settings);
        this.#tasks.set(session, { task, roundsLeft: rounds });
      } catch (error) {
        if (!isAdjutantError(error, 'queue_full')) throw error;
        this.#measures.refused(task);
      }
    }
  }

  /** Takes what may run into the free places. */
  async #fill(): Promise<void> {
    const realtime = [...this.#working].filter(({ taken }) => taken.turn.level === 0).length;
    const reserved = Math.min(realtime, this.#realtimeSlots);
    const slots = Math.max(0, this.#slots - (this.#working.size - reserved));
    await this.#take({ slots, realtimeSlots: this.#realtimeSlots - reserved });
  }

  async #take(asked: {
    readonly slots: number;
    readonly realtimeSlots?: number;
    readonly levels?: readonly number[];
  }): Promise<number> {
    this.#tickets += 1;
    const { weights } = this.#queue;
    const { taken } = await this.#store.admin.take({
      app,
      owner: 'worker',
      ticket: `${this.#tickets}`,
      ttlMs,
      ...asked,
      ...defined({ weights }),
    });
    for (const each of taken) this.#begin(each);
    return taken.length;
  }

  #begin(taken: Taken): void {
    const known = this.#tasks.get(taken.session);
    if (known === undefined) return;
    const { task, roundsLeft } = known;
    const now = this.#clock.now();
    if (roundsLeft === (task.rounds ?? 1)) this.#measures.began(task, now - start - task.at);
    this.#working.add({ task, taken, roundsLeft, roundEndsAt: now + task.roundMs });
  }

  /** Ends a round: the task ends, gives its place up, or goes on. */
  async #endRound(work: Work): Promise<void> {
    const { task, taken } = work;
    work.roundsLeft -= 1;
    this.#measures.worked(task);
    if (work.roundsLeft === 0) {
      this.#working.delete(work);
      this.#tasks.delete(taken.session);
      this.#measures.ended(task);
      return this.#giveBack(taken, { to: 'none' });
    }
    const levels = levelsBefore[taken.turn.level] ?? [];
    if (levels.length > 0 && (await this.#take({ slots: 1, levels })) > 0) {
      this.#working.delete(work);
      this.#tasks.set(taken.session, { task, roundsLeft: work.roundsLeft });
      this.#measures.preempted();
      return this.#giveBack(taken, { to: 'ready' });
    }
    work.roundEndsAt = this.#clock.now() + task.roundMs;
  }

  async #giveBack(
    { epoch, session, tenant, until }: Taken,
    turn: { readonly to: 'none' | 'ready' },
  ): Promise<void> {
    const claim: Claim = { session, owner: 'worker', epoch, until, seq: 0, inboxSeq: 0, now: 0 };
    await this.#ledgers(tenant).release(claim, { turn });
  }
}
