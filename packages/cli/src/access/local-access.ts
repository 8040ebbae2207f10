import { isAdjutantError, type RequestEntry, type Runtime, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import type { RunContext } from '../actions/carry-out.ts';
import type { GivenAnswer } from '../actions/given-value.ts';
import { existingSession } from '../app/app.ts';
import { assertDurable } from '../app/durable-store.ts';
import { namedSession, noneOf, projectSessions } from '../app/named-session.ts';
import { holderNow, openRunOf, whyNotHere } from '../app/open-run.ts';
import { openExisting, openReader, type Project, withProject } from '../app/project.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { ownCommand } from '../host/own-name.ts';
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
import { LocalNoticeAccess } from './notices/local-notices.ts';
import type { NoticeAccess } from './notices/notice-access.ts';
import { withOwnApp } from './own-app.ts';
import { LocalTaskAccess } from './tasks/local-tasks.ts';
import type { TaskAccess } from './tasks/task-access.ts';
import { LocalTriggerAccess } from './triggers/local-triggers.ts';
import type { TriggerAccess } from './triggers/trigger-access.ts';

const nothingYet = (): string =>
  `There are no sessions yet. Start one: ${ownCommand('"What time is it in Tokyo?"')}`;
const pageSize = 100;

/** Access to the ledgers of this machine, over a `Runtime` of this process. */
export class LocalAccess implements AppAccess {
  readonly tasks: TaskAccess;
  readonly triggers: TriggerAccess;
  readonly notices: NoticeAccess;
  readonly #host: Host;
  readonly #options: AccessOptions;

  constructor(host: Host, options: AccessOptions) {
    this.#host = host;
    this.#options = options;
    this.tasks = new LocalTaskAccess(host, options);
    this.triggers = new LocalTriggerAccess(host, options);
    this.notices = new LocalNoticeAccess(host, options);
  }

  publish(event: EventToPublish): Promise<{ readonly id: string }> {
    return withOwnApp(this.#host, this.#options, 'Events', async ({ app }) => {
      assertDurable(app, 'the event would be gone with this command');
      return app.publish(event);
    });
  }

  async listSessions(filter: SessionFilter): Promise<FoundSessions> {
    const { all = false, ...query } = filter;
    return withProject(openReader(this.#host, this.#options), async (project) => {
      if (project === undefined) return { sessions: [], nothing: nothingYet() };
      const pool = all ? { app: project.app } : project;
      const sessions = await projectSessions(pool, query);
      return { sessions, nothing: sessions.length === 0 ? plainLine(await noneOf(pool)) : '' };
    });
  }

  async listRequests(user: string | undefined): Promise<readonly RequestEntry[]> {
    return withProject(openReader(this.#host, this.#options), async (project) =>
      project === undefined ? [] : allPending(project.app, user),
    );
  }

  async show(id: string | undefined, { text, unreadable }: SessionView): Promise<string> {
    return withProject(openExisting(this.#host, this.#options), async (project) => {
      const { app } = project;
      const name =
        id === undefined ? await newestSession(project) : await namedSession(project, id);
      const opening = existingSession(app, name, { onlyLook: true });
      const session = await opening.catch((error: unknown) => {
        if (unreadable !== undefined && isAdjutantError(error, 'ledger_unreadable'))
          return undefined;
        throw error;
      });
      if (session === undefined) return unreadable?.(app, name) ?? '';
      return text(session, {
        pending: () => pendingOf(app, session),
        place: project.place,
        isHere: (runnable) => project.find(runnable) !== undefined,
      });
    });
  }

  async cancel(named: string, options: CancelDetails): Promise<CancelOutcome> {
    const { lane } = options;
    const where = inLane(lane);
    return withProject(openExisting(this.#host, this.#options), async (project) => {
      const { app } = project;
      const id = await namedSession(project, named);
      const session = await existingSession(app, id);
      if (openRunOf(session, lane) === undefined) throw nothingToCancel(id, lane);
      await app.cancel(id, options);
      const why = whyNotHere(session, project, lane);
      const holder = await holderNow(session);
      if (holder !== undefined)
        return {
          status: 'posted',
          text: `${holder} works on session "${id}" and cancels it${where}.`,
        };
      if (why !== undefined) {
        const what = `Session "${id}" is cancelled${where}`;
        const text = `${what} as soon as its program continues it: ${why}.`;
        return { status: 'posted', text };
      }
      const { status } = await app.advance(session, defined({ lane }));
      if (status !== 'cancelled') throw nothingToCancel(id, lane);
      return { status, text: `The run of session "${id}"${where} is cancelled.` };
    });
  }

  async resolveUnknown(named: string, callId: string, found: FoundOutcome): Promise<void> {
    await this.#repair(named, (app, id) => app.sessions.resolveUnknown(id, callId, found));
  }

  async reopen(named: string, options: ReopenDetails): Promise<void> {
    await this.#repair(named, (app, id) => app.sessions.reopen(id, options));
  }

  async fork(named: string, details: ForkDetails): Promise<ForkedSession> {
    return withProject(openExisting(this.#host, this.#options), async (project) => {
      const from = await namedSession(project, named);
      const session = await project.app.sessions.fork(from, details);
      await session.flush();
      return { from, session };
    });
  }

  async delete(named: string, withForks: boolean): Promise<string> {
    return withProject(openExisting(this.#host, this.#options), async (project) => {
      const { sessions } = project.app;
      const id = await namedSession(project, named);
      await (withForks ? sessions.erase(id) : sessions.delete(id));
      return id;
    });
  }

  async follow(context: FollowContext, named: string | undefined): Promise<number> {
    const { followRun } = await import('./follow-run.ts');
    return withProject(openExisting(this.#host, this.#options), async (project) => {
      const { app } = project;
      const id =
        named === undefined ? await newestSession(project) : await namedSession(project, named);
      const { events } = await existingSession(app, id, { onlyLook: true });
      return followRun(context, events.length, (signal) => app.follow(id, { signal }));
    });
  }

  async answer(context: AnswerContext, requestId: string, answer: GivenAnswer): Promise<number> {
    const { answerLocally } = await import('./local-answer.ts');
    return answerLocally(context, requestId, answer);
  }

  async run(context: RunContext, goal: string, session: string | undefined): Promise<number> {
    const { runLocally } = await import('./local-run.ts');
    return runLocally(context, goal, session);
  }

  async resume(context: RunContext, session: string): Promise<number> {
    const { resumeLocally } = await import('./local-run.ts');
    return resumeLocally(context, session);
  }

  async #repair(named: string, repair: (app: Runtime, id: string) => Promise<void>): Promise<void> {
    await withProject(openExisting(this.#host, this.#options), async (project) => {
      const { app } = project;
      const id = await namedSession(project, named);
      // Refuses a session that does not exist, with advice.
      await existingSession(app, id, { onlyLook: true });
      await repair(app, id);
    });
  }
}

async function newestSession(project: Project): Promise<string> {
  const [newest] = await projectSessions(project, { limit: 1 });
  if (newest === undefined) throw new UsageError({ reason: await noneOf(project) });
  return newest.id;
}

async function pendingOf(
  app: Runtime,
  { id, pendingYieldingCalls }: Session,
): Promise<ReadonlySet<string>> {
  const requests = await app.requests.list({
    session: id,
    status: 'pending',
    limit: pendingYieldingCalls.length,
  });
  return new Set(requests.map(({ requestId }) => requestId));
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
      ...defined({ user, after: last }),
    });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
