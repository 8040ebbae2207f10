import type { SessionListing, SessionQuery } from 'adjutant';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { SourceOptions } from '../modules/ledger-source.ts';
import { formatTime, shorten } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { sessionName } from '../output/session-name.ts';
import { styleFor } from '../output/style.ts';
import { tableLines } from '../output/table.ts';

const longestTitle = 60;

export interface SessionsOptions
  extends SourceOptions,
    ServerFlags,
    Pick<SessionQuery, 'status' | 'runnable' | 'user' | 'text'> {
  readonly json?: boolean;
  readonly limit: number;
  /** True for the sessions of all folders. */
  readonly all?: boolean;
}

/** `adjutant sessions`: lists sessions. */
export async function listSessions(host: Host, options: SessionsOptions): Promise<number> {
  const access = await openAccess(host, options);
  const { limit, all = false } = options;
  const found = await access.listSessions({ limit, all, ...filterOf(options) });
  return show(host, options, found.sessions, found.nothing);
}

function filterOf({
  status,
  runnable,
  user,
  text,
}: SessionsOptions): Pick<SessionQuery, 'status' | 'runnable' | 'user' | 'text'> {
  const named = { ...(runnable && { runnable }), ...(user && { user }), ...(text && { text }) };
  return { ...(status && { status }), ...named };
}

function show(
  host: Host,
  options: SessionsOptions,
  sessions: readonly SessionListing[],
  nothing: string,
): number {
  if (options.json) for (const session of sessions) host.stdout.write(jsonLine(session));
  else if (sessions.length > 0) showTable(host, sessions);
  else if (Object.keys(filterOf(options)).length > 0)
    host.stdout.write('There are no such sessions.\n');
  else host.stdout.write(`${nothing}\n`);
  return exitCodes.ok;
}

function showTable(host: Host, sessions: readonly SessionListing[]): void {
  const style = styleFor(host.stdout);
  const rows = sessions.map(({ id, status, seq, updatedAt, title }) => [
    sessionName(id),
    status.replace('_', ' '),
    String(seq),
    formatTime(updatedAt),
    shorten(plainLine(title ?? ''), longestTitle),
  ]);
  const [head = '', ...lines] = tableLines(
    ['SESSION', 'STATUS', 'EVENTS', 'LAST EVENT', 'FIRST MESSAGE'],
    rows,
    { right: [2] },
  );
  host.stdout.write(`${[style.bold(head), ...lines].join('\n')}\n`);
}
