import { defined } from 'adjutant/text';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { jsonLine } from '../output/json-output.ts';

export interface CancelOptions extends ProjectFlags, ServerFlags {
  readonly reason?: string;
  readonly lane?: string;
  readonly json?: boolean;
}

/** `adjutant cancel <session>`: ends the open run of a session, in any process. */
export async function cancelSession(
  host: Host,
  session: string,
  { reason, lane, json, ...options }: CancelOptions,
): Promise<number> {
  const access = await openAccess(host, options);
  const { status, text } = await access.cancel(session, defined({ reason, lane }));
  host.stdout.write(json ? jsonLine({ type: 'cancel', session, status }) : `${text}\n`);
  return exitCodes.ok;
}
