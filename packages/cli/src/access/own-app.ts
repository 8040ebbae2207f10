import type { Runtime } from 'adjutant';
import { isAdjutantError } from 'adjutant/errors';
import { openReader, ownerOf, type Project, withProject } from '../app/project.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { AccessOptions } from './app-access.ts';

/**
 * Works on the user's own app: what the command line's agent does not have.
 * @param what the things that belong to it, as the beginning of a sentence
 * @throws UsageError when there is none here
 */
export function withOwnApp<Result>(
  host: Host,
  options: AccessOptions,
  what: string,
  use: (project: Project) => Promise<Result>,
): Promise<Result> {
  return withProject(openReader(host, options), (project) => {
    if (project?.configured !== undefined) return use(project);
    throw new UsageError({
      reason:
        `${what} belong to an app of your own. Go to the folder with its adjutant.config.ts, or ` +
        'name that with --config, or a server with --server.',
    });
  });
}

/**
 * Returns a part of an app that an option gives it.
 * @param lacks end of the sentence about an app without it
 * @param option the option, as it is written
 * @throws UsageError when it has none
 */
export function partOf<Part>(
  project: Project,
  find: (app: Runtime) => Part,
  { lacks, option }: { readonly lacks: string; readonly option: string },
): Part {
  const { app } = project;
  // An app of an older package does not know the option at all.
  const found: Part | undefined = ifAny(() => find(app));
  if (found !== undefined) return found;
  throw new UsageError({
    reason:
      `The app "${app.app}" of ${ownerOf(project)} ${lacks}. Give \`runtime\` the option ` +
      `${option}.`,
  });
}

function ifAny<Found>(find: () => Found): Found | undefined {
  try {
    return find();
  } catch (error) {
    if (isAdjutantError(error, 'invalid_runtime')) return undefined;
    throw error;
  }
}
