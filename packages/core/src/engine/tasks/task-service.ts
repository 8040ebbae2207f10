import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import {
  describeValue,
  findInvalidOption,
  isCount,
  isListOf,
  isNonEmptyText,
  isOneOf,
  type OptionChecks,
} from '../../base/options.ts';
import type { StreamEvent } from '../../ledger/event.ts';
import { taskKind } from '../../ledger/folds/task.ts';
import { isRootOf } from '../../ledger/path.ts';
import type {
  InboxItem,
  LedgerStore,
  PostOptions,
  PostReceipt,
  StoredRow,
  TurnScope,
} from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import type { Runnable } from '../../session/runnable.ts';
import { bodyAround } from '../frame/running-body.ts';
import {
  InvalidTaskError,
  TaskEndedError,
  TaskNotFoundError,
  WouldDeadlockError,
} from './errors.ts';
import { levelOf, type TaskPriority, taskPriorities } from './priority.ts';
import type { WorkDefaults } from './profile.ts';
import { joinPost, retryPost, submissionOf } from './submission.ts';
import { checkSubmission, type SubmitOptions } from './submit-options.ts';
import { assertNotOver, checkedControl } from './task-checks.ts';
import { explainTask, type TaskExplanation } from './task-explanation.ts';
import type { TaskControlOptions, TaskHandle, TaskResult, WaitOptions } from './task-handle.ts';
import { openTaskStates, type TaskInfo, type TaskState, taskStates } from './task-info.ts';
import { effectiveLevel, taskInfo } from './task-list.ts';

/** Filter of the list of tasks. */
export interface TaskListOptions {
  /** @default tasks that have not ended */
  readonly states?: readonly TaskState[];
  readonly requester?: string;
  readonly session?: string;
  /** @default 100 */
  readonly limit?: number;
}

export interface TaskServiceParts {
  readonly app: string;
  readonly tenant: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  readonly work: WorkDefaults;
  readonly ledgers: () => LedgerStore;
  /** The part of the queue that this app serves. */
  readonly scope: () => TurnScope;
  readonly slots: number;
  /** Reason why nobody can be told by these channels, which an option names. */
  readonly channelFault: (
    option: string,
    channels: readonly string[] | undefined,
  ) => string | undefined;
  readonly register: (runnable: Runnable) => void;
  /** Refuses the id of a session that callers may not use. */
  readonly checkSession: (session: string | undefined) => void;
  readonly follow: (session: string, signal: AbortSignal) => AsyncIterable<StreamEvent>;
  /** Called when a task was submitted, or may run again. */
  readonly queued: (session: string, level: number | undefined) => void;
  /** Called when an item was posted to a session. */
  readonly posted: (session: string) => void;
}

/** Longest time of a timer of Node. */
const longestWaitMs = 2_147_483_647;

/** Number of rows among which the list looks for tasks. */
const mostListed = 1_000;

const listChecks: OptionChecks<TaskListOptions> = {
  states: isListOf(...taskStates),
  requester: isNonEmptyText,
  session: isNonEmptyText,
  limit: isCount,
};

/** Tasks of one tenant: submitted, listed, explained and controlled. */
export class TaskService {
  readonly #parts: TaskServiceParts;

  constructor(parts: TaskServiceParts) {
    this.#parts = parts;
  }

  /** @throws InvalidTaskError, QueueFullError, SessionGoneError, StoreUnavailableError */
  async submit(
    runnable: Runnable,
    input: string | undefined,
    options: SubmitOptions,
  ): Promise<TaskHandle> {
    checkSubmission(input, options);
    this.#parts.checkSession(options.session);
    const { onComplete } = options;
    const reason = onComplete && this.#parts.channelFault('onComplete', onComplete.channels);
    if (reason !== undefined) throw new InvalidTaskError({ reason });
    const { app, clock, ids, register, tenant, work } = this.#parts;
    register(runnable);
    const ledgers = this.#parts.ledgers();
    await syncClock(clock, ledgers);
    const maxRounds = options.maxRounds ?? work.maxRounds;
    const made = submissionOf(
      runnable,
      input,
      maxRounds === undefined ? options : { ...options, maxRounds },
      { app, tenant, now: clock.now(), freshKey: ids.next(), work },
    );
    assertNotOver(made.options, clock.now());
    const receipt = await ledgers.post(made.session, made.item, made.options);
    this.#parts.queued(made.session, made.options.turn?.level);
    const { joined } = receipt;
    if (joined?.run === undefined) return this.#handle(made.id, made.session, false);
    const { item, session } = joinPost(made, { run: joined.run, session: joined.session });
    await this.#note(session, item);
    return this.#handle(joined.run, joined.session, true);
  }

  /**
   * Posts what has happened to the turn of a session, for its ledger. A session that has gone
   * meanwhile needs it no more.
   */
  async #note(session: string, item: Omit<InboxItem, 'at'>): Promise<void> {
    await this.#post(session, item, { wakes: false }).catch((error: unknown) => {
      if (!isAdjutantError(error, 'session_not_found')) throw error;
    });
  }

  #handle(id: string, session: string, joined: boolean): TaskHandle {
    return {
      id,
      session,
      joined,
      wait: (options) => this.wait(id, options),
      cancel: (options) => this.cancel(id, options),
      info: () => this.get(id),
    };
  }

  /** Tasks that have not ended, the next first; ended ones with the last first. */
  async list(options: TaskListOptions = {}): Promise<readonly TaskInfo[]> {
    const invalid = findInvalidOption(options, listChecks);
    if (invalid !== undefined)
      throw new InvalidTaskError({ refused: 'Tasks cannot be listed', reason: invalid.reason });
    const { limit = 100, requester, session } = options;
    const wanted = new Set<TaskState>(options.states ?? openTaskStates);
    const statuses = [...new Set([...wanted].map(statusOf))];
    const rows = await this.#parts.ledgers().rows({
      kind: taskKind,
      statuses,
      // Filtered and sorted below: the row knows neither the state of an open task nor its place.
      limit: Math.max(limit, mostListed),
      newestFirst: !statuses.includes('open'),
      ...(requester === undefined ? {} : { user: requester }),
      ...(session === undefined ? {} : { session }),
    });
    const tasks = await Promise.all(rows.map((row) => this.#read(row)));
    const fitting = tasks.filter(({ info }) => wanted.has(info.state));
    return fitting
      .sort((left, right) => left.rank - right.rank)
      .slice(0, limit)
      .map(({ info }) => info);
  }

  async #read(row: StoredRow): Promise<{ readonly info: TaskInfo; readonly rank: number }> {
    const { clock, ledgers, tenant } = this.#parts;
    const turn = row.status === 'open' ? await ledgers().turn(row.session) : undefined;
    const info = taskInfo(row, turn, tenant);
    const rank =
      turn === undefined
        ? Number.MAX_SAFE_INTEGER - (info.completedAt ?? 0)
        : effectiveLevel(turn.level, turn.since, clock.now());
    return { info, rank };
  }

  /** @throws TaskNotFoundError */
  async get(id: string): Promise<TaskInfo> {
    return (await this.#read(await this.#row(id))).info;
  }

  async #row(id: string): Promise<StoredRow> {
    if (typeof id !== 'string' || id === '')
      throw new InvalidTaskError({
        refused: 'The task cannot be found',
        reason: `its id must be a text, not ${describeValue(id)}`,
      });
    const [row] = await this.#parts.ledgers().rows({ kind: taskKind, id, limit: 1 });
    if (row === undefined) throw new TaskNotFoundError({ task: id, app: this.#parts.app });
    return row;
  }

  /**
   * Waits for the end of a task, in whichever process it runs.
   * @throws WouldDeadlockError inside a body of the app; TaskNotFoundError; SessionNotFoundError
   * when its session was deleted
   */
  async wait(id: string, options: WaitOptions = {}): Promise<TaskResult> {
    const { app } = this.#parts;
    const body = bodyAround(app);
    if (body !== undefined) throw new WouldDeadlockError({ body, app });
    const { session } = await this.#row(id);
    const stop = new AbortController();
    const signal =
      options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    // The worker's timers alone do not keep a process alive that waits for a task.
    const letEnd = this.#parts.host.clock.setTimer(longestWaitMs, () => undefined);
    try {
      for await (const event of this.#parts.follow(session, signal)) {
        if (event.type !== 'invocation_end' || event.next !== undefined) continue;
        if (!isRootOf(event.invocationId, id)) continue;
        const found = await this.#result(id);
        if (found !== undefined) return found;
      }
    } finally {
      letEnd();
      stop.abort();
    }
    options.signal?.throwIfAborted();
    const found = await this.#result(id);
    if (found === undefined) throw new TaskNotFoundError({ task: id, app: this.#parts.app });
    return found;
  }

  async #result(id: string): Promise<TaskResult | undefined> {
    const { error, result, session, state } = await this.get(id);
    if (openTaskStates.includes(state)) return undefined;
    return { id, session, status: state as TaskResult['status'], output: result, error };
  }

  /**
   * Explains why a task does not run now, its place in the queue, and about when it will begin.
   * @throws TaskNotFoundError
   */
  async explain(id: string): Promise<TaskExplanation> {
    const row = await this.#row(id);
    const { info } = await this.#read(row);
    const { clock, ledgers, scope, slots } = this.#parts;
    return explainTask(info, { ledgers: ledgers(), scope: scope(), slots, now: clock.now() });
  }

  /**
   * Ends one interest in a task, whatever its state; the last one cancels it.
   * @throws TaskNotFoundError, TaskEndedError
   */
  async cancel(id: string, options: TaskControlOptions = {}): Promise<void> {
    const { by = 'operator', reason } = checkedControl(options);
    const { session } = await this.#openRow(id);
    const key = `cancel:${id}:${this.#parts.ids.next()}`;
    const data = { runId: id, ...(reason === undefined ? {} : { reason }) };
    const { left } = await this.#post(
      session,
      { key, lane: 'control', by, type: 'cancel', data: { ...data, isTask: true } },
      { turn: { leave: true } },
    );
    if (left !== true) return;
    const note = { key: `left:${key}`, lane: 'input', by, type: 'task_control' } as const;
    await this.#note(session, { ...note, data: { command: 'leave', ...data } });
  }

  /**
   * Lets a task wait until it is resumed. A running one ends its round first.
   * @throws TaskNotFoundError, TaskEndedError
   */
  suspend(id: string, options: TaskControlOptions = {}): Promise<void> {
    return this.#control(id, options, { command: 'suspend' }, { turn: { suspended: true } });
  }

  /** @throws TaskNotFoundError, TaskEndedError */
  resume(id: string, options: TaskControlOptions = {}): Promise<void> {
    return this.#control(id, options, { command: 'resume' }, { turn: { suspended: false } });
  }

  /** @throws InvalidTaskError, TaskNotFoundError, TaskEndedError */
  async reprioritize(
    id: string,
    priority: TaskPriority,
    options: TaskControlOptions = {},
  ): Promise<void> {
    const wrong = isOneOf(...taskPriorities)(priority);
    if (wrong !== undefined)
      throw new InvalidTaskError({
        refused: 'The priority cannot be changed',
        reason: `it must be ${wrong}, not ${describeValue(priority)}`,
      });
    const turn = { level: levelOf(priority) };
    await this.#control(id, options, { command: 'reprioritize', priority }, { turn });
  }

  /**
   * Puts a task before all others that wait, but for realtime ones.
   * @throws TaskNotFoundError, TaskEndedError
   */
  moveToFront(id: string, options: TaskControlOptions = {}): Promise<void> {
    return this.#control(id, options, { command: 'move_to_front' }, { turn: { toFront: true } });
  }

  /**
   * Executes a task again that has failed, was cancelled or passed its deadline. Completed
   * work stays. Two operators who ask for it ask for one execution.
   * @throws InvalidTaskError when it completed or has not ended; TaskNotFoundError
   */
  async retry(id: string, options: TaskControlOptions = {}): Promise<void> {
    const { by = 'operator', reason } = checkedControl(options);
    const row = await this.#row(id);
    const refused = 'The task cannot be executed again';
    if (row.status === 'open' || row.status === 'completed')
      throw new InvalidTaskError({
        refused,
        reason: row.status === 'open' ? 'it has not ended' : 'it has completed',
      });
    const { item, change } = retryPost(row, by, reason);
    await this.#post(row.session, item, change);
    this.#parts.queued(row.session, change.turn?.level);
  }

  /**
   * Takes an ended task out of the list. Its session stays.
   * @throws InvalidTaskError when it has not ended; TaskNotFoundError
   */
  async discard(id: string): Promise<void> {
    const { session, ...row } = await this.#row(id);
    if (row.status === 'open')
      throw new InvalidTaskError({
        refused: 'The task cannot be discarded',
        reason: 'it has not ended; cancel it first',
      });
    const rows = [{ ...row, removed: true }];
    const item = {
      key: `discard:${id}`,
      lane: 'input',
      by: 'operator',
      type: 'task_control',
      data: { command: 'discard', runId: id },
    } as const;
    await this.#post(session, item, { wakes: false, rows });
  }

  async #control(
    id: string,
    options: TaskControlOptions,
    command: { readonly command: string; readonly priority?: string },
    change: PostOptions,
  ): Promise<void> {
    const { by = 'operator', reason } = checkedControl(options);
    const row = await this.#openRow(id);
    await this.#post(
      row.session,
      {
        key: `task_control:${id}:${this.#parts.ids.next()}`,
        lane: 'input',
        by,
        type: 'task_control',
        data: { ...command, runId: id, ...(reason === undefined ? {} : { reason }) },
      },
      // It informs: the place in the queue changes with this post, and nobody needs to wake.
      { ...change, wakes: false },
    );
    this.#parts.queued(row.session, change.turn?.level);
  }

  async #openRow(id: string): Promise<StoredRow> {
    const row = await this.#row(id);
    if (row.status !== 'open') throw new TaskEndedError({ task: id, state: row.status });
    return row;
  }

  async #post(
    session: string,
    item: Omit<InboxItem, 'at'>,
    options: PostOptions,
  ): Promise<PostReceipt> {
    const { clock, ledgers, posted } = this.#parts;
    const receipt = await ledgers().post(session, { ...item, at: clock.now() }, options);
    posted(session);
    return receipt;
  }
}

/** Status of the row of a task in a state. */
function statusOf(state: TaskState): string {
  return openTaskStates.includes(state) ? 'open' : state;
}
