import type { SessionListing, SessionQuery } from 'adjutant';
import { noSessions } from '../app.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host.ts';
import { type SourceOptions, withReader } from '../ledger-source.ts';
import { formatTime, shorten } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { tableLines } from '../output/table.ts';
import { isRemote, type ServerFlags } from '../remote/open-client.ts';

const longestTitle = 60;
const nothingYet = 'There are no sessions yet. Start one: adjutant "What time is it in Tokyo?"';

export interface SessionsOptions
  extends SourceOptions,
    ServerFlags,
    Pick<SessionQuery, 'status' | 'runnable' | 'user'> {
  readonly json?: boolean;
  readonly limit: number;
}

/** `adjutant sessions` */
export async function listSessions(host: Host, options: SessionsOptions): Promise<number> {
  if (isRemote(options)) {
    const { sessionsOfServer } = await import('../remote/remote-lists.ts');
    return show(
      host,
      options,
      await sessionsOfServer(host, options),
      `${plainLine(options.server)} has no sessions yet.`,
    );
  }
  return withReader(host, options, async (app) => {
    const { limit } = options;
    const sessions = (await app?.sessions.list({ limit, ...filterOf(options) }))?.sessions ?? [];
    return show(
      host,
      options,
      sessions,
      app === undefined ? nothingYet : plainLine(noSessions({ app: app.app })),
    );
  });
}

function filterOf({
  status,
  runnable,
  user,
}: SessionsOptions): Pick<SessionQuery, 'status' | 'runnable' | 'user'> {
  return { ...(status && { status }), ...(runnable && { runnable }), ...(user && { user }) };
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
    plainLine(id),
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
