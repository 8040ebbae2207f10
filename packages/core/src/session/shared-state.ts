import { defined } from '../base/defined.ts';
import { type JsonValue, sameValue } from '../base/json.ts';
import { decision } from '../ledger/decisions/decision.ts';
import type { EventDraft, StateChange } from '../ledger/event.ts';
import type { LedgerState } from '../ledger/folds/state-fold.ts';
import type { ChangeValue } from '../ledger/pending-write.ts';
import { type KnownKey, noVersion, type PendingWrite } from '../ledger/pending-write.ts';
import type { LedgerStore, SharedValue } from '../ledger/port.ts';
import type { BoundObject } from './bound-object.ts';

const noIndexes: ReadonlySet<number> = new Set();
/** Ids of the shared scopes that a session is bound to, by scope name. */
export type ScopeIds = Readonly<Record<string, string>>;

/** Values of a scope outside the session. */
interface StoredScope {
  readonly scope: string;
  /** Id of the scope; missing for an object of this process. */
  readonly scopeId: string | undefined;
  readonly stored: Readonly<Record<string, SharedValue>>;
}

/** Changes of one scope that are written together. */
export interface ScopeChanges {
  readonly scope: string;
  readonly changes: readonly StateChange[];
  /** Functions that make the values of the changes anew; `undefined` for plain values. */
  readonly again?: readonly (ChangeValue | undefined)[];
  /** Indexes of changes whose writer knew an older value. They are refused or made again. */
  readonly stale?: ReadonlySet<number>;
}

/**
 * Connection between a session and the shared scopes outside it. The session always reads the
 * values of its own ledger; `observations` record the changes outside.
 */
export class SharedState {
  readonly #store: LedgerStore;
  readonly #isolated: boolean;
  readonly #scopeIds: Record<string, string>;
  readonly #objects = new Map<string, BoundObject>();
  readonly #recorded: Set<string>;
  #names: readonly string[];
  /** State of the stored keys, as this session knows it. */
  readonly #known = new Map<string, KnownKey>();

  /**
   * Connects a session with its scopes.
   * @param recorded scopes whose ids the ledger has
   * @param isolated true when the session keeps its scopes to itself: nothing is read from outside,
   * and nothing written there
   */
  constructor(
    store: LedgerStore,
    scopeIds: ScopeIds,
    { recorded = [], isolated = false }: { recorded?: readonly string[]; isolated?: boolean } = {},
  ) {
    this.#store = store;
    this.#scopeIds = { ...scopeIds };
    this.#recorded = new Set(recorded);
    this.#isolated = isolated;
    this.#names = Object.keys(scopeIds);
  }

  get scopeIds(): ScopeIds {
    return this.#scopeIds;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  has(scope: string): boolean {
    return this.#names.includes(scope);
  }

  /** Binds the session to the stored scope with this id. */
  bind(scope: string, scopeId: string): void {
    this.#scopeIds[scope] = scopeId;
    this.#nameAll();
  }

  /** Makes an object of this process the scope. */
  bindObject(scope: string, object: BoundObject): void {
    this.#objects.set(scope, object);
    this.#nameAll();
  }

  #nameAll(): void {
    this.#names = [...new Set([...Object.keys(this.#scopeIds), ...this.#objects.keys()])];
  }

  /** Reads the present contents of the objects of this process. */
  readObjects(): StoredScope[] {
    return [...this.#objects].map(([scope, object]) => ({
      scope,
      scopeId: undefined,
      stored: object.read(),
    }));
  }

  /** Reads the present values of all scopes outside. */
  async read(): Promise<readonly StoredScope[]> {
    const scopes = this.#isolated ? [] : Object.entries(this.#scopeIds);
    const stored = await Promise.all(
      scopes.map(async ([scope, scopeId]) => ({
        scope,
        scopeId,
        stored: await this.#store.readShared(scope, scopeId),
      })),
    );
    return [...stored, ...this.readObjects()];
  }

  /**
   * Makes the events for the differences between read values and known ones. To be appended before
   * anything else happens.
   */
  observations(read: readonly StoredScope[], current: LedgerState): ObservationDraft[] {
    const drafts: ObservationDraft[] = [];
    for (const { scope, scopeId, stored } of read) {
      const known = current.scopes[scope] ?? {};
      const changes: StateChange[] = [];
      for (const key of new Set([...Object.keys(stored), ...Object.keys(known)])) {
        const entry = stored[key];
        this.#known.set(versionKey(scope, key), {
          version: entry?.version ?? 0,
          exists: entry?.value !== undefined,
        });
        const oldValue = known[key];
        if (sameValue(oldValue, entry?.value)) continue;
        changes.push({
          key,
          ...defined({ oldValue, newValue: entry?.value }),
        });
      }
      if (changes.length === 0) continue;
      this.#recorded.add(scope);
      drafts.push(observation(scope, scopeId, changes));
    }
    return drafts;
  }

  /**
   * Makes the event for scopes that the ledger does not have yet, so that they are found when the
   * session is opened again.
   */
  declaration(): EventDraft | undefined {
    const missing = this.#isolated
      ? []
      : Object.entries(this.#scopeIds).filter(([scope]) => !this.#recorded.has(scope));
    if (missing.length === 0) return undefined;
    for (const [scope] of missing) this.#recorded.add(scope);
    return decision('shared_state', 'bind_scopes', {
      reasoning:
        'The session takes part in ' +
        `${missing.map(([scope, scopeId]) => `the ${scope} state of "${scopeId}"`).join(' and ')}.`,
      data: { scopes: Object.fromEntries(missing) },
    });
  }

  /**
   * The value of a key after all writes on their way. The ends of concurrent bodies wait for each
   * other before they are in the ledger.
   * @param recorded value in the ledger
   */
  latest(scope: string, key: string, recorded: JsonValue | undefined): JsonValue | undefined {
    const drafted = this.#known.get(versionKey(scope, key))?.drafted;
    return drafted === undefined ? recorded : drafted.value;
  }

  /**
   * Makes the writes for the store from a change of a shared scope, based on the versions that this
   * session saw last.
   */
  writes({ scope, changes, again, stale = noIndexes }: ScopeChanges): PendingWrite[] {
    const scopeId = this.#scopeIds[scope];
    if (scopeId === undefined) return [];
    this.#recorded.add(scope);
    if (this.#isolated) {
      for (const { key, newValue } of changes)
        this.#known.set(versionKey(scope, key), { ...unstored, drafted: { value: newValue } });
      return [];
    }
    return changes.map(({ key, newValue }, index) => {
      const name = versionKey(scope, key);
      const replaced = (now: KnownKey | undefined): void =>
        void this.#known.set(name, now ?? { version: noVersion, exists: true });
      const pending = { again: again?.[index], replaced };
      if (stale.has(index))
        return {
          ...pending,
          write: { scope, scopeId, key, value: newValue, baseVersion: noVersion },
        };
      const { version, exists } = this.#known.get(name) ?? { version: 0, exists: false };
      // After a write that will be refused, the key is unknown until the scope is read again.
      if (version !== noVersion)
        this.#known.set(name, {
          version: version + 1,
          exists: newValue !== undefined,
          drafted: { value: newValue },
        });
      return {
        ...pending,
        write: { scope, scopeId, key, value: newValue, baseVersion: exists ? version : 0 },
      };
    });
  }
}

type ObservationDraft = Extract<EventDraft, { type: 'state_change' }>;

/** Makes the record of an observation of a scope. */
export function observation(
  scope: string,
  scopeId: string | undefined,
  changes: readonly StateChange[],
): ObservationDraft {
  return {
    type: 'state_change',
    by: 'runtime',
    scope,
    ...defined({ scopeId }),
    source: 'observation',
    changes,
  };
}

/** Assumed state of a key that the store is not asked for. */
const unstored = { version: 0, exists: false } as const;

function versionKey(scope: string, key: string): string {
  return `${scope}\n${key}`;
}
