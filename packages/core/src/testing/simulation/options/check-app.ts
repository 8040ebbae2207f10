import { InvalidOptionError } from '../../../base/invalid-option.ts';
import { nearestName } from '../../../base/nearest-name.ts';
import { describeValue, findInvalidOption, isObject } from '../../../base/options.ts';
import { type RuntimeOptions, runtimeChecks } from '../../../engine/app/runtime-options.ts';
import { Runtime } from '../../../runtime.ts';
import { memoryStore } from '../../../stores/memory.ts';

/** Options that an app of a simulation may have: the others are given by the simulation. */
const { store, ports, recover, tenants, ...appChecks } = runtimeChecks;
const refused = Object.keys({ store, ports, recover, tenants });

/** @throws InvalidOptionError */
export function refuse(reason: string): never {
  throw new InvalidOptionError({ function: 'simulate', reason });
}

/** True for an error of these checks, and false for one of the app. */
export function isRefusal(error: unknown): boolean {
  return error instanceof InvalidOptionError && error.data['function'] === 'simulate';
}

/** @throws InvalidOptionError when `makeApp` has not made the options of an app */
export function checkAppOptions(options: unknown): void {
  if (options instanceof Promise)
    refuse('`makeApp` must return the options of an app, not a promise of them');
  if (isObject(options) !== undefined)
    refuse(`\`makeApp\` must return the options of an app, not ${describeValue(options)}`);
  const members = options as Record<string, unknown>;
  const taken = refused.find((name) => members[name] !== undefined);
  if (taken === 'tenants')
    refuse('`makeApp` must not give `tenants`: an app of a simulation has one, its `tenant`');
  if (taken !== undefined)
    refuse(`\`makeApp\` must not give \`${taken}\`, which the simulation gives`);
  const invalid = findInvalidOption(members, appChecks);
  if (invalid !== undefined) refuse(`\`makeApp\` must return ${invalid.within}`);
}

/**
 * The names of all runnables of an app.
 * @throws InvalidOptionError when these are no options of an app
 */
export async function runnableNames(options: RuntimeOptions): Promise<readonly string[]> {
  checkAppOptions(options);
  const app = new Runtime({ ...options, store: memoryStore(), recover: 'manual' });
  const names = namesOf(app);
  await app.close();
  return names;
}

function namesOf({ runnables }: Runtime): readonly string[] {
  return runnables.map(({ name }) => name);
}

/** The name of the app in its first version, and the programs that all versions must run. */
export interface FirstVersion {
  readonly app: string;
  readonly programs: readonly { readonly run: string }[];
}

/** @throws InvalidOptionError for a version that cannot go on with the work of version 1 */
export function checkVersion(
  app: Runtime,
  { app: name, version }: { readonly app: string; readonly version: number },
  first: FirstVersion,
): void {
  if (name !== first.app)
    refuse(
      '`makeApp` must give all versions of the app one name, because sessions belong to it: ' +
        `version 1 is "${first.app}", and version ${version} is "${name}"`,
    );
  for (const [index, { run }] of first.programs.entries())
    checkRun({ run, index, names: namesOf(app), app: `version ${version} of the app` });
}

interface NamedRun {
  readonly run: string;
  readonly index: number;
  readonly names: readonly string[];
  readonly app: string;
}

/** @throws InvalidOptionError for a run of which the app has no runnable */
export function checkRun({ app, index, names, run }: NamedRun): void {
  if (names.includes(run)) return;
  const nearest = nearestName(run, names);
  const hint = nearest === undefined ? `it has ${names.join(', ')}` : `did you mean "${nearest}"?`;
  refuse(`\`programs[${index}]\` runs "${run}", which ${app} does not have (${hint})`);
}
