import { defined } from '../base/defined.ts';
import type { AdjutantError } from '../base/error.ts';
import { type JsonValue, sameValue } from '../base/json.ts';
import type { Event, EventDraft, EventOf, StateChange } from '../ledger/event.ts';
import { visibleValues } from '../ledger/folds/state-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { currentAgentName, type SessionStatus, sessionStatus } from '../ledger/status.ts';
import { BoundObject, type OnWrite } from './bound-object.ts';
import { checkDrafts, InvalidEventError } from './draft-check.ts';
import { type PendingRequest, pendingCalls } from './pending-request.ts';
import { createState, InvalidStateError, type StateUpdate } from './scoped-state.ts';
import { type CheckAnswer, SessionAnswers } from './session-answers.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import { observation, type SharedState } from './shared-state.ts';
import type { StateOf, StateSchema } from './state-types.ts';
import {
  checkSeq,
  findEventIndex,
  findInvocationBoundary,
  type InvocationBoundary,
  type StateSnapshot,
  snapshotAt,
} from './time-travel.ts';
import { forkDecision } from './time-travel-fork.ts';
import { withTextOfParts } from './user-parts.ts';

export interface ObserveOptions {
  /**
   * True to record also scopes that hold nothing yet, so that processes that open the session know
   * them.
   * @default false
   */
  readonly declare?: boolean;
  /**
   * Invocation that refreshes the scopes. The observation is recorded there, even when nothing has
   * changed.
   */
  readonly seenBy?: { readonly invocationId: string; readonly refresh: string };
  /** Path of the invocation that is about to go on with the observed values. */
  readonly path?: string;
}

/** Names that a shared scope cannot have. */
const reservedNames: ReadonlySet<string> = new Set(['session', 'temp', 'update', 'refresh']);

/**
 * Largest number of reads of the shared scopes in one observation. They are read again when this
 * session wrote them meanwhile; after the last read, the next round observes them anyway.
 */
const observeAttempts = 5;

export interface SessionParts {
  readonly app: string;
  readonly ledger: Ledger;
  readonly shared: SharedState;
  readonly schema: StateSchema | undefined;
  /** Makes an independent session in memory from a snapshot. */
  readonly restore: (snapshot: SessionSnapshot, schema: StateSchema | undefined) => Session;
  /** Rejects when an answer does not fit its request. */
  readonly checkAnswer: CheckAnswer;
}

/**
 * One ledger and the state folded from it. Writes through it are visible at once and durable within
 * a few milliseconds; `flush` waits for that.
 */
export class Session<Schema extends StateSchema = StateSchema> {
  readonly id: string;
  readonly app: string;
  /** State by property: `session.state.mode = 'triage'`, `session.state.user.theme`. */
  readonly state: StateOf<Schema>;
  /** The ledger of the session, for the runtime. @internal */
  readonly ledger: Ledger;
  /** The shared scopes of the session, for the runtime. @internal */
  readonly shared: SharedState;
  readonly #parts: SessionParts;
  readonly #answers: SessionAnswers;
  readonly #bound = new Map<string, BoundObject>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#answers = new SessionAnswers(parts.ledger, parts.checkAnswer);
    this.id = parts.ledger.session;
    this.app = parts.app;
    this.ledger = parts.ledger;
    this.shared = parts.shared;
    this.ledger.user ??= parts.shared.scopeIds['user'];
    this.state = createState(
      {
        get sharedScopes() {
          return parts.shared.names;
        },
        temp: {},
        read: (scope) => visibleValues(this.ledger.state, scope),
        write: (scope, changes, again) => this.#writeState(scope, changes, again),
        refresh: () => this.observeShared(),
      },
      parts.schema,
    ) as StateOf<Schema>;
  }

  /** All events, oldest first, including those that are still on their way to the store. */
  get events(): readonly Event[] {
    return this.ledger.events;
  }

  /**
   * Replaces references in a recorded value by the large values that they stand for, as far as the
   * session has loaded them. A function of its own: it may be passed on.
   */
  get resolve(): (value: unknown) => unknown {
    return this.ledger.resolve;
  }

  /**
   * Calls `listener` with each event at once, before it is durable. An event may still be lost when
   * another process takes the session over.
   * @returns a function that ends the calls
   */
  onDraft(listener: (event: Event) => void): () => void {
    return this.ledger.onDraft(listener);
  }

  /**
   * Claims the session for this process, which then is the only one that writes to it. A session
   * that this process has is asked for once more: a process that was stopped for a while may have
   * lost it.
   * @throws SessionBusyError when another process works on it
   * @throws LedgerConflictError when another process has written meanwhile
   */
  async claim(): Promise<void> {
    const { lease } = this.ledger;
    if (lease.claim === undefined) await lease.own();
    else await lease.renew();
  }

  get status(): SessionStatus {
    return sessionStatus(this.ledger);
  }

  /** Calls that wait for input, an approval or a result. */
  get pendingYieldingCalls(): readonly PendingRequest[] {
    return pendingCalls(this.ledger);
  }

  /** Name of the agent that acted last. */
  get currentAgentName(): string | undefined {
    return currentAgentName(this.ledger.events);
  }

  /**
   * Adds a message of the user. The next prompt of an open run has it; without an open run, the
   * next run has it.
   * @throws InvalidEventError
   */
  addMessage(text: string, invocationId?: string): EventOf<'user'> {
    if (typeof invocationId === 'string' && !this.ledger.invocations.byPath.has(invocationId)) {
      throw new InvalidEventError({
        index: 0,
        reason: `there is no invocation "${invocationId}" that the message could be for`,
      });
    }
    return this.append([
      { type: 'user', by: 'user', text, ...defined({ invocationId }) },
    ])[0] as EventOf<'user'>;
  }

  /**
   * Posts the input of a tool with `yieldSchema`. It counts if it fits and the call is still
   * pending then; `flush` and the next run report when it does not. The process that works on the
   * session takes it in.
   * @throws RequestNotFoundError when the call has never asked for it, RequestSettledError when it
   * has been answered, NotJsonError
   */
  addToolInput(callId: string, input: JsonValue): void {
    this.#answers.give(callId, ['input'], input);
  }

  /** Posts the result of an operation that runs elsewhere, like `addToolInput`. */
  addToolResult(callId: string, result: JsonValue): void {
    this.#answers.give(callId, ['result', 'input'], result);
  }

  /**
   * Resolves when the answers given through this object are stored; false when there were none.
   * @throws InputMismatchError, RequestSettledError, SessionNotFoundError, StoreUnavailableError
   */
  posted(): Promise<boolean> {
    return this.#answers.posted();
  }

  /**
   * Appends events as they are given, with new `v`, `seq`, `id` and `at` for those of another
   * session.
   * Messages of users are text: parts of text become a part of it, others are refused.
   * @throws InvalidEventError, NotJsonError, MessagePartError before anything is appended
   */
  append(drafts: readonly EventDraft[]): readonly Event[] {
    return this.ledger.append(checkDrafts(drafts, withTextOfParts));
  }

  /** Calls `listener` with every durable change of state. Returns a function that ends it. */
  onStateChange(listener: (event: EventOf<'state_change'>) => void): () => void {
    return this.ledger.onDurable((events) => {
      for (const event of events) if (event.type === 'state_change') listener(event);
    });
  }

  /**
   * Resolves when all writes so far are durable. A shared write that came after another session's
   * is reported once; all others have landed then.
   * @throws SessionBusyError, LedgerConflictError, StateConflictError, StateBindingError,
   * StoreUnavailableError
   */
  async flush(): Promise<void> {
    await this.ledger.durable();
    await this.posted();
    for (const object of this.#bound.values()) await object.told();
    const conflict = this.ledger.conflicts.shift();
    if (conflict !== undefined) throw conflict;
  }

  /**
   * Makes a plain object a shared scope of this session, for as long as this session object lives.
   * The contents of the object are recorded as observed, now and at each observation of the shared
   * scopes. A durable write is put into the object and reported to `onWrite`: in order, each once,
   * the next after the promise of the one before. A process that stops between a write and its
   * `onWrite` does not report it later. Data that must not be lost belong in a scope of the store.
   * `flush` waits for `onWrite` and rejects with its error.
   * @throws InvalidStateError when the name is taken, NotJsonError
   */
  bindSharedState(scope: string, target: Record<string, unknown>, onWrite?: OnWrite): void {
    this.#assertFree(scope);
    const onFailure = (error: AdjutantError): void => void this.ledger.conflicts.push(error);
    const object = new BoundObject({ scope, target, onWrite, onFailure });
    object.read();
    this.#bound.set(scope, object);
    this.shared.bindObject(scope, object);
    this.ledger.onDurable((events) => {
      for (const event of events) {
        if (event.type !== 'state_change' || event.scope !== scope || event.source !== 'mutation')
          continue;
        object.write(this.ledger.whole(event).changes);
      }
    });
    const drafts = this.shared.observations(this.shared.readObjects(), this.ledger.state);
    if (drafts.length > 0) this.ledger.append(drafts);
  }

  /**
   * Binds the session to a stored shared scope, and records that. The same call with the same id
   * changes nothing.
   * @throws InvalidStateError when the name is taken
   */
  async bindScope(scope: string, scopeId: string): Promise<void> {
    if (this.shared.scopeIds[scope] !== scopeId) {
      this.#assertFree(scope);
      this.shared.bind(scope, scopeId);
      if (scope === 'user') this.ledger.user = scopeId;
    }
    await this.observeShared({ declare: true });
  }

  #assertFree(scope: string): void {
    const refuse = (reason: string): never => {
      throw new InvalidStateError({ scope: 'session', key: scope, reason });
    };
    if (scope === '' || reservedNames.has(scope))
      refuse(
        'the name of a shared scope is not empty and none of session, temp, update and refresh',
      );
    if (this.shared.has(scope)) refuse('the session takes part in a scope of this name already');
    if (Object.hasOwn(visibleValues(this.ledger.state, 'session'), scope))
      refuse('the state of the session has a key of this name');
  }

  /**
   * Records the changes of other sessions in the shared scopes. Own writes land first; otherwise
   * they would look as if another session had undone them.
   */
  async observeShared(options: ObserveOptions = {}): Promise<void> {
    const { names, scopeIds } = this.shared;
    const [first] = names;
    if (first === undefined) return;
    const { recording } = this.ledger.ports;
    if (recording !== undefined)
      return recording.observed(options.seenBy?.invocationId ?? options.path);
    for (let attempt = 1; ; attempt++) {
      await this.ledger.durable();
      // Not `lastSeq`: events may have been appended meanwhile that the store does not have yet.
      const seq = this.ledger.durableSeq;
      const read = await this.shared.read();
      // Writes during the read are newer than the read values, which must not undo them.
      if (attempt < observeAttempts && this.#wroteSharedSince(seq)) continue;
      const drafts = this.#wroteSharedSince(seq)
        ? []
        : this.shared.observations(read, this.ledger.state);
      const declaration = options.declare === true ? this.shared.declaration() : undefined;
      const { seenBy } = options;
      if (seenBy !== undefined && drafts.length === 0)
        drafts.push(observation(first, scopeIds[first], []));
      const seen: readonly EventDraft[] =
        seenBy === undefined ? drafts : drafts.map((draft) => ({ ...draft, ...seenBy }));
      const news = declaration === undefined ? seen : [declaration, ...seen];
      if (news.length > 0) this.ledger.append(news);
      return;
    }
  }

  #wroteSharedSince(seq: number): boolean {
    return this.ledger.events
      .slice(seq)
      .some((event) => event.type === 'state_change' && this.shared.has(event.scope));
  }

  /** Returns the whole session as JSON. Large values must be loaded, as they are after a run. */
  toJSON(): SessionSnapshot {
    const { app, id } = this;
    const blobs = this.ledger.blobs.all();
    return {
      app,
      id,
      ...(this.shared.names.length > 0 ? { scopes: this.shared.scopeIds } : {}),
      events: [...this.ledger.events],
      ...(Object.keys(blobs).length > 0 ? { blobs } : {}),
    };
  }

  /** Makes an independent copy in memory, under the same id. */
  clone(): Session<Schema> {
    return this.#parts.restore(this.toJSON(), this.#parts.schema) as unknown as Session<Schema>;
  }

  /**
   * Returns this session as it was right after the event `seq`; 0 is before the first event.
   * @throws SeqOutOfRangeError
   */
  stateAt(seq: number): StateSnapshot {
    return snapshotAt(this.ledger.events, seq, this.ledger.resolve);
  }

  /**
   * Makes an independent session in memory with the events up to `seq`, and with the shared state
   * that they show. It can run at once, and this session does not change. `app.sessions.fork` makes
   * a fork that is stored.
   * @throws SeqOutOfRangeError
   */
  forkAt(seq: number): Session<Schema> {
    checkSeq(seq, this.ledger.lastSeq);
    const snapshot = this.toJSON();
    // The fork has its own id, so that its outside effects have their own keys.
    const id = `session_${this.ledger.ports.ids.next()}`;
    const fork = this.#parts.restore(
      { ...snapshot, id, events: snapshot.events.slice(0, seq) },
      this.#parts.schema,
    );
    fork.ledger.append([forkDecision({ session: id, shared: 'isolated', from: this.id, at: seq })]);
    return fork as unknown as Session<Schema>;
  }

  /** Sequence number of the event with this id; `undefined` when there is none. */
  eventIndexOf(eventId: string): number | undefined {
    return findEventIndex(this.ledger.events, eventId);
  }

  /** Begin and end of the invocation at `path`; `undefined` when it has not begun. */
  invocationBoundary(path: string): InvocationBoundary | undefined {
    return findInvocationBoundary(this.ledger.events, path);
  }

  #writeState(
    scope: string,
    changes: readonly StateChange[],
    update: StateUpdate | undefined,
  ): void {
    const scopeId = this.shared.scopeIds[scope];
    const draft: EventDraft = {
      type: 'state_change',
      by: 'operator',
      scope,
      source: 'mutation',
      changes,
      ...defined({ scopeId }),
    };
    const stale = new Set(
      changes.flatMap(({ key, oldValue }, index) =>
        sameValue(oldValue, this.shared.latest(scope, key, oldValue)) ? [] : [index],
      ),
    );
    const shared = this.shared.writes({ scope, changes, again: [update?.apply], stale });
    this.ledger.append([draft], shared.length > 0 ? { shared } : undefined);
  }
}

/** A session with state of any type. */
export type AnySession = Omit<Session, 'state' | 'clone' | 'forkAt'>;
