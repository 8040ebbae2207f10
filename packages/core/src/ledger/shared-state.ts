import { canonicalJson, type JsonValue } from '../base/json.ts';
import type { EventDraft, StateChange } from './event.ts';
import type { LedgerStore, SharedWrite } from './port.ts';
import type { LedgerState } from './state-fold.ts';

const noKeys: ReadonlySet<string> = new Set();
/** A version that no key has. */
const noVersion = -1;

/** Ids of the shared scopes that a session takes part in, by scope name. */
export type ScopeIds = Readonly<Record<string, string>>;

/** The stored values of each scope. */
type StoredScopes = readonly { readonly scope: string; readonly scopeId: string; readonly stored: Awaited<ReturnType<LedgerStore['readShared']>> }[];

/**
 * The link between a session and the shared scopes outside it. What the session reads is always what its own ledger recorded;
 * `refresh` records what has changed outside since.
 */
export class SharedState {
  readonly scopeIds: ScopeIds;
  readonly #store: LedgerStore;
  readonly #isolated: boolean;
  /** What this session knows of the stored keys. */
  readonly #known = new Map<string, { readonly version: number; readonly exists: boolean }>();

  /** @param isolated what the session knows of the scopes is its own: nothing is read from outside, and nothing written there */
  constructor(store: LedgerStore, scopeIds: ScopeIds, isolated = false) {
    this.#store = store;
    this.scopeIds = scopeIds;
    this.#isolated = isolated;
  }

  get names(): readonly string[] {
    return Object.keys(this.scopeIds);
  }

  /** What the store has of all scopes now. */
  async read(): Promise<StoredScopes> {
    const scopes = this.#isolated ? [] : Object.entries(this.scopeIds);
    return Promise.all(scopes.map(async ([scope, scopeId]) => ({ scope, scopeId, stored: await this.#store.readShared(scope, scopeId) })));
  }

  /** The events that record how what was read differs from what this session knows. To be appended before anything else happens. */
  observations(read: StoredScopes, current: LedgerState): EventDraft[] {
    const drafts: EventDraft[] = [];
    for (const { scope, scopeId, stored } of read) {
      const known = current.scopes[scope] ?? {};
      const changes: StateChange[] = [];
      for (const key of new Set([...Object.keys(stored), ...Object.keys(known)])) {
        const entry = stored[key];
        this.#known.set(versionKey(scope, key), { version: entry?.version ?? 0, exists: entry?.value !== undefined });
        const oldValue = known[key];
        if (sameValue(oldValue, entry?.value)) continue;
        changes.push({ key, ...(oldValue === undefined ? {} : { oldValue }), ...(entry?.value === undefined ? {} : { newValue: entry.value }) });
      }
      if (changes.length > 0) drafts.push({ type: 'state_change', by: 'runtime', scope, scopeId, source: 'observation', changes });
    }
    return drafts;
  }

  /**
   * The store's part of a change of a shared scope, based on the versions that this session saw last.
   * @param stale keys of which the writer knew an older value: their writes are to be refused
   */
  writes(scope: string, changes: readonly StateChange[], stale: ReadonlySet<string> = noKeys): SharedWrite[] {
    const scopeId = this.scopeIds[scope];
    if (scopeId === undefined || this.#isolated) return [];
    return changes.map(({ key, newValue }) => {
      if (stale.has(key)) return { scope, scopeId, key, value: newValue, baseVersion: noVersion };
      const name = versionKey(scope, key);
      const { version, exists } = this.#known.get(name) ?? { version: 0, exists: false };
      this.#known.set(name, { version: version + 1, exists: newValue !== undefined });
      return { scope, scopeId, key, value: newValue, baseVersion: exists ? version : 0 };
    });
  }
}

function versionKey(scope: string, key: string): string {
  return `${scope}\n${key}`;
}

function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}
