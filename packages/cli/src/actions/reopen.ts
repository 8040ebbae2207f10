import { defined } from 'adjutant/text';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { jsonLine } from '../output/json-output.ts';
import { inLane } from '../output/lane-text.ts';
import { plainLine } from '../output/plain-text.ts';

export interface ReopenCommandOptions extends ProjectFlags, ServerFlags {
  readonly reason: string;
  readonly path?: string;
  readonly lane?: string;
  readonly json?: boolean;
}

/** `adjutant reopen <session>`: opens a failed or cancelled run again. */
export async function reopenSession(
  host: Host,
  session: string,
  { reason, path, lane, json, ...options }: ReopenCommandOptions,
): Promise<number> {
  const access = await openAccess(host, options);
  await access.reopen(session, { reason, ...defined({ path, lane }) });
  const text = plainLine(`The run of session "${session}"${inLane(lane)} is open again.`);
  host.stdout.write(json ? jsonLine({ type: 'reopen', session, status: 'reopened' }) : `${text}\n`);
  return exitCodes.ok;
}
