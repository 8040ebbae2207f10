import type { AdmissionLimits } from '../../ledger/port.ts';
import type { TaskDeadline } from './deadline.ts';
import { type TaskPriority, taskPriorities } from './priority.ts';

/** Numbers of tasks that may wait in a queue. */
export interface AdmissionOptions {
  readonly priorities?: Readonly<Partial<Record<TaskPriority, number>>>;
  readonly total?: number;
  /** Of one tenant, and of one requester of it. */
  readonly tenant?: number;
  readonly requester?: number;
}

/** Deadlines of tasks by their priority. */
export type DeadlineTable = Readonly<Partial<Record<TaskPriority, TaskDeadline>>>;

/** Settings of tasks that say nothing of their own. */
export interface WorkDefaults {
  readonly admission: AdmissionLimits | undefined;
  readonly deadlines: DeadlineTable;
  readonly maxRounds: number | undefined;
  readonly slots: number | undefined;
  /** Later executions of failed tasks in the background. */
  readonly requeue: { readonly afterMs: number; readonly untilMs: number } | undefined;
}

/** Settings of an app for its tasks. */
export interface WorkSettings {
  readonly profile?: 'assistant';
  readonly admission?: AdmissionOptions;
  readonly deadlines?: DeadlineTable;
}

const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** Settings of a personal assistant: one thing at a time, and nothing waits for ever. */
const assistant = {
  // A realtime task has a place of its own, and waits for it at most until the next look.
  priorities: { realtime: 1, high: 3, normal: 5, low: 3, background: 5 },
  total: 16,
  deadlines: {
    realtime: {
      softMs: 150,
      hardMs: 3 * seconds,
      action: 'fallback',
      fallback: "I'm having trouble with that right now.",
    },
    high: { softMs: 30 * seconds, hardMs: 2 * minutes, action: 'partial' },
    normal: { softMs: 5 * minutes, hardMs: 15 * minutes, action: 'retry' },
    low: { softMs: 30 * minutes, hardMs: hours, action: 'retry_when_idle' },
    background: { softMs: 24 * hours, hardMs: 48 * hours, action: 'discard' },
  },
  maxRounds: 5,
  slots: 1,
  requeue: { afterMs: 6 * hours, untilMs: 48 * hours },
} as const;

/** The settings of a profile, with those that the app sets itself. */
export function workDefaults(work: WorkSettings = {}): WorkDefaults {
  const own = work.profile === 'assistant' ? assistant : undefined;
  return {
    admission: limitsOf({
      ...(own === undefined ? {} : { priorities: own.priorities, total: own.total }),
      ...work.admission,
    }),
    deadlines: { ...own?.deadlines, ...work.deadlines },
    maxRounds: own?.maxRounds,
    slots: own?.slots,
    requeue: own?.requeue,
  };
}

function limitsOf({ priorities, ...rest }: AdmissionOptions): AdmissionLimits | undefined {
  const levels = taskPriorities.map((priority) => priorities?.[priority] ?? null);
  const limits: AdmissionLimits = { ...rest, ...(priorities === undefined ? {} : { levels }) };
  return Object.keys(limits).length === 0 ? undefined : limits;
}
