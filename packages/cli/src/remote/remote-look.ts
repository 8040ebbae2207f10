import type { Session } from 'adjutant';
import type { ShowOptions } from '../commands/show.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host.ts';
import { openClient, type RemoteOptions } from './open-client.ts';
import { eventsOf, sessionOf } from './remote-session.ts';

/** A session of a server as something to be looked at. */
export interface RemoteLook {
  readonly session: Session;
  /** Ids of its requests that nobody has answered. */
  readonly pending: () => Promise<ReadonlySet<string>>;
}

/** Opens a session of a server for looking at it, by default the newest one. */
export async function lookRemotely(
  host: Host,
  id: string | undefined,
  options: RemoteOptions<ShowOptions>,
): Promise<RemoteLook> {
  const client = await openClient(host, options);
  const name = id ?? (await client.sessions.list({ limit: 1 }).page()).items[0]?.id;
  if (name === undefined)
    throw new UsageError({ reason: `${options.server} has no sessions yet.` });
  const session = await sessionOf(name, await eventsOf(client, name));
  const pending = async (): Promise<ReadonlySet<string>> => {
    const ids = new Set<string>();
    for await (const { requestId } of client.approvals.list({ session: name })) ids.add(requestId);
    return ids;
  };
  return { session, pending };
}
