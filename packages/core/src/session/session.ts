import type { AdjutantError } from '../base/error.ts';
import { findJsonDefect, type JsonObject, type JsonValue, sameValue } from '../base/json.ts';
import { NotJsonError, RequestNotFoundError, RequestSettledError } from '../ledger/errors.ts';
import type { Event, EventDraft, EventOf, RequestKind, StateChange } from '../ledger/event.ts';
import { pendingRequestOf } from '../ledger/folds/request-fold.ts';
import { visibleValues } from '../ledger/folds/state-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PendingRequest } from '../ledger/port.ts';
import { currentAgentName, type SessionStatus, sessionStatus } from '../ledger/status.ts';
import { type Answer, postAnswer } from './answer.ts';
import { BoundObject, type OnWrite } from './bound-object.ts';
import { checkDrafts, InvalidEventError } from './draft-check.ts';
import { type PendingCall, pendingCalls } from './pending-call.ts';
import { createState, InvalidStateError, type StateUpdate } from './scoped-state.ts';
import { observation, type ScopeIds, type SharedState } from './shared-state.ts';
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

/** A session as JSON: what `toJSON` gives and `session.fromSnapshot` takes. */
export interface SessionSnapshot {
  readonly app: string;
  readonly id: string;
  readonly scopes?: ScopeIds;
  readonly events: readonly Event[];
  /** Values that the events refer to, by address. */
  readonly blobs?: Readonly<Record<string, JsonValue>>;
}

export interface ObserveOptions {
  /**
   * Also records scopes that hold nothing yet, so that whoever opens the session knows of them.
   * @default false
   */
  readonly declare?: boolean;
  /** Who looks: what is seen is recorded there, also when it is nothing new. */
  readonly seenBy?: { readonly invocationId: string; readonly refresh: string };
  /** The invocation that is about to go on with what is seen. */
  readonly path?: string;
}

/** What cannot be the name of a shared scope. */
const reservedNames: ReadonlySet<string> = new Set(['session', 'temp', 'update', 'refresh']);

/**
 * How often shared scopes are read again because they were written meanwhile; the next round looks
 * again anyway.
 */
const observeAttempts = 5;

export interface SessionParts {
  readonly app: string;
  readonly ledger: Ledger;
  readonly shared: SharedState;
  readonly schema: StateSchema | undefined;
  /** Makes a session of its own from a snapshot, in memory. */
  readonly restore: (snapshot: SessionSnapshot, schema: StateSchema | undefined) => Session;
  /** Rejects when what was given does not fit what was asked for. */
  readonly checkAnswer: (request: PendingRequest, answer: Answer) => Promise<void>;
}

/**
 * One ledger and what is folded from it. What is written through it is visible at once and durable
 * within a few milliseconds; `flush` waits for that.
 */
export class Session<Schema extends StateSchema = StateSchema> {
  readonly id: string;
  readonly app: string;
  /** State by property: `session.state.mode = 'triage'`, `session.state.user.theme`. */
  readonly state: StateOf<Schema>;
  /** The ledger below: for the runtime and for views. */
  readonly ledger: Ledger;
  readonly shared: SharedState;
  readonly #parts: SessionParts;
  readonly #posts: Promise<void>[] = [];
  readonly #bound = new Map<string, BoundObject>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
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

  get status(): SessionStatus {
    return sessionStatus(this.ledger);
  }

  /** Calls that wait for somebody outside: for input, leave, or a result. */
  get pendingYieldingCalls(): readonly PendingCall[] {
    return pendingCalls(this.ledger);
  }

  /** Name of the agent that acted last. */
  get currentAgentName(): string | undefined {
    return currentAgentName(this.ledger.events);
  }

  /**
   * Adds a message of the user. The next prompt of a run that is under way has it; otherwise the
   * next run does. @throws InvalidEventError
   */
  addMessage(text: string, invocationId?: string): EventOf<'user'> {
    if (typeof invocationId === 'string' && !this.ledger.invocations.byPath.has(invocationId)) {
      throw new InvalidEventError({
        index: 0,
        reason: `there is no invocation "${invocationId}" that the message could be for`,
      });
    }
    return this.append([
      { type: 'user', by: 'user', text, ...(invocationId === undefined ? {} : { invocationId }) },
    ])[0] as EventOf<'user'>;
  }

  /**
   * Gives a tool with `yieldSchema` its input. It is posted: it counts if it fits and the call is
   * still pending then, which `flush` and the next run say, and whoever works on the session takes
   * it in.
   * @throws RequestNotFoundError when the call has never asked for it, RequestSettledError when it
   * has been answered, NotJsonError
   */
  addToolInput(callId: string, input: JsonValue): void {
    this.#answer(callId, ['input'], input);
  }

  /** Gives the result of an operation that goes on elsewhere. As `addToolInput`. */
  addToolResult(callId: string, result: JsonValue): void {
    this.#answer(callId, ['result', 'input'], result);
  }

  #answer(callId: string, kinds: readonly RequestKind[], input: JsonValue): void {
    const { ledger } = this;
    const request = [...ledger.requests.values()].find(
      (pending) => pending.callId === callId && kinds.includes(pending.kind),
    );
    if (request === undefined) throw this.#notPending(callId, kinds);
    const { requestId } = request;
    if (ledger.accepted.has(requestId))
      throw new RequestSettledError({ requestId, status: 'answered' });
    const defect = findJsonDefect(input);
    if (defect !== undefined)
      throw new NotJsonError({ what: `The input for "${callId}"`, ...defect });
    ledger.accepted.add(requestId);
    const posting = this.#post(request, { decision: 'answer', input, by: 'user' });
    this.#posts.push(posting);
    posting.catch(() => ledger.accepted.delete(requestId));
  }

  async #post(request: EventOf<'tool_yield'>, answer: Answer): Promise<void> {
    // The question may be on its way to the store.
    await this.ledger.durable();
    await this.#parts.checkAnswer(pendingRequestOf(request, this.id, this.ledger.user), answer);
    await postAnswer(this.ledger, request.requestId, answer);
  }

  /** What is wrong with an answer to a call that does not wait for one. */
  #notPending(callId: string, kinds: readonly RequestKind[]): AdjutantError {
    const { events } = this.ledger;
    const asked = events.findLast(
      (event) =>
        event.type === 'tool_yield' && event.callId === callId && kinds.includes(event.kind),
    );
    if (asked?.type !== 'tool_yield') return new RequestNotFoundError({ requestId: callId });
    const { requestId } = asked;
    const answer = events.findLast(
      (event) => event.type === 'tool_input' && event.requestId === requestId,
    );
    if (answer?.type !== 'tool_input')
      return new RequestSettledError({ requestId, status: 'cancelled' });
    return new RequestSettledError({
      requestId,
      status: answer.decision === 'expire' ? 'expired' : 'answered',
      by: answer.by,
    });
  }

  /**
   * Resolves when what was posted through this object is stored: whether there was anything.
   * @throws InputMismatchError, RequestSettledError, SessionNotFoundError, StoreUnavailableError
   */
  async posted(): Promise<boolean> {
    const posts = this.#posts.splice(0);
    await Promise.all(posts);
    return posts.length > 0;
  }

  /**
   * Appends events as they are given, at places of their own: `v`, `seq`, `id` and `at` of events
   * of another session are left out.
   * @throws InvalidEventError, NotJsonError before anything is appended
   */
  append(drafts: readonly EventDraft[]): readonly Event[] {
    return this.ledger.append(checkDrafts(drafts));
  }

  /** Calls `listener` with every durable change of state. Returns a function that ends it. */
  onStateChange(listener: (event: EventOf<'state_change'>) => void): () => void {
    return this.ledger.onDurable((events) => {
      for (const event of events) if (event.type === 'state_change') listener(event);
    });
  }

  /**
   * Resolves when everything written so far is durable. A shared write that another session
   * forestalled is reported once; everything else has landed then.
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
   * What the object holds is recorded as seen, now and whenever shared scopes are looked at. A
   * write is put into the object and told to `onWrite` when it is durable: in order, each once, the
   * next after the promise of the one before. A process that stops between a write and its
   * `onWrite` does not tell it later: what must not be lost belongs in a scope of the store.
   * `flush` waits for `onWrite` and rejects with what it threw.
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
   * Makes the session take part in a stored shared scope, and records that. Doing it again with the
   * same id changes nothing.
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
   * Records what other sessions changed in the shared scopes. Own writes land first, or they would
   * look as if somebody had undone them.
   */
  async observeShared(options: ObserveOptions = {}): Promise<void> {
    const { names, scopeIds } = this.shared;
    const [first] = names;
    if (first === undefined) return;
    const { tape } = this.ledger.ports;
    if (tape !== undefined) return tape.observed(options.seenBy?.invocationId ?? options.path);
    for (let attempt = 1; ; attempt++) {
      await this.ledger.durable();
      // Not the last event: others may have been appended meanwhile, and the store does not have
      // them yet.
      const seq = this.ledger.durableSeq;
      const read = await this.shared.read();
      // What was written while the store was read is newer than what was read: it must not be taken
      // back.
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

  /** The whole session as JSON. Large values must have been loaded, as they are after a run. */
  toJSON(): SessionSnapshot {
    const { app, id } = this;
    const blobs = this.ledger.loadedBlobs();
    return {
      app,
      id,
      ...(this.shared.names.length > 0 ? { scopes: this.shared.scopeIds } : {}),
      events: [...this.ledger.events],
      ...(Object.keys(blobs).length > 0 ? { blobs } : {}),
    };
  }

  /** An independent copy in memory, under the same id. */
  clone(): Session<Schema> {
    return this.#parts.restore(this.toJSON(), this.#parts.schema) as unknown as Session<Schema>;
  }

  /**
   * This session as it was right after the event `seq`; 0 is before the first event. @throws
   * SeqOutOfRangeError
   */
  stateAt(seq: number): StateSnapshot {
    return snapshotAt(this.ledger.events, seq, this.ledger.resolve);
  }

  /**
   * A session of its own in memory that has the events up to `seq`, and shared state as they have
   * seen it. It can be run at once; this session does not change. `app.sessions.fork` makes one that lasts.
   * @throws SeqOutOfRangeError
   */
  forkAt(seq: number): Session<Schema> {
    checkSeq(seq, this.ledger.lastSeq);
    const snapshot = this.toJSON();
    // A name of its own: what it does outside from here on has keys of its own.
    const id = `session_${this.ledger.ports.ids.next()}`;
    const fork = this.#parts.restore(
      { ...snapshot, id, events: snapshot.events.slice(0, seq) },
      this.#parts.schema,
    );
    fork.ledger.append([forkDecision({ session: id, shared: 'isolated', from: this.id, at: seq })]);
    return fork as unknown as Session<Schema>;
  }

  /** The `seq` of the event with this id; `undefined`: there is none. */
  eventIndexOf(eventId: string): number | undefined {
    return findEventIndex(this.ledger.events, eventId);
  }

  /** Where the invocation at `path` begins and ends; `undefined`: it has not begun. */
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
      ...(scopeId === undefined ? {} : { scopeId }),
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

/** A session whatever the types of its state. */
export type AnySession = Omit<Session, 'state' | 'clone' | 'forkAt'>;

/**
 * What older snapshots and hand-written ones may say instead: `appName`, and shared state as
 * `<scope>State`.
 */
export type LooseSnapshot = Partial<SessionSnapshot> & { readonly appName?: string } & {
  readonly [scopeState: `${string}State`]: JsonObject | undefined;
};
