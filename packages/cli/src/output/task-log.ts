import type { Event, Operation, RunOperation } from 'adjutant';
import { formatDuration } from './format.ts';
import { plainLine } from './plain-text.ts';

/** Beginning or end of the work on a run, as a worker tells it. */
export interface TaskReport {
  readonly type: 'begins' | 'continues' | 'ended' | 'released';
  /** Id of the task and its run. */
  readonly task: string;
  readonly session: string;
  readonly agent: string;
  /** Name of the task. Missing for one that began in another process, and for other runs. */
  readonly name?: string;
  readonly priority?: string;
  /** State in which it ended. */
  readonly state?: string;
  readonly error?: string;
  /** Milliseconds of the work in this process. */
  readonly durationMs?: number;
}

/** Tells of the runs that this process works on. For `app.streams.observe`. */
export function taskLog(
  tell: (report: TaskReport) => void,
): <Result>(operation: Operation, work: () => Result) => Result {
  return (operation, work) => {
    if (operation.type !== 'run') return work();
    const told = new ToldTask(operation, tell);
    operation.listen((event) => told.hear(event));
    const result = work();
    if (result instanceof Promise) void result.then(told.rests, told.rests);
    return result;
  };
}

/** One line about a task. */
export function taskReportLine({ type, task, agent, name, ...rest }: TaskReport): string {
  const { durationMs, error, priority, state } = rest;
  const who = `${plainLine(name ?? agent)} (${plainLine(task)})`;
  if (type === 'begins') return `begins     ${who}${priority === undefined ? '' : ` ${priority}`}`;
  if (type === 'continues') return `continues  ${who}`;
  if (type === 'released') return `released   ${who}`;
  const why = error === undefined ? '' : `: ${plainLine(error)}`;
  return `${state ?? 'ended'}  ${who}${why} after ${formatDuration(durationMs ?? 0)}`;
}

class ToldTask {
  readonly #operation: RunOperation;
  readonly #tell: (report: TaskReport) => void;
  #begunAt: number | undefined;
  #task: { readonly name?: string; readonly priority?: string } = {};
  #isOver = false;

  constructor(operation: RunOperation, tell: (report: TaskReport) => void) {
    this.#operation = operation;
    this.#tell = tell;
    if (operation.continued) this.#report({ type: 'continues' });
  }

  hear(event: Event): void {
    this.#begunAt ??= event.at;
    const { runId } = this.#operation;
    if (event.type === 'decision' && event.component === 'scheduler') {
      const { id, name, priority } = (event.data ?? {}) as Readonly<Record<string, unknown>>;
      if (event.decision !== 'enqueue' || id !== runId) return;
      this.#task = { name: String(name), priority: String(priority) };
    } else if (event.type === 'invocation_start' && event.invocationId === runId)
      this.#report({ type: 'begins' });
    else if (event.type === 'invocation_end' && event.next === undefined) this.#ends(event);
  }

  #ends(event: Extract<Event, { type: 'invocation_end' }>): void {
    const { runId } = this.#operation;
    const isRoot =
      event.invocationId.split('>', 1)[0] === runId && !event.invocationId.includes('/');
    if (!isRoot || this.#isOver) return;
    this.#isOver = true;
    const durationMs = event.at - (this.#begunAt ?? event.at);
    const error = event.error?.message;
    this.#report({
      type: 'ended',
      state: event.status,
      durationMs,
      ...(error === undefined ? {} : { error }),
    });
  }

  /** Tells of work that stops before the run has ended: it waits, or another process goes on. */
  readonly rests = (): void => {
    if (!this.#isOver) this.#report({ type: 'released' });
  };

  #report(report: Pick<TaskReport, 'type' | 'state' | 'error' | 'durationMs'>): void {
    const { name: agent, runId, session } = this.#operation;
    this.#tell({ ...report, task: runId, session, agent, ...this.#task });
  }
}
