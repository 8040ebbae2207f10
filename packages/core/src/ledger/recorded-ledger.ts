import type { JsonValue } from '../base/json.ts';
import type { Event } from './event.ts';

/** A recorded ledger by itself, for exports and replays. */
export interface RecordedLedger {
  readonly app: string;
  readonly tenant: string;
  /** Id of the session that it was recorded in. */
  readonly session: string;
  readonly events: readonly Event[];
  /** Large values that the events refer to, by address. */
  readonly blobs: Readonly<Record<string, JsonValue>>;
}
