import type { JsonObject, JsonValue } from '../base/json.ts';
import { checkDrafts } from './draft-check.ts';
import type { Event, EventDraft, EventOf, StateChange } from './event.ts';
import type { Ledger } from './ledger.ts';
import { createState } from './scoped-state.ts';
import type { ScopeIds, SharedState } from './shared-state.ts';
import { visibleValues } from './state-fold.ts';
import type { StateOf, StateSchema } from './state-types.ts';
import { currentAgentName, type SessionStatus, sessionStatus } from './status.ts';

/** A session as JSON: what `toJSON` gives and `session.fromSnapshot` takes. */
export interface SessionSnapshot {
  readonly app: string;
  readonly id: string;
  readonly scopes?: ScopeIds;
  readonly events: readonly Event[];
  /** Values that the events refer to, by address. */
  readonly blobs?: Readonly<Record<string, JsonValue>>;
}

/** How often shared scopes are read again because they were written meanwhile; the next round looks again anyway. */
const observeAttempts = 5;

export interface SessionParts {
  readonly app: string;
  readonly ledger: Ledger;
  readonly shared: SharedState;
  readonly schema: StateSchema | undefined;
  /** Makes a session of its own from a snapshot, in memory. */
  readonly restore: (snapshot: SessionSnapshot, schema: StateSchema | undefined) => Session;
}

/**
 * One ledger and what is folded from it. What is written through it is visible at once and durable within a few milliseconds;
 * `flush` waits for that.
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

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.ledger.session;
    this.app = parts.app;
    this.ledger = parts.ledger;
    this.shared = parts.shared;
    this.state = createState(
      {
        sharedScopes: parts.shared.names,
        temp: {},
        read: (scope) => visibleValues(this.ledger.state, scope),
        write: (scope, changes) => this.#writeState(scope, changes),
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

  /** Name of the agent that acted last. */
  get currentAgentName(): string | undefined {
    return currentAgentName(this.ledger.events);
  }

  /** Adds a message of the user. The next prompt of a run that is under way has it; otherwise the next run does. */
  addMessage(text: string, invocationId?: string): EventOf<'user'> {
    return this.ledger.append([{ type: 'user', by: 'user', text, ...(invocationId === undefined ? {} : { invocationId }) }])[0] as EventOf<'user'>;
  }

  /**
   * Appends events as they are given, at places of their own: `v`, `seq`, `id` and `at` of events of another session are left out.
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
   * Resolves when everything written so far is durable. A shared write that another session forestalled is reported once; everything else
   * has landed then.
   * @throws SessionBusyError, LedgerConflictError, StateConflictError, StoreUnavailableError
   */
  async flush(): Promise<void> {
    await this.ledger.durable();
    const conflict = this.ledger.conflicts.shift();
    if (conflict !== undefined) throw conflict;
  }

  /** Records what other sessions changed in the shared scopes. Own writes land first, or they would look as if somebody had undone them. */
  async observeShared(): Promise<void> {
    if (this.shared.names.length === 0) return;
    for (let attempt = 1; ; attempt++) {
      await this.ledger.durable();
      const seq = this.ledger.lastSeq;
      const read = await this.shared.read();
      // What was written while the store was read is newer than what was read: it must not be taken back.
      if (attempt < observeAttempts && this.#wroteSharedSince(seq)) continue;
      const drafts = this.#wroteSharedSince(seq) ? [] : this.shared.observations(read, this.ledger.state);
      if (drafts.length > 0) this.ledger.append(drafts);
      return;
    }
  }

  #wroteSharedSince(seq: number): boolean {
    return this.ledger.events.slice(seq).some((event) => event.type === 'state_change' && event.scope in this.shared.scopeIds);
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

  #writeState(scope: string, changes: readonly StateChange[]): void {
    const scopeId = this.shared.scopeIds[scope];
    const draft: EventDraft = {
      type: 'state_change',
      by: 'operator',
      scope,
      source: 'mutation',
      changes,
      ...(scopeId === undefined ? {} : { scopeId }),
    };
    const shared = this.shared.writes(scope, changes);
    this.ledger.append([draft], shared.length > 0 ? { shared } : undefined);
  }
}

/** A session whatever the types of its state. */
export type AnySession = Omit<Session, 'state' | 'clone'>;

/** What older snapshots and hand-written ones may say instead: `appName`, and shared state as `<scope>State`. */
export type LooseSnapshot = Partial<SessionSnapshot> & { readonly appName?: string } & {
  readonly [scopeState: `${string}State`]: JsonObject | undefined;
};
