import { checkOptions } from '../../../base/invalid-option.ts';
import { isCount, isNumber, isObject, isOneOf } from '../../../base/options.ts';

/** The way in which tasks are put into words. */
export interface TaskWording {
  /** Instant at which it is said, in epoch milliseconds. */
  readonly now: number;
  /** `spoken`: one or two short sentences. `text`: with details, a line for each task. */
  readonly format: 'spoken' | 'text';
  /** Place in line of a queued task by its id: 1 is next. */
  readonly positions?: ReadonlyMap<string, number>;
  /** Milliseconds until a task is done, by its id. */
  readonly estimates?: ReadonlyMap<string, number>;
  /** Most tasks that are named. @default 20 in text, 2 when spoken */
  readonly most?: number;
}

/** @throws InvalidOptionError */
export function checkWording(name: string, wording: TaskWording): void {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...wording, now: wording?.now ?? null, format: wording?.format ?? null };
  checkOptions(name, given, {
    now: isNumber,
    format: isOneOf('spoken', 'text'),
    positions: isObject,
    estimates: isObject,
    most: isCount,
  });
}
