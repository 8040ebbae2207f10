import { isAdjutantError, type RequestEntry, type Runtime, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import type { RunContext } from '../actions/carry-out.ts';
import type { GivenAnswer } from '../actions/given-value.ts';
import { assistantName } from '../app/agent.ts';
import {
  existingSession,
  noSessions,
  openExistingLedgers,
  openLedgers,
  type StoreOptions,
} from '../app/app.ts';
import { holderNow, openRunOf, whyNotHere } from '../app/open-run.ts';
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
  FoundOutcome,
  FoundSessions,
  GoalContext,
  ReopenDetails,
  SessionFilter,
  SessionView,
} from './app-access.ts';
import { nothingToCancel } from './nothing-to-cancel.ts';

const nothingYet = 'There are no sessions yet. Start one: adjutant "What time is it in Tokyo?"';
const pageSize = 100;
/** Placeholder in shown commands for a store that only the module of the user knows. */
const unknownStore = '…';

/** Access to the ledgers of this machine, over a `Runtime` of this process. */
export class LocalAccess implements AppAccess {
  readonly #host: Host;
  readonly #options: AccessOptions;

  constructor(host: Host, options: AccessOptions) {
    this.#host = host;
    this.#options = options;
  }

  async listSessions(filter: SessionFilter): Promise<FoundSessions> {
    const { withReader } = await import('../modules/ledger-source.ts');
    return withReader(this.#host, this.#options, async (app) => ({
      sessions: (await app?.sessions.list(filter))?.sessions ?? [],
      nothing: app === undefined ? nothingYet : plainLine(noSessions({ app: app.app })),
    }));
  }

  async listRequests(user: string | undefined): Promise<readonly RequestEntry[]> {
    const app = openLedgers(this.#host, this.#options);
    try {
      return app === undefined ? [] : await allPending(app, user);
    } finally {
      await app?.close().catch(() => undefined);
    }
  }

  async show(id: string | undefined, { text, unreadable }: SessionView): Promise<string> {
    const { withReader } = await import('../modules/ledger-source.ts');
    return withReader(this.#host, this.#options, async (app, ownStore) => {
      if (app === undefined) throw new UsageError({ reason: 'There are no sessions yet.' });
      const looking = { ...this.#options, app: app.app, onlyLook: true };
      const name = id ?? (await newestSession(app, looking));
      const session = await existingSession(app, name, looking).catch((error: unknown) => {
        if (unreadable !== undefined && isAdjutantError(error, 'ledger_unreadable'))
          return undefined;
        throw error;
      });
      if (session === undefined) return unreadable?.(app, name) ?? '';
      return text(session, {
        pending: () => pendingOf(app, session),
        place: ownStore ? { store: unknownStore, app: app.app } : {},
      });
    });
  }

  async cancel(id: string, options: CancelDetails): Promise<CancelOutcome> {
    const { lane } = options;
    const where = inLane(lane);
    const app = openExistingLedgers(this.#host, this.#options);
    try {
      const session = await existingSession(app, id, this.#options);
      if (openRunOf(session, lane) === undefined) throw nothingToCancel(id, lane);
      await app.cancel(id, options);
      const why = whyNotHere(session, assistantName, lane);
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
    } finally {
      await app.close().catch(() => undefined);
    }
  }

  async resolveUnknown(id: string, callId: string, found: FoundOutcome): Promise<void> {
    await this.#repair(id, (app) => app.sessions.resolveUnknown(id, callId, found));
  }

  async reopen(id: string, options: ReopenDetails): Promise<void> {
    await this.#repair(id, (app) => app.sessions.reopen(id, options));
  }

  async answer(context: AnswerContext, requestId: string, answer: GivenAnswer): Promise<number> {
    const { answerLocally } = await import('./local-answer.ts');
    return answerLocally(context, requestId, answer);
  }

  async run(context: GoalContext, goal: string, session: string | undefined): Promise<number> {
    const { runLocally } = await import('./local-run.ts');
    return runLocally(context, goal, session);
  }

  async resume(context: RunContext, session: string): Promise<number> {
    const { resumeLocally } = await import('./local-run.ts');
    return resumeLocally(context, session);
  }

  async #repair(id: string, repair: (app: Runtime) => Promise<void>): Promise<void> {
    const app = openExistingLedgers(this.#host, this.#options);
    try {
      // Refuses a session that does not exist, with advice.
      await existingSession(app, id, { ...this.#options, onlyLook: true });
      await repair(app);
    } finally {
      await app.close().catch(() => undefined);
    }
  }
}

async function newestSession(app: Runtime, options: StoreOptions): Promise<string> {
  const [newest] = (await app.sessions.list({ limit: 1 })).sessions;
  if (newest === undefined) throw new UsageError({ reason: noSessions(options) });
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
