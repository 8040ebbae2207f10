import type { JsonValue } from '../base/json.ts';
import type { Event } from './event.ts';

/** A recorded ledger by itself: what is exported, and what is replayed. */
export interface RecordedLedger {
  readonly app: string;
  readonly tenant: string;
  /** Id of the session that it was recorded in. */
  readonly session: string;
  readonly events: readonly Event[];
  /** Values that the events refer to because of their size, by address. */
  readonly blobs: Readonly<Record<string, JsonValue>>;
}
