import type {
  AdjutantClient,
  NewFork,
  ServerRunOutline,
  ServerSession,
} from '@adjutant/server/client';
import type { RequestEntry, SessionListing } from 'adjutant';
import { defined } from 'adjutant/text';
import type { RunContext } from '../actions/carry-out.ts';
import type { GivenAnswer } from '../actions/given-value.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { inLane } from '../output/lane-text.ts';
import { plainLine } from '../output/plain-text.ts';
import type {
  AccessOptions,
  AnswerContext,
  AppAccess,
  CancelDetails,
  CancelOutcome,
  EventToPublish,
  FollowContext,
  ForkDetails,
  ForkedSession,
  FoundOutcome,
  FoundSessions,
  ReopenDetails,
  SessionFilter,
  SessionView,
} from './app-access.ts';
import { nothingToCancel } from './nothing-to-cancel.ts';
import type { NoticeAccess } from './notices/notice-access.ts';
import { ServerNoticeAccess } from './notices/server-notices.ts';
import { openClient } from './open-client.ts';
import type { RemoteOptions } from './server-flags.ts';
import { eventsOf, namedOnServer, sessionOf } from './server-session.ts';
import { ServerTaskAccess } from './tasks/server-tasks.ts';
import type { TaskAccess } from './tasks/task-access.ts';
import { ServerTriggerAccess } from './triggers/server-triggers.ts';
import type { TriggerAccess } from './triggers/trigger-access.ts';

/**
 * Milliseconds to wait until a run is cancelled. A process that works on the run cancels it within
 * a second, but there may be no such process.
 */
const patienceMs = 10_000;

/** Access to the app of a server, over its client. */
export class ServerAccess implements AppAccess {
  readonly tasks: TaskAccess;
  readonly triggers: TriggerAccess;
  readonly notices: NoticeAccess;
  readonly #host: Host;
  readonly #options: RemoteOptions<AccessOptions>;

  constructor(host: Host, options: RemoteOptions<AccessOptions>) {
    this.#host = host;
    this.#options = options;
    this.tasks = new ServerTaskAccess(() => this.#client());
    this.triggers = new ServerTriggerAccess(() => this.#client());
    this.notices = new ServerNoticeAccess(() => this.#client());
  }

  async publish(event: EventToPublish): Promise<{ readonly id: string }> {
    return (await this.#client()).publish(event);
  }

  async listSessions(given: SessionFilter): Promise<FoundSessions> {
    const { limit, status, runnable, user, text } = given;
    const filter = {
      ...(status && { status }),
      ...(runnable && { agent: runnable }),
      ...(user && { user }),
      ...(text && { text }),
    };
    const sessions: SessionListing[] = [];
    for await (const session of (await this.#client()).sessions.list({ limit, ...filter })) {
      sessions.push(listingOf(session));
      if (sessions.length === limit) break;
    }
    return { sessions, nothing: `${plainLine(this.#options.server)} has no sessions yet.` };
  }

  async listRequests(user: string | undefined): Promise<readonly RequestEntry[]> {
    const requests: RequestEntry[] = [];
    const filter = defined({ user });
    for await (const request of (await this.#client()).approvals.list(filter))
      requests.push(request as RequestEntry);
    return requests;
  }

  async show(id: string | undefined, { text }: SessionView): Promise<string> {
    const client = await this.#client();
    const name = await this.#newestOr(client, id);
    const session = await sessionOf(name, await eventsOf(client, name));
    const pending = async (): Promise<ReadonlySet<string>> => {
      const ids = new Set<string>();
      for await (const { requestId } of client.approvals.list({ session: name }))
        ids.add(requestId);
      return ids;
    };
    return text(session, { pending, place: {}, isHere: () => true });
  }

  async cancel(named: string, { reason, lane }: CancelDetails): Promise<CancelOutcome> {
    const client = await this.#client();
    const session = await namedOnServer(client, named);
    const last = await lastRun(client, session, lane);
    if (last === undefined || !isOpen(last.status)) throw nothingToCancel(session, lane);
    await client.runs.cancel(session, last.id, defined({ reason }));
    const impatience = new AbortController();
    const cancelTimer = this.#host.clock.setTimer(patienceMs, () => impatience.abort());
    try {
      const { status } = await client.runs.wait(session, last.id, {
        until: 'end',
        signal: impatience.signal,
      });
      if (status !== 'cancelled') throw nothingToCancel(session, lane);
      return { status, text: `The run of session "${session}"${inLane(lane)} is cancelled.` };
    } catch (error) {
      if (!impatience.signal.aborted) throw error;
      const what = `Session "${session}" is cancelled${inLane(lane)}`;
      const text = `${what} as soon as somebody works on it.`;
      return { status: 'posted', text };
    } finally {
      cancelTimer();
    }
  }

  async resolveUnknown(session: string, callId: string, found: FoundOutcome): Promise<void> {
    const client = await this.#client();
    await client.sessions.resolveUnknown(await namedOnServer(client, session), callId, found);
  }

  async reopen(session: string, options: ReopenDetails): Promise<void> {
    const client = await this.#client();
    await client.sessions.reopen(await namedOnServer(client, session), options);
  }

  async fork(named: string, details: ForkDetails): Promise<ForkedSession> {
    const client = await this.#client();
    const from = await namedOnServer(client, named);
    const { id } = await client.sessions.fork(from, details as NewFork);
    return { from, session: await sessionOf(id, await eventsOf(client, id)) };
  }

  async delete(named: string, withForks: boolean): Promise<string> {
    const client = await this.#client();
    const id = await namedOnServer(client, named);
    await client.sessions.delete(id, { erase: withForks });
    return id;
  }

  async follow(context: FollowContext, named: string | undefined): Promise<number> {
    const { followRun } = await import('./follow-run.ts');
    const client = await this.#client();
    const id = await this.#newestOr(client, named);
    const { length } = await eventsOf(client, id);
    return followRun(context, length, (signal) => client.sessions.follow(id, { signal }));
  }

  async answer(context: AnswerContext, requestId: string, answer: GivenAnswer): Promise<number> {
    const { answerRemotely } = await import('./server-answer.ts');
    const options = { ...context.options, server: this.#options.server };
    return answerRemotely({ ...context, options }, requestId, answer);
  }

  async run(context: RunContext, goal: string, session: string | undefined): Promise<number> {
    const { runRemotely } = await import('./server-run.ts');
    const options = { ...context.options, server: this.#options.server };
    return runRemotely({ ...context, options }, goal, session);
  }

  async resume(context: RunContext, session: string): Promise<number> {
    const { resumeRemotely } = await import('./server-run.ts');
    const options = { ...context.options, server: this.#options.server };
    return resumeRemotely({ ...context, options }, session);
  }

  /** @throws UsageError when no session is named, and there is none */
  async #newestOr(client: AdjutantClient, named: string | undefined): Promise<string> {
    if (named !== undefined) return namedOnServer(client, named);
    const [newest] = (await client.sessions.list({ limit: 1 }).page()).sessions;
    if (newest !== undefined) return newest.id;
    throw new UsageError({ reason: `${this.#options.server} has no sessions yet.` });
  }

  #client(): Promise<AdjutantClient> {
    return openClient(this.#host, this.#options);
  }
}

/** Returns the last run of a lane of a session. */
async function lastRun(
  client: AdjutantClient,
  session: string,
  lane: string | undefined,
): Promise<ServerRunOutline | undefined> {
  for await (const run of client.runs.list(session)) if (run.lane === lane) return run;
  return undefined;
}

/** Returns the session in the form in which a store lists it. */
export function listingOf({ agent, ...session }: ServerSession): SessionListing {
  return { ...session, ...defined({ runnable: agent }) } as SessionListing;
}

function isOpen(status: string): boolean {
  return status === 'accepted' || status === 'running' || status === 'waiting';
}
