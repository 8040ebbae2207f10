import type { RequestEntry } from 'adjutant';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { formatTime, shorten } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { sessionName } from '../output/session-name.ts';
import { styleFor } from '../output/style.ts';
import { tableLines } from '../output/table.ts';

export interface ApprovalsOptions extends ProjectFlags, ServerFlags {
  /** Name of the user whose sessions are listed. */
  readonly user?: string;
  readonly json?: boolean;
}

const longestSummary = 80;

/** `adjutant approvals`: lists all requests that wait for an answer, oldest first. */
export async function listApprovals(host: Host, options: ApprovalsOptions): Promise<number> {
  const requests = await (await openAccess(host, options)).listRequests(options.user);
  if (options.json) for (const request of requests) host.stdout.write(jsonLine(request));
  else if (requests.length > 0) showTable(host, requests);
  else host.stdout.write('Nothing waits for an answer.\n');
  return exitCodes.ok;
}

function showTable(host: Host, requests: readonly RequestEntry[]): void {
  const style = styleFor(host.stdout);
  const rows = requests.map(({ requestId, session, kind, summary, expiresAt, options }) => [
    requestId,
    sessionName(session),
    kind,
    expiresAt === undefined ? '–' : formatTime(expiresAt),
    options.join(', '),
    shorten(plainLine(summary), longestSummary),
  ]);
  const [head = '', ...lines] = tableLines(
    ['REQUEST', 'SESSION', 'KIND', 'UNTIL', 'OPTIONS', 'WHAT'],
    rows,
  );
  host.stdout.write(`${[style.bold(head), ...lines].join('\n')}\n`);
}
