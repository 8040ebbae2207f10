import { checkOptions } from '../../base/invalid-option.ts';
import { isFlag, isList, isOneOf } from '../../base/options.ts';
import { openTaskStates, type TaskInfo, type TaskState } from '../task-info.ts';
import { english } from './english/english.ts';
import type { JobTarget, TargetedKind } from './job-command.ts';
import type { JobLanguage } from './job-language.ts';
import { TaskNames } from './task-names.ts';

/** Tasks that a target means. */
export type ResolvedTarget =
  | { readonly kind: 'one'; readonly task: TaskInfo }
  /** The target was `all`. */
  | { readonly kind: 'several'; readonly tasks: readonly TaskInfo[] }
  /** More than one task fits as well as the other. Ask which. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly TaskInfo[] }
  | { readonly kind: 'none' };

/** Knowledge with which a target is resolved. */
export interface ResolveTargetOptions {
  /**
   * Kind of the command. With it only tasks count to which the command can be applied: only a
   * suspended task is resumed.
   */
  readonly for?: TargetedKind;
  /** True when a name must be the whole name of the task. @default false */
  readonly wholeName?: boolean;
  /** Languages of names. @default English */
  readonly languages?: readonly JobLanguage[];
}

const applicable: Readonly<Record<TargetedKind, readonly TaskState[] | undefined>> = {
  cancel: openTaskStates,
  suspend: ['queued', 'running', 'waiting'],
  resume: ['suspended'],
  reprioritize: openTaskStates,
  progress: undefined,
};

/**
 * Returns the tasks that a target of `parseJobCommand` means.
 *
 * @param tasks in the order of the list that the user has seen; numbers count in it
 * @throws InvalidOptionError
 */
export function resolveTarget(
  target: JobTarget,
  tasks: readonly TaskInfo[],
  options: ResolveTargetOptions = {},
): ResolvedTarget {
  checkOptions('resolveTarget', options, {
    for: isOneOf(...Object.keys(applicable)),
    wholeName: isFlag,
    languages: isList,
  });
  const { languages = [english], wholeName } = options;
  return resolveAmong(target, new TaskNames(tasks, languages), options.for, wholeName);
}

/** The same among tasks whose names may have been read before. */
export function resolveAmong(
  target: JobTarget,
  names: TaskNames,
  kind?: TargetedKind,
  isWholeName = false,
): ResolvedTarget {
  const { tasks } = names;
  const states = kind && applicable[kind];
  const fits = ({ state }: TaskInfo) => states === undefined || states.includes(state);
  if (target.kind === 'named') return choice(names.find(target.words, fits, isWholeName));
  if (target.kind === 'number')
    return choice([tasks[target.number - 1]].filter(exists).filter(fits));
  const left = tasks.filter((task) => openTaskStates.includes(task.state) && fits(task));
  if (target.kind === 'all') return left.length === 0 ? none : { kind: 'several', tasks: left };
  return target.kind === 'last' ? newest(left) : current(left, kind);
}

const none = { kind: 'none' } as const;

function exists(task: TaskInfo | undefined): task is TaskInfo {
  return task !== undefined;
}

function choice(candidates: readonly TaskInfo[]): ResolvedTarget {
  const [task, second] = candidates;
  if (task === undefined) return none;
  return second === undefined ? { kind: 'one', task } : { kind: 'ambiguous', candidates };
}

/** Returns the task that was submitted last; of two at the same instant the later in the list. */
function newest(tasks: readonly TaskInfo[]): ResolvedTarget {
  const [first, ...others] = tasks;
  if (first === undefined) return none;
  const later = (a: TaskInfo, b: TaskInfo) => (b.submittedAt >= a.submittedAt ? b : a);
  return { kind: 'one', task: others.reduce(later, first) };
}

/**
 * "That" is the running task, else the last one submitted. What is to go first is a task that
 * waits, if there is one. Among several that run, or that are suspended, the user has to choose.
 */
function current(tasks: readonly TaskInfo[], kind: TargetedKind | undefined): ResolvedTarget {
  if (kind === 'resume') return choice(tasks);
  const running = tasks.filter(({ state }) => state === 'running');
  const others = tasks.filter(({ state }) => state !== 'running');
  if (kind === 'reprioritize' && others.length > 0) return newest(others);
  return running.length > 0 ? choice(running) : newest(others);
}
