import { InvalidOptionError } from '../../base/invalid-option.ts';
import { nearestName } from '../../base/nearest-name.ts';
import {
  describeValue,
  findInvalidOption,
  isFunction,
  isNonEmptyText,
  isObject,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { Runtime } from '../../runtime.ts';
import { memoryStore } from '../../stores/memory.ts';
import type { MakeApp } from './machine-room.ts';
import type { SimulatedProgram } from './people.ts';

const checks: OptionChecks<SimulatedProgram> = {
  run: isNonEmptyText,
  input: isText,
  data: isObject,
  user: isNonEmptyText,
  answer: isFunction,
};
/** Options of an app that the simulation gives. */
const given = ['store', 'ports', 'recover'];

function refuse(reason: string): never {
  throw new InvalidOptionError({ function: 'simulate', reason });
}

/**
 * The names of all runnables of an app, in the first version of its code.
 * @throws InvalidOptionError when `makeApp` makes no options of an app
 */
export async function runnableNames(makeApp: MakeApp): Promise<readonly string[]> {
  const options: unknown = makeApp({ version: 1 });
  if (options instanceof Promise)
    return refuse('`makeApp` must return the options of an app, not a promise of them');
  if (isObject(options) !== undefined)
    return refuse(`\`makeApp\` must return the options of an app, not ${describeValue(options)}`);
  const taken = given.find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (taken !== undefined)
    return refuse(`\`makeApp\` must not give \`${taken}\`, which the simulation gives`);
  const app = new Runtime({
    ...(options as ReturnType<MakeApp>),
    store: memoryStore(),
    recover: 'manual',
  });
  const names = app.runnables.map(({ name }) => name);
  await app.close();
  return names;
}

/** @throws InvalidOptionError for programs that the app cannot run */
export function checkPrograms(programs: unknown, names: readonly string[]): void {
  if (!Array.isArray(programs) || programs.length === 0)
    refuse(`\`programs\` must be a list of at least one program, not ${describeValue(programs)}`);
  for (const [index, program] of programs.entries()) checkProgram(program, index, names);
}

function checkProgram(program: unknown, index: number, names: readonly string[]): void {
  const place = `programs[${index}]`;
  const invalid = findInvalidOption<SimulatedProgram>(program, checks);
  if (invalid !== undefined) refuse(`\`${place}\` must be ${invalid.within}`);
  const { run } = program as SimulatedProgram;
  if (run === undefined) refuse(`\`${place}\` must have the name of a runnable in \`run\``);
  if (names.includes(run)) return;
  const nearest = nearestName(run, names);
  const hint = nearest === undefined ? `it has ${names.join(', ')}` : `did you mean "${nearest}"?`;
  refuse(`\`${place}\` runs "${run}", which the app does not have (${hint})`);
}
