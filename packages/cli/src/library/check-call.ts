import type { Runnable, Runtime } from 'adjutant';
import { InvalidOptionError } from 'adjutant/errors';
import { nearestName } from 'adjutant/text';
import { isRunnable } from '../app/agents.ts';
import type { CliOptions } from './options.ts';

type Problem = string | undefined;

const checks: Readonly<Record<keyof CliOptions, (value: unknown) => Problem>> = {
  app: (value) => (isApp(value) ? undefined : 'an app, made by runtime({ … })'),
  store: (value) => (isObject(value) ? undefined : "a store, such as sqlite('talk.db')"),
  session: (value) =>
    typeof value === 'string' && value.trim() !== '' ? undefined : 'the id of a session',
  plain: flag,
  ascii: flag,
};
const names = Object.keys(checks);

/**
 * Checks what `cli()` was called with, before anything is loaded or shown.
 * @throws InvalidOptionError
 */
export function checkCall(runnable: unknown, input: unknown, options: unknown): void {
  const problem =
    runnableProblem(runnable) ??
    inputProblem(input) ??
    optionsProblem(options) ??
    placeProblem(runnable as Runnable, options as CliOptions);
  if (problem !== undefined) throw new InvalidOptionError({ function: 'cli', reason: problem });
}

function runnableProblem(value: unknown): Problem {
  if (isRunnable(value)) return undefined;
  return (
    'its first argument must be an agent, a step, a sequence, a parallel or a loop, such as ' +
    `agent({ name: 'clerk', model }), not ${kindOf(value)}`
  );
}

function inputProblem(value: unknown): Problem {
  if (value === undefined) return undefined;
  if (typeof value !== 'string')
    return (
      `the input must be a text, not ${kindOf(value)}; options are the third argument: ` +
      'cli(clerk, undefined, { session })'
    );
  return value.trim() === '' ? 'the input is empty: leave it out to begin without one' : undefined;
}

function optionsProblem(options: unknown): Problem {
  if (!isObject(options)) return `the options must be an object, not ${kindOf(options)}`;
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = nearestName(unknown, names);
    const guess = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    return `there is no option "${unknown}"${guess}; there are ${names.join(', ')}`;
  }
  for (const [name, value] of Object.entries(options)) {
    const wanted = value === undefined ? undefined : checks[name as keyof CliOptions](value);
    if (wanted !== undefined) return `\`${name}\` must be ${wanted}, not ${kindOf(value)}`;
  }
  return undefined;
}

function placeProblem(runnable: Runnable, { app, store }: CliOptions): Problem {
  if (app === undefined) return undefined;
  if (store !== undefined)
    return '`store` is for an app of its own, and `app` has a store: leave one of them out';
  if (app.runnables.includes(runnable)) return undefined;
  return (
    `the app "${app.app}" does not have "${runnable.name}", which a stopped run needs to go on: ` +
    'register it with runtime({ runnables: [ … ] })'
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isApp(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { run, sessions, runnables } = value as Partial<Runtime>;
  return typeof run === 'function' && isObject(sessions) && Array.isArray(runnables);
}

function flag(value: unknown): Problem {
  return typeof value === 'boolean' ? undefined : 'true or false';
}

/** Kind of a value, without the value, which may be a secret. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return value === undefined ? 'undefined' : `a value of type ${typeof value}`;
}
