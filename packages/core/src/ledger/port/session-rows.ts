import type { ListedRow } from './listed-rows.ts';
import type { RequestRow } from './request-rows.ts';
import type { SessionSummary } from './session-listing.ts';
import type { StoreTime } from './store-time.ts';
import type { TurnSettings } from './turns.ts';

/** A turn as it follows from a ledger and its inbox. */
export interface RebuiltTurn extends TurnSettings {
  /** Instant at which the work last became able to run. */
  readonly since: number;
  /**
   * Missing: it is ready. Else it rests until that instant, until an item wakes it (`null`), or
   * until its session wants to be woken. `softMs` and `hardMs` are what is left of the deadlines:
   * now while it rests, else at `since`.
   */
  readonly rests?: number | null | 'until_wake';
  readonly suspended?: boolean;
  /** Number of callers that it stands for. @default 1 */
  readonly interests?: number;
  /** True when it has a place of its concurrency key. @default false */
  readonly holds?: boolean;
  /** Instant from which control work is due. @default none */
  readonly controlAt?: number;
  /** True to put it before all others of its level. @default false */
  readonly toFront?: boolean;
}

/**
 * Rows of one session that follow from its ledger and its inbox. Each part replaces what the store
 * has of it; a part that is missing stays.
 */
export interface SessionRows {
  readonly summary?: SessionSummary;
  /** All requests of the session. */
  readonly requests?: readonly RequestRow[];
  /** All listed rows of these kinds; those of other kinds stay. */
  readonly listed?: { readonly kinds: readonly string[]; readonly rows: readonly ListedRow[] };
  /** `null`: the session has no turn. One that was made without a task stays then. */
  readonly turn?: RebuiltTurn | null;
}

export interface ReplaceReceipt extends StoreTime {
  /** False when something was written or posted meanwhile: nothing was replaced. */
  readonly replaced: boolean;
}
