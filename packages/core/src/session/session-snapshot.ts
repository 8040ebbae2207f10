import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';
import type { ScopeIds } from './shared-state.ts';

/** A session as JSON, from `toJSON` and for `session.fromSnapshot`. */
export interface SessionSnapshot {
  readonly app: string;
  readonly id: string;
  readonly scopes?: ScopeIds;
  readonly events: readonly Event[];
  /** Large values that the events refer to, by address. */
  readonly blobs?: Readonly<Record<string, JsonValue>>;
}

/**
 * Members that older and hand-written snapshots may have: `appName`, and shared state as
 * `<scope>State`.
 */
export type LooseSnapshot = Partial<SessionSnapshot> & { readonly appName?: string } & {
  readonly [scopeState: `${string}State`]: JsonObject | undefined;
};
