import { StateConflictError } from '../ledger/errors.ts';
import type { SharedValue, SharedWrite } from '../ledger/port.ts';

/** A deleted key keeps its version, so that a version never comes back with another value. */
type StoredValue = { readonly value: SharedValue['value'] | undefined; readonly version: number };

/** The shared scopes of one tenant and app in memory. */
export class MemorySharedState {
  readonly #scopes = new Map<string, Map<string, StoredValue>>();

  /** @throws StateConflictError */
  check(writes: readonly SharedWrite[]): void {
    const stale = writes.filter((write) => this.#versionOf(write) !== write.baseVersion);
    const first = stale[0];
    if (first === undefined) return;
    const keys = stale.filter((write) => write.scope === first.scope && write.scopeId === first.scopeId).map((write) => write.key);
    throw new StateConflictError({ scope: first.scope, scopeId: first.scopeId, keys });
  }

  write(writes: readonly SharedWrite[]): void {
    for (const { scope, scopeId, key, value } of writes) {
      const name = scopeKey(scope, scopeId);
      const values = this.#scopes.get(name) ?? new Map<string, StoredValue>();
      this.#scopes.set(name, values);
      values.set(key, { value, version: (values.get(key)?.version ?? 0) + 1 });
    }
  }

  read(scope: string, scopeId: string): Readonly<Record<string, SharedValue>> {
    const present: [string, SharedValue][] = [];
    for (const [key, { value, version }] of this.#scopes.get(scopeKey(scope, scopeId)) ?? []) {
      if (value !== undefined) present.push([key, { value, version }]);
    }
    return Object.fromEntries(present);
  }

  #versionOf(write: SharedWrite): number {
    const stored = this.#scopes.get(scopeKey(write.scope, write.scopeId))?.get(write.key);
    return stored?.value === undefined ? 0 : stored.version;
  }
}

function scopeKey(scope: string, scopeId: string): string {
  return JSON.stringify([scope, scopeId]);
}
