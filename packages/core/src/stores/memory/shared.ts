import type { SharedValue, SharedWrite } from '../../ledger/port.ts';
import { checkSharedWrites } from '../batch.ts';

/** The shared scopes of one tenant and app in memory. */
export class MemorySharedState {
  readonly #scopes = new Map<string, Map<string, SharedValue>>();

  /** @throws StateConflictError */
  check(writes: readonly SharedWrite[]): void {
    checkSharedWrites(writes, ({ scope, scopeId, key }) =>
      this.#scopes.get(scopeKey(scope, scopeId))?.get(key),
    );
  }

  write(writes: readonly SharedWrite[]): void {
    for (const { scope, scopeId, key, value } of writes) {
      const name = scopeKey(scope, scopeId);
      const values = this.#scopes.get(name) ?? new Map<string, SharedValue>();
      this.#scopes.set(name, values);
      values.set(key, { value, version: (values.get(key)?.version ?? 0) + 1 });
    }
  }

  read(scope: string, scopeId: string): Readonly<Record<string, SharedValue>> {
    return Object.fromEntries(this.#scopes.get(scopeKey(scope, scopeId)) ?? []);
  }
}

function scopeKey(scope: string, scopeId: string): string {
  return JSON.stringify([scope, scopeId]);
}
