import { findJsonDefect } from '../../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  isOneOf,
  isText,
  type OptionChecks,
} from '../../../base/options.ts';
import { isLane } from '../../../ledger/folds/lanes.ts';
import { taskPriorities } from '../../../ledger/folds/task-level.ts';
import type { RunBeside, SimulatedProgram, SimulatedTask } from '../simulated-program.ts';
import { checkRun, refuse } from './check-app.ts';

const checks: OptionChecks<SimulatedProgram> = {
  run: isNonEmptyText,
  input: isText,
  data: isObject,
  user: isNonEmptyText,
  answer: isFunction,
  repair: isFunction,
  beside: isGroup<RunBeside>({ lane: isLane, run: isNonEmptyText, input: isText }),
  task: isGroup<SimulatedTask>({
    priority: isOneOf(...taskPriorities),
    concurrencyKey: isNonEmptyText,
  }),
};
/** Most programs of a seed. */
const mostPrograms = 1_000;
/** @throws InvalidOptionError for programs that the app cannot run */
export function checkPrograms(programs: unknown, names: readonly string[]): void {
  if (programs instanceof Promise)
    refuse('`programs` must return a list of programs, not a promise of one');
  if (!Array.isArray(programs) || programs.length === 0)
    refuse(`\`programs\` must be a list of at least one program, not ${describeValue(programs)}`);
  const { length } = programs as readonly unknown[];
  if (length > mostPrograms)
    refuse(`\`programs\` must be a list of at most ${mostPrograms} programs, not of ${length}`);
  for (const [index, program] of programs.entries()) checkProgram(program, index, names);
}

function checkProgram(program: unknown, index: number, names: readonly string[]): void {
  const place = `programs[${index}]`;
  const invalid = findInvalidOption<SimulatedProgram>(program, checks);
  if (invalid !== undefined) refuse(`\`${place}\` must be ${invalid.within}`);
  const { beside, data, input, run, task, user } = program as SimulatedProgram;
  if (run === undefined) refuse(`\`${place}\` must have the name of a runnable in \`run\``);
  const defect = data === undefined ? undefined : findJsonDefect(data, `${place}.data`);
  if (defect !== undefined) {
    const found = defect.found === 'function' ? 'a function' : defect.found;
    refuse(`\`${place}\` must have JSON in \`data\`, but \`${defect.path}\` is ${found}`);
  }
  checkRun({ run, index, names, app: 'the app' });
  if (task !== undefined && input === undefined && data === undefined)
    refuse(`\`${place}\` must have an \`input\` or \`data\` for its \`task\``);
  if (task !== undefined && (beside !== undefined || user !== undefined))
    refuse(`\`${place}\` must have no \`beside\` and no \`user\`, because it has a \`task\``);
  if (beside === undefined) return;
  if (beside.lane === undefined || beside.run === undefined)
    refuse(`\`${place}.beside\` must have the name of a lane, and that of a runnable in \`run\``);
  checkRun({ run: beside.run, index, names, app: 'the app' });
}
