import { namedSession } from '../app/named-session.ts';
import { openExisting, type ProjectFlags, withProject } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { plainLine } from '../output/plain-text.ts';

export interface DeleteCommandOptions extends ProjectFlags {
  /** True when forks of the session, and everything that they share, are deleted too. */
  readonly withForks?: boolean;
}

/** `adjutant delete <session>`: removes a session for good. */
export async function deleteSession(
  host: Host,
  named: string,
  options: DeleteCommandOptions,
): Promise<number> {
  return withProject(openExisting(host, options), async (project) => {
    const { app } = project;
    const id = await namedSession(project, named);
    await (options.withForks === true ? app.sessions.erase(id) : app.sessions.delete(id));
    host.stdout.write(
      `Session ${plainLine(id)} is ` +
        `deleted${options.withForks === true ? ', with its forks' : ''}.\n`,
    );
    return exitCodes.ok;
  });
}
