import type { JsonValue } from '../base/json.ts';
import { withBlobs } from '../ledger/blobs/load-blobs.ts';
import { SessionNotFoundError } from '../ledger/errors.ts';
import type { Event } from '../ledger/event.ts';
import type { LedgerPorts } from '../ledger/ledger.ts';
import type { FoldSnapshot } from '../ledger/port.ts';
import { refuseSealed } from '../ledger/sealed-event.ts';
import { pointSnapshotKey } from './snapshot-key.ts';
import { checkSeq, type StateSnapshot, snapshotOf } from './time-travel.ts';
import {
  foldPoint,
  type LedgerPoint,
  pointFromJson,
  pointToJson,
  startPoint,
} from './time-travel-fold.ts';

/** Least number of events between two stored snapshots. */
const leastSpacing = 2_000;
/**
 * Largest number of snapshot bytes for each event since the last snapshot. So snapshots stay a
 * small part of the ledger.
 */
const bytesPerEvent = 64;

/**
 * Folds a stored ledger up to `seq`, from the last snapshot on, and stores snapshots for later
 * calls. It needs no claim and writes no event.
 * @param onLast gets the event `seq`, and the point before it
 */
export async function pointAt(
  { host, store }: Pick<LedgerPorts, 'host' | 'store'>,
  session: string,
  seq: number,
  onLast?: (before: LedgerPoint, event: Event) => void,
): Promise<LedgerPoint> {
  const known = onLast === undefined ? seq : seq - 1;
  const snapshot =
    known < 1 ? undefined : await store.getSnapshot(session, pointSnapshotKey(), known);
  const point = snapshot === undefined ? startPoint() : pointFromJson(snapshot.value, snapshot.seq);
  if (point.seq === seq) return point;
  const made: FoldSnapshot[] = [];
  let kept = point.seq;
  // A point mostly grows: one that was too long is not written again before it can be short enough.
  let spacing = leastSpacing;
  for await (const page of store.read(session, { after: point.seq, upTo: seq })) {
    refuseSealed(page, session);
    for (const event of page) {
      if (event.seq === seq) onLast?.(point, event);
      foldPoint(point, event);
      const turn = host.turns.pass();
      if (turn !== undefined) await turn;
    }
    if (point.seq - kept < spacing) continue;
    const value = pointToJson(point);
    spacing = Math.max(leastSpacing, Math.ceil(lengthOf(value) / bytesPerEvent));
    if (point.seq - kept < spacing) continue;
    kept = point.seq;
    made.push({ key: pointSnapshotKey(), seq: kept, value });
  }
  // Not awaited: without a snapshot, the next call folds a few more events.
  for (const one of made) void store.putSnapshot(session, one).catch(() => undefined);
  return point;
}

function lengthOf(value: JsonValue): number {
  return JSON.stringify(value).length;
}

/**
 * Returns a place in a stored ledger, and that of its last event.
 * @param seq @default the last event
 * @throws SessionNotFoundError, SeqOutOfRangeError
 */
export async function placeIn(
  { store, scope }: Pick<LedgerPorts, 'store' | 'scope'>,
  session: string,
  seq?: number,
): Promise<{ readonly at: number; readonly last: number }> {
  const head = await store.head(session);
  if (head === undefined) throw new SessionNotFoundError({ session, app: scope.app });
  const at = seq ?? head.seq;
  checkSeq(at, head.seq);
  return { at, last: head.seq };
}

/**
 * Returns a stored session as it was right after the event `seq`, without claiming it.
 * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
 */
export async function storedStateAt(
  ports: Pick<LedgerPorts, 'host' | 'store' | 'scope'>,
  session: string,
  seq?: number,
): Promise<StateSnapshot> {
  const { at } = await placeIn(ports, session, seq);
  const recorded = snapshotOf(await pointAt(ports, session, at), (value) => value);
  return withBlobs(recorded, ports, session);
}
