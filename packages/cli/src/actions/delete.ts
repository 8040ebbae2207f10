import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';

export interface DeleteCommandOptions extends ProjectFlags, ServerFlags {
  /** True when forks of the session, and everything that they share, are deleted too. */
  readonly withForks?: boolean;
  readonly json?: boolean;
}

/** `adjutant delete <session>`: removes a session for good. */
export async function deleteSession(
  host: Host,
  named: string,
  { withForks = false, json = false, ...options }: DeleteCommandOptions,
): Promise<number> {
  const access = await openAccess(host, options);
  const session = await access.delete(named, withForks);
  const forks = withForks ? ', with its forks' : '';
  host.stdout.write(
    json
      ? jsonLine({ type: 'delete', session, withForks })
      : `Session ${plainLine(session)} is deleted${forks}.\n`,
  );
  return exitCodes.ok;
}
