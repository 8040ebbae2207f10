import type { AdmissionLimits } from '../../ledger/port.ts';
import { type TaskPriority, taskPriorities } from './priority.ts';
import type { TaskDeadline } from './submit-options.ts';

/** Numbers of tasks that may wait in a queue. */
export interface AdmissionOptions {
  readonly priorities?: Readonly<Partial<Record<TaskPriority, number>>>;
  readonly total?: number;
  /** Of one tenant, and of one requester of it. */
  readonly tenant?: number;
  readonly requester?: number;
}

/** Settings of tasks that say nothing of their own. */
export interface WorkDefaults {
  readonly admission: AdmissionLimits | undefined;
  readonly deadlines: Readonly<Partial<Record<TaskPriority, TaskDeadline>>>;
  readonly maxRounds: number | undefined;
  readonly slots: number | undefined;
  /** Later executions of failed tasks in the background. */
  readonly requeue: { readonly afterMs: number; readonly untilMs: number } | undefined;
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
    realtime: { softMs: 150, hardMs: 3 * seconds },
    high: { softMs: 30 * seconds, hardMs: 2 * minutes },
    normal: { softMs: 5 * minutes, hardMs: 15 * minutes },
    low: { softMs: 30 * minutes, hardMs: hours },
    background: { softMs: 24 * hours, hardMs: 48 * hours },
  },
  maxRounds: 5,
  slots: 1,
  requeue: { afterMs: 6 * hours, untilMs: 48 * hours },
} as const;

/** The settings of a profile, with the limits that the app sets itself. */
export function workDefaults(
  profile: 'assistant' | undefined,
  admission: AdmissionOptions | undefined,
): WorkDefaults {
  const own = profile === 'assistant' ? assistant : undefined;
  return {
    admission: limitsOf({
      ...(own === undefined ? {} : { priorities: own.priorities, total: own.total }),
      ...admission,
    }),
    deadlines: own?.deadlines ?? {},
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
