import { checkOptions } from '../../../base/invalid-option.ts';
import { isCountOrNone, isFlag, isNotNegative, isOneOf } from '../../../base/options.ts';
import { type TaskPriority, taskPriorities } from '../../priority.ts';
import { durationInWords } from './phrases.ts';

/** The queue at the moment in which a task is submitted. */
export interface BackPressure {
  /** Number of tasks that wait for their turn before it. */
  readonly queued: number;
  /** Priority of the submitted task. */
  readonly priority: TaskPriority;
  /** True when the task is refused because there are too many. @default false */
  readonly isFull?: boolean;
  /** Milliseconds after which to submit it again, when it is refused. */
  readonly retryAfterMs?: number;
  /** Milliseconds until it is done, when it is accepted. */
  readonly estimateMs?: number;
  /** Number of tasks before it from which on the queue is worth a word. @default 3 */
  readonly deepFrom?: number;
}

const busy = "I'm working on several things right now";

/**
 * Returns the sentence with which a submitted task is answered: one about a queue that is full or
 * deep, and `undefined` for one that is neither.
 * @throws InvalidOptionError
 */
export function backPressure(state: BackPressure): string | undefined {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...state, queued: state?.queued ?? null, priority: state?.priority ?? null };
  checkOptions('backPressure', given, {
    queued: isCountOrNone,
    priority: isOneOf(...taskPriorities),
    isFull: isFlag,
    retryAfterMs: isNotNegative,
    estimateMs: isNotNegative,
    deepFrom: isCountOrNone,
  });
  const { queued, priority, isFull = false, retryAfterMs, estimateMs, deepFrom = 3 } = state;
  if (isFull)
    return `${busy} and can't take on more. Please ask again in ${roughly(retryAfterMs)}.`;
  if (queued < deepFrom) return undefined;
  const isPatient = priority === 'low' || priority === 'background';
  if (isPatient && estimateMs === undefined) return `${busy}. I'll do this when I'm free.`;
  return `${busy}. This will take ${roughly(estimateMs)}.`;
}

function roughly(milliseconds: number | undefined): string {
  return milliseconds === undefined ? 'a few minutes' : durationInWords(milliseconds);
}
