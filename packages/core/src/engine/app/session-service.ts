import { isAdjutantError } from '../../base/error.ts';
import { findInvalidOption, isNonEmptyText } from '../../base/options.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import { SessionExistsError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { Actor } from '../../ledger/event.ts';
import { taskKind } from '../../ledger/folds/task.ts';
import type { LedgerPorts } from '../../ledger/ledger.ts';
import type { ReadRange, StoredEvent, StoredRow } from '../../ledger/port.ts';
import type { Resolution } from '../../session/answer.ts';
import { storedStateAt } from '../../session/fold-snapshot.ts';
import { type MomentOptions, type SessionMoment, storedMomentAt } from '../../session/moment.ts';
import type { AnySession, Session } from '../../session/session.ts';
import type { LooseSnapshot, SessionSnapshot } from '../../session/session-snapshot.ts';
import type { StateSchema } from '../../session/state-types.ts';
import type { StateSnapshot } from '../../session/time-travel.ts';
import { InvalidRunError } from '../frame/errors.ts';
import { isOutsider } from '../frame/outsider.ts';
import type { SessionOptions } from '../frame/run-options.ts';
import { checkForkOptions, checkSessionOptions, type ForkOptions } from '../frame/run-options.ts';
import type { RebuildOptions, RebuildReport } from '../rebuild/rebuild-sessions.ts';
import { entryOf, type RequestEntry } from '../requests/list.ts';
import type { ControlOptions } from '../run/advance.ts';
import type { ReopenOptions } from '../run/reopen.ts';
import { assertNotReserved } from '../services/errors.ts';
import type { SessionControl } from './session-control.ts';
import { readCursor, writeCursor } from './session-cursor.ts';
import {
  listedSessions,
  queryChecks,
  type SearchPorts,
  type SessionPage,
  type SessionQuery,
  searchedPage,
} from './session-query.ts';

/** Options of a session that is made and stored at once. */
export interface NewSessionOptions<Schema extends StateSchema = StateSchema>
  extends Omit<SessionOptions<Schema>, 'existing' | 'observe'> {
  /** Author of the session in the ledger: `user:ann`. @default the runtime */
  readonly by?: Actor;
}

const defaultLimit = 100;

export interface SessionServicePorts extends SearchPorts {
  readonly open: <Schema extends StateSchema>(
    options: SessionOptions<Schema>,
  ) => Promise<Session<Schema>>;
  /** Ends the work of this process on sessions that are no longer in the store. */
  readonly forgetDeleted: () => Promise<void>;
  readonly ledgerPorts: () => LedgerPorts;
  readonly restore: (
    snapshot: SessionSnapshot | LooseSnapshot,
    schema: StateSchema | undefined,
  ) => Promise<Session>;
  /** Tells those who wait for tasks that their session was deleted. */
  readonly tasksDeleted: (tasks: readonly StoredRow[]) => Promise<void>;
  /** Makes the stored fork of a session and returns its id. */
  readonly fork: (sessionId: string, options: ForkOptions) => Promise<string>;
  readonly control: SessionControl;
  readonly rebuild: (options: RebuildOptions) => Promise<RebuildReport>;
}

/** Service for the stored sessions of an app: `app.sessions`. */
export class SessionService<OwnSchema extends StateSchema = StateSchema> {
  readonly #ports: SessionServicePorts;

  constructor(ports: SessionServicePorts) {
    this.#ports = ports;
  }

  /**
   * Opens a session, or makes a new one. The session belongs to this process from its first write
   * until it is flushed and released.
   * @throws InvalidRunError, SessionExistsError with `existing: 'fail'`, SessionBusyError,
   * LedgerUnreadableError, StoreUnavailableError
   */
  async open<Schema extends StateSchema = OwnSchema>(
    options: SessionOptions<Schema> = {},
  ): Promise<Session<Schema>> {
    checkSessionOptions(options as SessionOptions);
    return this.#ports.open(options);
  }

  /**
   * Makes a session and stores it at once, with the shared scopes that it takes part in. When
   * several processes create one id at the same time, one of them succeeds. The session is not
   * held: any process may run on it.
   * @throws InvalidRunError, SessionExistsError, StoreUnavailableError
   */
  async create<Schema extends StateSchema = OwnSchema>({
    by,
    ...options
  }: NewSessionOptions<Schema> = {}): Promise<Session<Schema>> {
    const invalid = by === undefined ? undefined : isOutsider(by);
    if (invalid !== undefined)
      throw new InvalidRunError({
        refused: 'The session cannot be made',
        reason: `\`by\` must be ${invalid}`,
      });
    const session = await this.#ports.open<Schema>({
      ...(options as SessionOptions<Schema>),
      existing: 'fail',
    });
    const { ledger } = session;
    try {
      await ledger.lease.own();
      // The first event belongs to the creator: no other process can begin the ledger again.
      ledger.append([
        decision('session', 'create', {
          by: by ?? 'runtime',
          reasoning: 'The session was made before its first run.',
        }),
      ]);
      await session.observeShared({ declare: true });
      await ledger.release();
    } catch (error) {
      if (isAdjutantError(error, 'session_busy') || isAdjutantError(error, 'ledger_conflict'))
        throw new SessionExistsError({ session: session.id });
      throw error;
    }
    return session;
  }

  /**
   * Opens a stored session.
   * @throws SessionNotFoundError, LedgerUnreadableError, StoreUnavailableError
   */
  async get<Schema extends StateSchema = OwnSchema>(
    id: string,
    options: Pick<SessionOptions<Schema>, 'stateSchema'> = {},
  ): Promise<Session<Schema>> {
    const session = await this.find<Schema>(id, options);
    if (session === undefined)
      throw new SessionNotFoundError({ session: id, app: this.#ports.app });
    return session;
  }

  /**
   * Opens a stored session; `undefined` when there is none with this id.
   * @throws LedgerUnreadableError, StoreUnavailableError
   */
  async find<Schema extends StateSchema = OwnSchema>(
    id: string,
    options: Pick<SessionOptions<Schema>, 'stateSchema'> = {},
  ): Promise<Session<Schema> | undefined> {
    assertNotReserved(id);
    if ((await this.#ports.ledgers().head(id)) === undefined) return undefined;
    return this.#ports.open<Schema>({ ...options, id });
  }

  /**
   * Lists stored sessions, newest first, a page at a time. A session that changes while the pages
   * are read moves to the front of the order by `updatedAt`. A later page then does not have it. In
   * the order by `createdAt` none is missed.
   * @throws InvalidRunError, InvalidCursorError, TextSearchUnavailableError, StoreUnavailableError
   */
  async list(query: SessionQuery = {}): Promise<SessionPage> {
    const invalid = findInvalidOption(query, queryChecks);
    if (invalid !== undefined)
      throw new InvalidRunError({ refused: 'Sessions cannot be listed', reason: invalid.reason });
    const { cursor, limit = defaultLimit, order = 'updatedAt', text, ...filter } = query;
    const after = cursor === undefined ? undefined : readCursor(cursor, order);
    if (text !== undefined)
      return searchedPage(
        this.#ports,
        text,
        { ...filter, order, ...(after && { before: after }) },
        limit,
      );
    // One session more than the limit shows that there is another page.
    const found = await listedSessions(
      this.#ports.ledgers(),
      { ...filter, order },
      limit + 1,
      after,
    );
    const sessions = found.slice(0, limit);
    const last = sessions.at(-1);
    return {
      sessions,
      ...(last === undefined || found.length <= limit ? {} : { cursor: writeCursor(last, order) }),
    };
  }

  /**
   * Makes a session that shares the events up to `at` with another one and continues on its own.
   * The store copies nothing. The work of the shared part stays done. The `recovery` of their tools
   * settles calls with an unknown outcome, as after a crash.
   * @throws SessionNotFoundError, SessionExistsError, SeqOutOfRangeError
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<Session<OwnSchema>> {
    checkForkOptions(options);
    const id = await this.#ports.fork(sessionId, options);
    return this.#ports.open<OwnSchema>({ id });
  }

  /**
   * Makes a session of this app from a snapshot, under the id of the snapshot.
   * @throws SessionExistsError when the id is in use
   */
  async restore<Schema extends StateSchema = StateSchema>(
    snapshot: SessionSnapshot | LooseSnapshot,
    schema?: Schema,
  ): Promise<Session<Schema>> {
    return (await this.#ports.restore(snapshot, schema)) as unknown as Session<Schema>;
  }

  /**
   * Returns the state of a stored session right after the event `seq`. No claim is made: another
   * process may be working on the session.
   * @param seq @default the last event
   * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
   */
  async stateAt(sessionId: string, seq?: number): Promise<StateSnapshot> {
    assertNotReserved(sessionId);
    return storedStateAt(this.#ports.ledgerPorts(), sessionId, seq);
  }

  /**
   * Returns a stored session right after the event `seq` as people look at it: the event and what
   * it has written, the state, the requests that waited, usage and the open invocations. No claim
   * is made.
   * @param seq @default the last event
   * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
   */
  async momentAt(
    sessionId: string,
    seq?: number,
    options: MomentOptions = {},
  ): Promise<SessionMoment<RequestEntry>> {
    assertNotReserved(sessionId);
    const moment = await storedMomentAt(this.#ports.ledgerPorts(), sessionId, seq, options);
    const requests = moment.requests.map((draft) => entryOf({ ...draft, status: 'pending' }));
    return { ...moment, requests };
  }

  /**
   * Reads the events of a stored session without opening it. An event that this version of Adjutant
   * cannot read comes as an `unreadable` event in its place. Damaged ledgers and those of newer
   * versions can thus be read. Other work of the process gets its turn between any two events.
   * @throws SessionNotFoundError
   */
  async *events(
    sessionId: string,
    range?: ReadRange,
  ): AsyncGenerator<StoredEvent, void, undefined> {
    assertNotReserved(sessionId);
    const { host, store } = this.#ports.ledgerPorts();
    for await (const page of store.readStored(sessionId, range)) {
      for (const event of page) {
        yield event;
        const turn = host.turns.pass();
        if (turn !== undefined) await turn;
      }
    }
  }

  /**
   * Makes rows anew that follow from the ledgers and from what waits in their inboxes: turns, the
   * lists of tasks, requests, sessions and triggers, subscriptions to events. Ledgers, inboxes,
   * keys and messages stay, and nothing is sent. Sessions that a process works on are left to it.
   * @throws InvalidRunError, ReservedSessionError, SessionNotFoundError, StoreUnavailableError
   */
  async rebuild(options: RebuildOptions = {}): Promise<RebuildReport> {
    assertNotReserved(options.session);
    return this.#ports.rebuild(options);
  }

  /**
   * Grants permissions to the runs of a session: `fs:write`, or `fs:*` for all names that begin so.
   * The grant holds from the next call of a tool on, until `revoke`. It holds for the open run and
   * for all later runs. Forks have the grants of their shared part.
   * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
   */
  grant(
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions = {},
  ): Promise<void> {
    return this.#ports.control.changeGrants('grant', session, permissions, options);
  }

  /**
   * Revokes grants of a session and its open run; `fs:*` revokes all names that begin so. The
   * grants of the app stay, and so does `fs:*` when `fs:write` is revoked.
   * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
   */
  revoke(
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions = {},
  ): Promise<void> {
    return this.#ports.control.changeGrants('revoke', session, permissions, options);
  }

  /**
   * Reopens a failed or cancelled run, or a part of it, so that `app.resume` continues it. This
   * helps after a bug was fixed, or a limit raised. Completed work is not done again. Effects whose
   * unknown outcome made a step fail are judged again by their present `recovery`.
   * @throws NotReopenableError, SessionNotFoundError, SessionBusyError
   */
  reopen(session: AnySession | string, options: ReopenOptions): Promise<void> {
    return this.#ports.control.reopen(session, options);
  }

  /**
   * Records the outcome of a tool call or an effect of a step that nobody knows. The model is
   * informed of a call, and an equal call counts as a new one. A step that runs again gets the
   * outcome of its effect; one that has failed is reopened first. Resolves when it is recorded,
   * also by another process that has the session.
   * @throws NotResolvableError when it would change nothing, SessionNotFoundError,
   * StoreUnavailableError
   * @example
   * ```ts
   * import { runtime, step } from 'adjutant';
   *
   * const order = step({
   *   name: 'order',
   *   execute: async (ctx) => {
   *     const charge = async (): Promise<string> => {
   *       throw Object.assign(new Error('lost'), { code: 'ETIMEDOUT' });
   *     };
   *     return ctx.complete(await ctx.effect('charge', charge));
   *   },
   * });
   * const app = runtime({ app: 'shop', runnables: [order] });
   * await app.run(order, { session: 'order-7', runId: 'run' });
   * // The provider has the charge.
   * await app.sessions.resolveUnknown('order-7', 'run/charge', { happened: true, result: 'ch_1' });
   * await app.sessions.reopen('order-7', { reason: 'The provider was asked.' });
   * console.log((await app.resume('order-7')).output); // ch_1
   * ```
   */
  resolveUnknown(
    session: AnySession | string,
    callId: string,
    found: Omit<Resolution, 'by'> & { readonly by?: Actor },
  ): Promise<void> {
    return this.#ports.control.resolveUnknown(session, callId, found);
  }

  /**
   * Deletes a session for good: its events, large values, open requests and inbox. Its id is free
   * at once. Events shared with forks stay until the last fork is gone; shared scopes stay. A run
   * that is under way on it stops and records nothing more.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  delete(id: string): Promise<void> {
    return this.#remove(id, false);
  }

  /**
   * Deletes a session like `delete`, with all of its forks and everything that they share with it.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  erase(id: string): Promise<void> {
    return this.#remove(id, true);
  }

  async #remove(id: string, erase: boolean): Promise<void> {
    assertNotReserved(id);
    const ledgers = this.#ports.ledgers();
    // A store without such lists has no tasks either.
    const tasks = await ledgers
      .rows({ kind: taskKind, session: id, statuses: ['open'] })
      .catch(() => []);
    await ledgers.delete(id, { erase });
    await this.#ports.forgetDeleted();
    await this.#ports.tasksDeleted(tasks);
  }

  /**
   * Binds an open session to a stored shared scope, now and whenever it is opened again. Repeating
   * the call with the same id changes nothing.
   * @throws InvalidStateError when the session has a scope or a key of this name
   */
  bindSessionScope(session: AnySession, scope: string, scopeId: string): Promise<void> {
    const reason = isNonEmptyText(scopeId);
    if (reason !== undefined)
      return Promise.reject(
        new InvalidRunError({
          refused: 'The scope cannot be bound',
          reason: `its id must be ${reason}`,
        }),
      );
    return session.bindScope(scope, scopeId);
  }
}
