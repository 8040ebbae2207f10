import { isAdjutantError, type Runtime } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { endedTaskStates, openTaskStates, type TaskInfo } from 'adjutant/scheduler';

/** Called with the tasks that have changed. */
type TaskListener = (tasks: readonly TaskInfo[]) => void;

interface Known {
  readonly task: TaskInfo;
  /** The task as text, by which it is compared. A result comes with a new state. */
  readonly text: string;
}

export interface TaskWatchPorts {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Milliseconds from a hint to a look at the queue, in which further hints come along. */
const settleMs = 50;
/** Milliseconds between two looks without a hint, for changes by other processes. */
const lookEveryMs = 1_000;
/** A look that takes long is followed by a pause of so many times its duration. */
const restFactor = 9;
const mostOpen = 1_000;
const mostEnded = 100;

/** True for a task that has not ended. */
export function isOpenTask({ state }: TaskInfo): boolean {
  return openTaskStates.includes(state);
}

/**
 * Watches the tasks of one tenant while somebody listens: it compares the tasks as they are listed
 * with those of the look before. Runs and commands of this process hint at a look. The store
 * announces no changes by other processes, so that a look without a hint follows every second. All
 * listeners share the looks.
 */
export class TaskWatch {
  readonly #app: Pick<Runtime, 'tasks'>;
  readonly #ports: TaskWatchPorts;
  readonly #listeners = new Set<TaskListener>();
  #known: ReadonlyMap<string, Known> | undefined;
  #first: Promise<void> | undefined;
  #cancelTimer: () => void = () => undefined;
  #isLooking = false;
  #isHinted = false;
  #lastLookMs = 0;

  constructor(app: Pick<Runtime, 'tasks'>, ports: TaskWatchPorts) {
    this.#app = app;
    this.#ports = ports;
  }

  /**
   * Calls `listener` with the tasks that change, until `end` is called.
   * @returns the tasks that have not ended, as they are before the first change
   * @throws StoreUnavailableError
   */
  async listen(
    listener: TaskListener,
  ): Promise<{ readonly open: readonly TaskInfo[]; readonly end: () => void }> {
    this.#listeners.add(listener);
    try {
      this.#first ??= this.#compare().then(() => this.#arm(lookEveryMs));
      await this.#first;
    } catch (error) {
      this.#forget(listener);
      throw error;
    }
    // The listener may have been called meanwhile; these tasks are as new as what it was told.
    const open = [...(this.#known ?? new Map<string, Known>()).values()].map(({ task }) => task);
    return { open: open.filter(isOpenTask), end: () => this.#forget(listener) };
  }

  /** Announces that tasks may have changed. */
  hint(): void {
    if (this.#listeners.size === 0) return;
    if (this.#isLooking) this.#isHinted = true;
    else this.#arm(settleMs);
  }

  #forget(listener: TaskListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#cancelTimer();
    this.#known = undefined;
    this.#first = undefined;
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    if (this.#listeners.size === 0) return;
    const wait = Math.max(ms, this.#lastLookMs * restFactor);
    this.#cancelTimer = this.#ports.clock.setTimer(wait, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { clock, onError } = this.#ports;
    const begun = clock.monotonic();
    this.#isLooking = true;
    this.#isHinted = false;
    try {
      await this.#compare();
    } catch (error) {
      onError(error);
    } finally {
      this.#isLooking = false;
      this.#lastLookMs = clock.monotonic() - begun;
      this.#arm(this.#isHinted ? settleMs : lookEveryMs);
    }
  }

  async #compare(): Promise<void> {
    const before = this.#known;
    const tasks = await this.#tasks(before ?? new Map());
    if (this.#listeners.size === 0) return;
    const now = new Map(tasks.map((task) => [task.id, { task, text: textOf(task) }]));
    this.#known = now;
    if (before === undefined) return;
    const changed = [...now.values()].filter(
      ({ task, text }) => before.get(task.id)?.text !== text,
    );
    if (changed.length === 0) return;
    for (const listener of this.#listeners) listener(changed.map(({ task }) => task));
  }

  /** The open tasks, the newest ended ones, and those that were open before. */
  async #tasks(before: ReadonlyMap<string, Known>): Promise<readonly TaskInfo[]> {
    const { tasks } = this.#app;
    const open = await tasks.list({ limit: mostOpen });
    const ended = await tasks.list({ states: endedTaskStates, limit: mostEnded });
    // A task that ended between the two reads is in both lists: its end is the newer one.
    const found = new Map([...open, ...ended].map((task) => [task.id, task]));
    for (const [id, { task }] of before) {
      if (!isOpenTask(task) || found.has(id)) continue;
      const ending = await this.#get(id);
      if (ending !== undefined) found.set(id, ending);
    }
    return [...found.values()];
  }

  async #get(id: string): Promise<TaskInfo | undefined> {
    try {
      return await this.#app.tasks.get(id);
    } catch (error) {
      if (isAdjutantError(error, 'task_not_found')) return undefined;
      throw error;
    }
  }
}

function textOf({ result: _, ...task }: TaskInfo): string {
  return JSON.stringify(task);
}
