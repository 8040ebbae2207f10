import type { RequestEntry, Runtime } from 'adjutant';
import { openLedgers, type StoreOptions } from '../app.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host.ts';
import { formatTime, shorten } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { tableLines } from '../output/table.ts';
import { isRemote, type ServerFlags } from '../remote/open-client.ts';

export interface ApprovalsOptions extends StoreOptions, ServerFlags {
  /** Only those of sessions of this user. */
  readonly user?: string;
  readonly json?: boolean;
}

const longestSummary = 80;
const pageSize = 100;

/** `adjutant approvals`: everything that runs wait for, oldest first. */
export async function listApprovals(host: Host, options: ApprovalsOptions): Promise<number> {
  const requests = await pendingRequests(host, options);
  if (options.json) for (const request of requests) host.stdout.write(jsonLine(request));
  else if (requests.length > 0) showTable(host, requests);
  else host.stdout.write('Nothing waits for an answer.\n');
  return exitCodes.ok;
}

async function pendingRequests(
  host: Host,
  options: ApprovalsOptions,
): Promise<readonly RequestEntry[]> {
  if (isRemote(options)) {
    const { requestsOfServer } = await import('../remote/remote-lists.ts');
    return requestsOfServer(host, options);
  }
  const app = openLedgers(host, options);
  try {
    return app === undefined ? [] : await allPending(app, options.user);
  } finally {
    await app?.close().catch(() => undefined);
  }
}

async function allPending(
  app: Runtime,
  user: string | undefined,
): Promise<readonly RequestEntry[]> {
  const all: RequestEntry[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await app.requests.list({
      status: 'pending',
      limit: pageSize,
      ...(user === undefined ? {} : { user }),
      ...(last === undefined ? {} : { after: last }),
    });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}

function showTable(host: Host, requests: readonly RequestEntry[]): void {
  const style = styleFor(host.stdout);
  const rows = requests.map(({ requestId, session, kind, summary, expiresAt, options }) => [
    requestId,
    plainLine(session),
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
