import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import {
  endedStatus,
  endingAction,
  executionsOf,
  resultAtDeadline,
  type TaskData,
  type TaskFacts,
  type TaskStatus,
  taskInItem,
  taskRow,
} from '../../ledger/folds/task.ts';
import { belongsTo, isRootOf } from '../../ledger/path.ts';
import type { InboxEntry, ListedRow, RebuiltTurn } from '../../ledger/port.ts';
import { levelOf, type TaskPriority } from '../tasks/priority.ts';
import { DeadlineFold } from './deadline-fold.ts';

const backgroundLevel = 4;

/** Level and deadlines of a submission that was joined to this task. */
interface Joined {
  readonly level?: number;
  readonly softMs?: number;
  readonly hardMs?: number;
}

/** The events up to the one that is looked at. */
type UpTo = () => readonly Event[];

/** Types of events that show that a run which rested goes on. */
const wakes: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'invocation_start',
  'invocation_resume',
  'invocation_reopen',
  'model_start',
  'tool_attempt',
  'tool_input',
  'user',
  'cancel',
]);

/** The row and the turn of one task, as its ledger and its inbox say. */
export class TaskFold {
  readonly task: TaskData;
  #runnable: string;
  #status: TaskStatus | 'discarded' = 'open';
  #facts: Omit<TaskFacts, 'task' | 'runnable'> = {};
  #hasBegun = false;
  /** True from the plan of another execution to its begin. */
  #isRetried = false;
  /** True from the end of the run on, unless it is executed again. */
  #hasEnded = false;
  #level: number;
  #since: number;
  /** Missing: it is at work, or could be. */
  #rests: RebuiltTurn['rests'];
  #isSuspended = false;
  #isFront = false;
  /** False for one that has got the turn of another one of its session. */
  readonly #isJoinable: boolean;
  #interests = 1;
  #attempts = 1;
  #controlAt: number | undefined;
  readonly #deadlines: DeadlineFold;

  /** @param after end of the task of its session that was before it */
  constructor(task: TaskData, runnable: string, after = 0) {
    this.task = task;
    this.#runnable = runnable;
    this.#level = levelOf(task.priority as TaskPriority);
    const { hardMs, notBefore = 0, softMs, submittedAt } = task;
    this.#since = Math.max(submittedAt, after);
    this.#isJoinable = after <= submittedAt;
    if (notBefore > submittedAt) this.#rests = notBefore;
    this.#deadlines = new DeadlineFold({ softMs, hardMs }, this.#rests === undefined);
    this.#deadlines.markAt(submittedAt);
  }

  /** Applies the events of the ledger, in their order. */
  addAll(events: readonly Event[]): void {
    for (const [i, event] of events.entries()) this.#add(event, () => events.slice(0, i + 1));
  }

  #add(event: Event, upTo: UpTo): void {
    if (wakes.has(event.type)) this.#wokenBy(event);
    if (!isRootOf(event.invocationId ?? '', this.task.id)) return;
    if (event.type === 'invocation_start') this.#begin(event);
    if (event.type === 'invocation_yield') this.#rest(event.at, 'until_wake');
    if (event.type === 'invocation_end' && event.next === undefined) this.#end(event, upTo);
    if (event.type === 'decision') this.#decide(event, upTo);
  }

  #begin({ at, name }: EventOf<'invocation_start'>): void {
    if (!this.#hasBegun) this.#facts = { startedAt: at };
    if (!this.#hasBegun) this.#runnable = name;
    this.#hasBegun = true;
  }

  #end({ at, error, output, status }: EventOf<'invocation_end'>, upTo: UpTo): void {
    const { id } = this.task;
    const events = upTo();
    const ended = this.#factsAt(events, executionsOf(events, id));
    const result = output ?? resultAtDeadline(events, this.task);
    this.#status = endedStatus(status, endingAction(events, id) !== undefined);
    this.#facts = { ...ended, completedAt: at, error, result };
    this.#hasEnded = true;
  }

  #factsAt(events: readonly Event[], attempts: number): Omit<TaskFacts, 'task' | 'runnable'> {
    const rounds = events.filter(
      (event) =>
        event.type === 'model_end' &&
        event.status === 'completed' &&
        belongsTo(event.invocationId ?? '', this.task.id),
    ).length;
    return { startedAt: this.#facts.startedAt, rounds, attempts };
  }

  #decide(event: EventOf<'decision'>, upTo: UpTo): void {
    if (isDecision(event, 'scheduler', 'retry')) this.#retry(event);
    else if (isDecision(event, 'scheduler', 'hard_deadline')) {
      const { data } = event;
      if (data?.attempt !== undefined)
        this.#goOnLater(event, { ...data, attempt: data.attempt }, upTo);
    } else if (isDecision(event, 'scheduler', 'preempt'))
      this.#since = event.data?.since ?? this.#since;
    else if (isDecision(event, 'scheduler', 'reprioritize'))
      this.#level = levelOf((event.data?.priority ?? '') as TaskPriority);
    else if (isDecision(event, 'scheduler', 'suspend')) this.#isSuspended = true;
    else if (isDecision(event, 'scheduler', 'resume')) this.#isSuspended = false;
    else if (isDecision(event, 'scheduler', 'coalesce'))
      this.#join(event.data ?? {}, event.data?.at ?? event.at);
    else if (isDecision(event, 'scheduler', 'leave')) this.#interests -= 1;
    else if (isDecision(event, 'scheduler', 'discard')) this.#status = 'discarded';
  }

  /** Stands for another submission too: at the better level and the earlier deadlines. */
  #join({ hardMs, level = 1, softMs }: Joined, at: number): void {
    this.#interests += 1;
    this.#level = Math.min(this.#level, level);
    this.#deadlines.join({ softMs, hardMs }, at);
  }

  /** Of the runtime it lands with the end of a run, of a person some time after it. */
  #retry({ at, by, data }: EventOf<'decision'>): void {
    if (by !== 'runtime') {
      this.#again(at);
      return;
    }
    const { attempt, notBefore, priority } = data as {
      readonly attempt: number;
      readonly notBefore: number;
      readonly priority?: string;
    };
    const { completedAt: _, result: __, ...facts } = this.#facts;
    this.#facts = { ...facts, attempts: attempt };
    this.#status = 'open';
    this.#hasEnded = false;
    this.#isRetried = true;
    this.#attempts = attempt;
    if (priority !== undefined) this.#level = backgroundLevel;
    this.#rest(at, notBefore);
  }

  /** Another execution that a person asks for has a turn of its own, without deadlines. */
  #again(at: number): void {
    const { completedAt: _, error: __, result: ___, ...facts } = this.#facts;
    this.#facts = facts;
    this.#status = 'open';
    this.#hasEnded = false;
    this.#level = levelOf(this.task.priority as TaskPriority);
    this.#attempts = 1;
    this.#interests = 1;
    this.#isSuspended = false;
    this.#deadlines.set({});
    this.#rests = undefined;
    this.#since = at;
  }

  #goOnLater(
    { at }: EventOf<'decision'>,
    data: { readonly action: string; readonly attempt: number; readonly notBefore?: number },
    upTo: UpTo,
  ): void {
    const { action, attempt, notBefore = at } = data;
    this.#attempts = attempt;
    if (action === 'retry_when_idle') this.#level = backgroundLevel;
    if (this.#hasBegun) this.#facts = this.#factsAt(upTo(), attempt);
    this.#deadlines.set({ softMs: this.task.softMs, hardMs: this.task.hardMs });
    this.#deadlines.markAt(at);
    this.#rest(at, notBefore);
  }

  #rest(at: number, until: RebuiltTurn['rests']): void {
    this.#deadlines.pause(at);
    this.#rests = until;
  }

  #wokenBy(event: Event): void {
    if (event.invocationId === this.task.id) this.#isRetried = false;
    if (this.#rests === undefined || this.#hasEnded) return;
    const { at } = event;
    const posted = event.type === 'tool_input' ? (event.answeredAt ?? at) : at;
    this.#wake(typeof this.#rests === 'number' ? Math.min(this.#rests, posted) : posted);
  }

  #wake(at: number): void {
    this.#rests = undefined;
    this.#since = at;
    this.#deadlines.run(at);
  }

  /**
   * Place among the tasks of a session, of which the first has its turn: one that has begun, else
   * those that wait, else those that are executed again.
   */
  get order(): number {
    if (this.#isRetried) return 2;
    return this.#hasBegun ? 0 : 1;
  }

  /** Applies an item that nobody has drained, with the change that its post has made. */
  post(item: InboxEntry): void {
    const { at, data, type } = item;
    const isOwn = data['runId'] === this.task.id;
    // These inform: the place in the queue has changed with their post, and nothing wakes.
    if (type === 'task_control' && data['command'] !== 'retry') {
      this.#control(data, at, isOwn);
      return;
    }
    if (type === 'dead_letter') return;
    const task = type === 'user' ? taskInItem(data) : undefined;
    if (task !== undefined && !isOwn) {
      // Another task of the session betters the level of the turn, and waits behind it.
      this.#level = Math.min(this.#level, levelOf(task.priority as TaskPriority));
      return;
    }
    if (this.#hasEnded && type === 'task_control' && isOwn) this.#again(at);
    // The item that starts it wakes nothing.
    if (this.#hasEnded || (type === 'user' && isOwn && !this.#hasBegun)) return;
    if (item.lane === 'control') this.#controlAt = Math.min(this.#controlAt ?? at, at);
    if (this.#rests !== undefined) this.#wake(at);
  }

  /** A change of the place in the queue is one of the session, whichever its task. */
  #control(data: JsonObject, at: number, isOwn: boolean): void {
    const { command, priority } = data;
    if (isOwn && command === 'discard') this.#status = 'discarded';
    if (this.#hasEnded) return;
    if (isOwn && command === 'join') this.#join(data as Joined, at);
    if (isOwn && command === 'leave') this.#interests -= 1;
    if (command === 'reprioritize') this.#level = levelOf(priority as TaskPriority);
    if (command === 'suspend' || command === 'resume') this.#isSuspended = command === 'suspend';
    if (command === 'move_to_front') this.#isFront = true;
  }

  /** Row of the list of tasks; `undefined` when it is not listed any more. */
  row(now: number): ListedRow | undefined {
    if (this.#status === 'discarded') return undefined;
    const facts = { task: this.task, runnable: this.#runnable, ...this.#facts };
    const row = taskRow(this.#status, facts);
    return row.expiresAt !== undefined && row.expiresAt <= now ? undefined : row;
  }

  /** `undefined` for a task that has ended. */
  turn(): RebuiltTurn | undefined {
    if (this.#hasEnded) return undefined;
    const { coalesceKey, estimateMs, id, key, queue, rate, requester } = this.task;
    return {
      queue,
      level: this.#level,
      requester,
      runnable: this.#runnable,
      run: id,
      since: this.#since,
      interests: this.#interests,
      attempts: this.#attempts,
      suspended: this.#isSuspended,
      holds: this.#hasBegun && key?.hold === 'task',
      toFront: this.#isFront,
      ...this.#deadlines.left(this.#since),
      ...defined({
        key,
        rate,
        estimateMs,
        rests: this.#rests,
        controlAt: this.#controlAt,
        // Taking it has cleared the key.
        coalesceKey: this.#hasBegun || !this.#isJoinable ? undefined : coalesceKey,
      }),
    };
  }
}
