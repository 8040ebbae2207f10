import type { ServerSession } from '@adjutant/server/client';
import type { RequestEntry, SessionListing } from 'adjutant';
import type { ApprovalsOptions } from '../commands/approvals.ts';
import type { SessionsOptions } from '../commands/sessions.ts';
import type { Host } from '../host.ts';
import { openClient, type RemoteOptions } from './open-client.ts';

/** The sessions of a server, newest first. */
export async function sessionsOfServer(
  host: Host,
  options: RemoteOptions<SessionsOptions>,
): Promise<readonly SessionListing[]> {
  const { limit, status, runnable, user } = options;
  const sessions: SessionListing[] = [];
  const filter = {
    ...(status && { status }),
    ...(runnable && { agent: runnable }),
    ...(user && { user }),
  };
  for await (const session of (await openClient(host, options)).sessions.list({
    limit,
    ...filter,
  })) {
    sessions.push(listingOf(session));
    if (sessions.length === limit) break;
  }
  return sessions;
}

/** As a store lists it. */
function listingOf({ agent, ...session }: ServerSession): SessionListing {
  return { ...session, ...(agent === undefined ? {} : { runnable: agent }) } as SessionListing;
}

/** Everything that waits at a server, oldest first. */
export async function requestsOfServer(
  host: Host,
  options: RemoteOptions<ApprovalsOptions>,
): Promise<readonly RequestEntry[]> {
  const { user } = options;
  const requests: RequestEntry[] = [];
  for await (const request of (await openClient(host, options)).approvals.list(
    user === undefined ? {} : { user },
  ))
    requests.push(request as RequestEntry);
  return requests;
}
