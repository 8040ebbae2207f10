import { createHash } from 'node:crypto';
import { afterThisTurn } from '../../base/clock.ts';
import { Draws } from './draws.ts';

interface Task {
  readonly at: number;
  /** Place among the tasks of the same time. */
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Epoch milliseconds at which all simulations begin: 2026-01-01T00:00:00Z. */
export const firstInstant = Date.UTC(2026, 0, 1);
/** Most lines of a story that are kept. */
const mostLines = 4_000;
/** Most lines of the trace that are kept. */
const mostCalls = 100_000;

/**
 * Simulated time, and the tasks that wait for it. One task runs at a time. The next one is chosen
 * only when nothing is ready any more, so that time never overtakes work.
 */
export class World {
  readonly draws: Draws;
  readonly story: string[] = [];
  /** The first lines of the trace, by which the difference of two runs is told. */
  readonly calls: string[] = [];
  readonly #tasks: Task[] = [];
  readonly #trace = createHash('sha256');
  readonly #keepsStory: boolean;
  readonly #mostSteps: number;
  #now = 0;
  #order = 0;
  #steps = 0;
  #isBrokenOff = false;
  #failure: { readonly error: unknown } | undefined;

  /**
   * @param keepsStory true to keep a line for each port call, for people
   * @param mostSteps number of tasks after which the simulation is broken off
   */
  constructor(seed: number, keepsStory: boolean, mostSteps = Number.POSITIVE_INFINITY) {
    this.#mostSteps = mostSteps;
    this.draws = new Draws(seed);
    this.#keepsStory = keepsStory;
  }

  /** Milliseconds since the simulation began. */
  get elapsed(): number {
    return this.#now;
  }

  /** Epoch milliseconds of a clock that is right. */
  get now(): number {
    return firstInstant + this.#now;
  }

  /** Number of tasks that have run. */
  get steps(): number {
    return this.#steps;
  }

  /** Runs `task` after so many milliseconds. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void {
    const entry: Task = {
      at: this.#now + Math.max(0, ms),
      order: this.#order++,
      run: task,
      isCancelled: false,
    };
    push(this.#tasks, entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /**
   * Adds a line to the trace, by which two runs of a seed are compared, and to the story.
   * @param isIdle true for a line that tells people nothing
   */
  note(line: string, isIdle = false): void {
    this.#trace.update(`${this.#now} ${line}\n`);
    if (this.calls.length < mostCalls) this.calls.push(`${timeText(this.#now)} ${line}`);
    if (!this.#keepsStory || isIdle) return;
    this.story.push(`${timeText(this.#now)} ${line}`);
    if (this.story.length > mostLines) this.story.shift();
  }

  /** Ends the simulation with an error: something is wrong with it, or with what it runs. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Runs no further task: a rule is broken, and nothing that follows would say more. */
  breakOff(): void {
    this.#isBrokenOff = true;
  }

  /** True when there were more tasks than a simulation has. */
  get isEndless(): boolean {
    return this.#steps > this.#mostSteps;
  }

  /** Runs the tasks up to an instant, in milliseconds since the beginning. */
  async runUntil(end: number): Promise<void> {
    for (let task = this.#next(end); task !== undefined; task = this.#next(end)) {
      if (this.#isBrokenOff || this.isEndless) return;
      this.#now = task.at;
      this.#steps++;
      task.run();
      await turnOfLoop();
      if (this.#failure !== undefined) throw this.#failure.error;
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Hash of all lines so far. */
  get trace(): string {
    return this.#trace.copy().digest('hex');
  }

  #next(end: number): Task | undefined {
    for (;;) {
      const first = this.#tasks[0];
      if (first === undefined || first.at > end) return undefined;
      pop(this.#tasks);
      if (!first.isCancelled) return first;
    }
  }
}

/** Resolves when all microtasks and `process.nextTick` callbacks have run. */
function turnOfLoop(): Promise<void> {
  return new Promise(afterThisTurn);
}

/** Text of an instant: `3:05:12.250`. */
function timeText(ms: number): string {
  const seconds = (ms / 1_000) % 60;
  const minutes = Math.floor(ms / 60_000) % 60;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(ms / 3_600_000)}:${two(minutes)}:${seconds.toFixed(3).padStart(6, '0')}`;
}

function isBefore(left: Task, right: Task): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}

/** Adds a task to a binary heap with the first task at index 0. */
function push(heap: Task[], task: Task): void {
  let index = heap.push(task) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(task, heap[parent] as Task)) break;
    heap[index] = heap[parent] as Task;
    index = parent;
  }
  heap[index] = task;
}

/** Removes the first task of a binary heap. */
function pop(heap: Task[]): void {
  const last = heap.pop() as Task;
  if (heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    const right = child + 1;
    if (right < heap.length && isBefore(heap[right] as Task, heap[child] as Task)) child = right;
    if (!isBefore(heap[child] as Task, last)) break;
    heap[index] = heap[child] as Task;
    index = child;
  }
  heap[index] = last;
}
