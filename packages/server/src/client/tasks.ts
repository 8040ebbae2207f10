import type { EventSourceMessage } from 'eventsource-parser';
import { defined } from './defined.ts';
import { isServerProblem } from './errors.ts';
import { type FrameReader, followFrames } from './follow.ts';
import { pause } from './ports.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type {
  NewTask,
  ServerTask,
  ServerTaskExplanation,
  ServerTaskPriority,
  SubmittedServerTask,
  TaskListQuery,
} from './types.ts';

/** Milliseconds before a task is looked for again that the server has not waited for. */
const lookAgainMs = 250;
/** For how long the server may keep one request that waits for a task. */
const waitMs = 30_000;
const endedStates: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'timeout']);

/** A command about a task, with its reason. */
export interface TaskControl extends WriteOptions {
  readonly reason?: string;
}

/**
 * Tasks: runs that wait for their turn. Rejects as `Sessions`; a full queue with `queue_full`, at
 * once.
 */
export class Tasks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Submits a task, once however often the connection is lost meanwhile. */
  submit(task: NewTask, options: WriteOptions = {}): Promise<SubmittedServerTask> {
    return this.#transport.json({ method: 'POST', path: pathOf('tasks'), body: task, ...options });
  }

  /** Tasks that have not ended, in the order of the queue; `state` asks for others. */
  async list(query: TaskListQuery = {}, options: CallOptions = {}): Promise<readonly ServerTask[]> {
    const { tasks } = await this.#transport.json<{ tasks: readonly ServerTask[] }>({
      method: 'GET',
      path: pathOf('tasks'),
      query: { ...query },
      ...options,
    });
    return tasks;
  }

  /** The task as it is now. */
  get<Output = unknown>(task: string, options: CallOptions = {}): Promise<ServerTask<Output>> {
    return this.#transport.json({ method: 'GET', path: pathOf('tasks', task), ...options });
  }

  /** Returns the task once it has ended, however long that takes. */
  async wait<Output = unknown>(
    task: string,
    options: CallOptions = {},
  ): Promise<ServerTask<Output>> {
    const { clock } = this.#transport.options.ports;
    for (;;) {
      const asked = clock.monotonic();
      const found = await this.#transport.json<ServerTask<Output>>({
        method: 'GET',
        path: pathOf('tasks', task),
        query: { wait: waitMs },
        waitsMs: waitMs,
        ...options,
      });
      if (endedStates.has(found.state)) return found;
      // A server that closes does not wait.
      if (clock.monotonic() - asked < waitMs / 2) await pause(clock, lookAgainMs, options.signal);
    }
  }

  /** Explains why a task does not run now, its place in the queue, and about when it begins. */
  explain(task: string, options: CallOptions = {}): Promise<ServerTaskExplanation> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('tasks', task, 'explanation'),
      ...options,
    });
  }

  /** Ends one interest in a task; the last one cancels it. Resolves when that is stored. */
  cancel(task: string, options: TaskControl = {}): Promise<ServerTask> {
    return this.#control(task, 'cancel', options);
  }

  /** Lets a task wait until it is resumed. */
  suspend(task: string, options: TaskControl = {}): Promise<ServerTask> {
    return this.#control(task, 'suspend', options);
  }

  resume(task: string, options: TaskControl = {}): Promise<ServerTask> {
    return this.#control(task, 'resume', options);
  }

  /** Puts a task before all others that wait, but for realtime ones. */
  moveToFront(task: string, options: TaskControl = {}): Promise<ServerTask> {
    return this.#control(task, 'move-to-front', options);
  }

  /** Executes a task again that has failed, was cancelled or passed its deadline. */
  retry(task: string, options: TaskControl = {}): Promise<ServerTask> {
    return this.#control(task, 'retry', options);
  }

  /** Takes an ended task out of the list. */
  async discard(task: string, options: WriteOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: pathOf('tasks', task), ...options });
  }

  reprioritize(
    task: string,
    priority: ServerTaskPriority,
    { reason, ...options }: TaskControl = {},
  ): Promise<ServerTask> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('tasks', task, 'reprioritize'),
      body: { priority, ...defined({ reason }) },
      ...options,
    });
  }

  /**
   * The tasks that have not ended, and then each task that changes, for as long as somebody
   * iterates. After a lost connection all open tasks come again, and those that ended meanwhile.
   */
  follow({ signal }: CallOptions = {}): AsyncIterableIterator<ServerTask> {
    const reader = new TaskReader((task) => this.get(task, defined({ signal })));
    return followFrames(this.#transport, {
      path: pathOf('tasks', 'events'),
      reader,
      ...defined({ signal }),
    });
  }

  #control(task: string, verb: string, { reason, ...options }: TaskControl): Promise<ServerTask> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('tasks', task, verb),
      body: defined({ reason }),
      ...options,
    });
  }
}

/** Reads the stream of tasks, which begins anew with each connection. */
class TaskReader implements FrameReader<ServerTask> {
  readonly #get: (task: string) => Promise<ServerTask>;
  #open = new Set<string>();
  #missed = new Set<string>();

  constructor(get: (task: string) => Promise<ServerTask>) {
    this.#get = get;
  }

  request(): object {
    this.#missed = new Set(this.#open);
    return {};
  }

  async *take({ event, data }: EventSourceMessage): AsyncGenerator<ServerTask, void> {
    if (event === 'listed') yield* this.#endedMeanwhile();
    if (event !== 'task') return;
    const task = JSON.parse(data) as ServerTask;
    this.#missed.delete(task.id);
    if (endedStates.has(task.state)) this.#open.delete(task.id);
    else this.#open.add(task.id);
    yield task;
  }

  /** The tasks that were open before the connection was lost, and are not any more. */
  async *#endedMeanwhile(): AsyncGenerator<ServerTask, void> {
    for (const id of this.#missed) {
      this.#open.delete(id);
      try {
        yield await this.#get(id);
      } catch (error) {
        if (!isServerProblem(error, 'task_not_found')) throw error;
      }
    }
    this.#missed.clear();
  }
}
