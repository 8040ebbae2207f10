import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import type { Host } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import { SessionExistsError, SessionNotFoundError } from '../../ledger/errors.ts';
import { Ledger, type LedgerPorts } from '../../ledger/ledger.ts';
import { newLedger, openLedger } from '../../ledger/open-ledger.ts';
import type { LedgerHead, LedgerStore } from '../../ledger/port.ts';
import { recordedScopes } from '../../ledger/shared-scopes.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { looseState } from '../../session/loose-state.ts';
import { type AnySession, Session, type SessionParts } from '../../session/session.ts';
import type { LooseSnapshot, SessionSnapshot } from '../../session/session-snapshot.ts';
import { type ScopeIds, SharedState } from '../../session/shared-state.ts';
import type { StateSchema } from '../../session/state-types.ts';
import {
  copyDecisions,
  isIsolated,
  isUnrecordedFork,
  makeFork,
  recordFork,
} from '../../session/time-travel-fork.ts';
import { InvalidRunError } from '../frame/errors.ts';
import { grantDraft, notGranted } from '../frame/grants.ts';
import type { ForkOptions, SessionOptions } from '../frame/run-options.ts';
import { assertNotReserved } from '../services/errors.ts';
import { type EditedFork, editDrafts } from './fork-edits.ts';
import { OpenSessions } from './open-sessions.ts';

/** App of one tenant, as its sessions see it. */
export interface SessionHome {
  readonly app: string;
  readonly tenant: string;
}

export interface SessionOpenerParts {
  readonly home: SessionHome;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  /** Schema that types and checks the state of all sessions. */
  readonly stateSchema: StateSchema | undefined;
  /** True when the app has a store that other processes may open too. */
  readonly isShared: boolean;
  readonly ledgers: () => LedgerStore;
  readonly ledgerPorts: (store?: LedgerStore) => LedgerPorts;
  /** Returns true while this process carries out a run of the session. */
  readonly isActive: (session: string) => boolean;
  readonly checkAnswer: SessionParts['checkAnswer'];
  /** Makes a usable copy of a snapshot that is no stored session. */
  readonly restore: SessionParts['restore'];
  /** Posts a grant to a session that another process may be writing. */
  readonly registry: EditedFork['registry'];
  readonly postGrant: (session: string, permissions: readonly string[]) => Promise<void>;
}

/** Apps by the sessions that they opened: `run(runnable, { session })` runs there. */
const homes = new WeakMap<AnySession, SessionHome>();

/** Returns the app that opened a session; `undefined` when it was not opened by one. */
export function homeOf(session: AnySession): SessionHome | undefined {
  return homes.get(session);
}

/**
 * Opener of the sessions of an app for one tenant, which also restores and forks them. Each ledger
 * is opened only once.
 */
export class SessionOpener {
  readonly #parts: SessionOpenerParts;
  readonly #sessions: OpenSessions;

  constructor(parts: SessionOpenerParts) {
    this.#parts = parts;
    this.#sessions = new OpenSessions(parts.host);
  }

  newId(): string {
    return `session_${this.#parts.ids.next()}`;
  }

  /**
   * Opens a session by id, or makes one.
   * @throws SessionExistsError with `existing: 'fail'`
   */
  async open<Schema extends StateSchema>(
    options: SessionOptions<Schema>,
  ): Promise<Session<Schema>> {
    const session = await this.#openInTurn(options.id ?? this.newId(), options, false);
    if (options.permissions !== undefined) await this.#grantTo(session.ledger, options.permissions);
    return session;
  }

  /**
   * Returns the session of a run: a given one, the stored one of an id, or a new one.
   * @throws InvalidRunError for a session of another app; SessionNotFoundError
   */
  async forRun(given: AnySession | string | undefined, mustExist: boolean): Promise<Session> {
    this.assertOwn(given);
    if (typeof given === 'object') return given as Session;
    if (given === undefined) return this.open<StateSchema>({});
    return this.#openInTurn<StateSchema>(given, {}, mustExist);
  }

  /**
   * Checks that a session belongs to this app and tenant.
   * @throws InvalidRunError when the session belongs to another app or tenant
   */
  assertOwn(session: AnySession | string | undefined): void {
    const { app, tenant } = this.#parts.home;
    const owner = typeof session === 'object' ? homes.get(session) : undefined;
    if (owner === undefined || (owner.app === app && owner.tenant === tenant)) return;
    const of = owner.app === app ? `the tenant "${owner.tenant}"` : `the app "${owner.app}"`;
    throw new InvalidRunError({
      reason: `the session belongs to ${of} of another runtime; run it there`,
    });
  }

  /**
   * Makes a stored session from a snapshot, under its id.
   * @throws SessionExistsError
   */
  async restore(
    snapshot: SessionSnapshot | LooseSnapshot,
    schema: StateSchema | undefined,
  ): Promise<Session> {
    const { ledgers, ledgerPorts, isShared } = this.#parts;
    const id = snapshot.id ?? this.newId();
    assertNotReserved(id);
    if ((await ledgers().head(id)) !== undefined) throw new SessionExistsError({ session: id });
    // A session that no other process can open needs no record of the copy.
    const session = this.#fill(snapshot, await newLedger(id, ledgerPorts()), schema, isShared);
    await session.flush();
    this.#sessions.add(id, session);
    return session;
  }

  /** Makes a session from a snapshot that can be used at once and is not stored yet. */
  copy(snapshot: SessionSnapshot, schema: StateSchema | undefined): Session {
    const ledger = new Ledger(snapshot.id, this.#parts.ledgerPorts(), []);
    return this.#fill(snapshot, ledger, schema, false);
  }

  /** Makes the stored fork of a session and returns its id. */
  async fork(sessionId: string, options: ForkOptions): Promise<string> {
    assertNotReserved(sessionId);
    assertNotReserved(options.id);
    const open = this.#sessions.get(sessionId);
    if (open?.ledger.failure === undefined) await open?.ledger.durable();
    const { id = this.newId(), shared = 'isolated', at, by = 'operator', edit } = options;
    const ports = this.#parts.ledgerPorts();
    const { stateSchema: schema, registry } = this.#parts;
    const edited =
      edit &&
      ((place: number) =>
        editDrafts(ports, { from: sessionId, at: place, edit, shared, by, schema, registry }));
    await makeFork(ports, sessionId, { id, shared, by, edit: edited, ...defined({ at }) });
    return id;
  }

  /** Ends the work of this process on sessions that are no longer in the store. */
  forgetDeleted(): Promise<void> {
    return this.#sessions.forgetDeleted(this.#parts.ledgers());
  }

  /** Releases all sessions, so that other processes can continue them. */
  async releaseAll(): Promise<void> {
    for (const { ledger } of this.#sessions.all())
      if (ledger.failure === undefined) await ledger.release();
  }

  async #grantTo(ledger: Ledger, permissions: readonly string[]): Promise<void> {
    const missing = notGranted(ledger.events, permissions);
    if (missing.length === 0) return;
    // A session that this process does not write may be claimed by another one at the moment.
    if (ledger.lease.claim === undefined && ledger.durableSeq > 0)
      await this.#parts.postGrant(ledger.session, missing);
    else ledger.append([grantDraft('grant', { permissions: missing, by: 'operator' })]);
  }

  #openInTurn<Schema extends StateSchema>(
    id: string,
    options: SessionOptions<Schema>,
    mustExist: boolean,
  ): Promise<Session<Schema>> {
    return this.#sessions.inTurn(id, () => this.#open(id, options, mustExist));
  }

  async #open<Schema extends StateSchema>(
    id: string,
    options: SessionOptions<Schema>,
    mustExist: boolean,
  ): Promise<Session<Schema>> {
    assertNotReserved(id);
    const { clock, home, ledgers, ledgerPorts } = this.#parts;
    const store = ledgers();
    const open = this.#sessions.get(id);
    const head = await store.head(id);
    await syncClock(clock, store, Number.POSITIVE_INFINITY);
    if (head === undefined && mustExist)
      throw new SessionNotFoundError({ session: id, app: home.app });
    if (
      open !== undefined &&
      open.ledger.failure === undefined &&
      this.#isCurrent(open.ledger, head?.seq ?? 0)
    ) {
      if (options.existing === 'fail') throw new SessionExistsError({ session: id });
      if (
        options.scopes === undefined &&
        options.userId === undefined &&
        options.stateSchema === undefined
      )
        return open as unknown as Session<Schema>;
      // Opens a view on the same ledger, with the requested scopes and types.
      return this.#view(open.ledger, options);
    }
    const exists = head !== undefined;
    if (exists && options.existing === 'fail') throw new SessionExistsError({ session: id });
    const ledger = exists
      ? await this.#openStored(id, head)
      : await newLedger(id, ledgerPorts(store));
    const session = await this.#view(ledger, options);
    if (options.observe !== false) this.#sessions.add(id, session as unknown as Session);
    return session;
  }

  async #openStored(id: string, head: LedgerHead): Promise<Ledger> {
    const ports = this.#parts.ledgerPorts();
    const ledger = await openLedger(id, ports);
    if (!isUnrecordedFork(id, head, ledger.invocations.outside)) return ledger;
    await recordFork(ports, { session: id, shared: 'isolated', at: head.seq });
    return openLedger(id, ports);
  }

  /**
   * True when a ledger in memory equals the stored one. Either this process writes it, or no
   * process has written since it was read.
   */
  #isCurrent(ledger: Ledger, storedSeq: number): boolean {
    return (
      this.#parts.isActive(ledger.session) ||
      ledger.lease.claim !== undefined ||
      ledger.durableSeq === storedSeq
    );
  }

  async #view<Schema extends StateSchema>(
    ledger: Ledger,
    options: SessionOptions<Schema>,
  ): Promise<Session<Schema>> {
    const scopes = {
      ...recordedScopes(ledger.events),
      ...options.scopes,
      ...defined({ user: options.userId }),
    };
    // A replayed session reads shared state from its record alone.
    const isolated = ledger.ports.recording !== undefined || isIsolated(ledger.invocations.outside);
    const schema = options.stateSchema ?? this.#parts.stateSchema;
    const session = this.#wrap<Schema>(ledger, scopes, schema, isolated);
    if (options.observe !== false) await session.observeShared();
    return session;
  }

  #wrap<Schema extends StateSchema>(
    ledger: Ledger,
    scopes: ScopeIds,
    schema: StateSchema | undefined,
    isolated: boolean,
  ): Session<Schema> {
    const { home, restore, checkAnswer } = this.#parts;
    const recorded = Object.keys(recordedScopes(ledger.events));
    const shared = new SharedState(ledger.ports.store, scopes, { recorded, isolated });
    const { app } = home;
    const made = new Session<Schema>({ app, ledger, shared, schema, restore, checkAnswer });
    homes.set(made, home);
    return made;
  }

  #fill(
    snapshot: SessionSnapshot | LooseSnapshot,
    ledger: Ledger,
    schema: StateSchema | undefined,
    lasts: boolean,
  ): Session {
    ledger.restore(snapshot.events ?? [], snapshot.blobs ?? {});
    const observed = looseState(snapshot);
    const named = Object.fromEntries(observed.map(({ scope }) => [scope, ledger.session]));
    const scopes = { ...named, ...recordedScopes(ledger.events), ...snapshot.scopes };
    // A copy keeps the shared state that it was made with, and its writes to itself.
    const session = this.#wrap<StateSchema>(
      ledger,
      scopes,
      schema ?? this.#parts.stateSchema,
      true,
    );
    const drafts = [...(lasts ? copyDecisions(ledger, session.shared.names) : []), ...observed];
    if (drafts.length > 0) ledger.append(drafts);
    return session;
  }
}
