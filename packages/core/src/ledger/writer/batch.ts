import type { Event } from '../event.ts';
import type { PendingWrite } from '../pending-write.ts';
import type {
  Batch,
  ListedRow,
  RequestDraft,
  RequestSettlement,
  Send,
  SessionSummary,
  TurnPatch,
} from '../port.ts';

/** A value beside the events, kept until the events that refer to it are durable. */
export interface BatchBlob {
  readonly address: string;
  readonly bytes: Uint8Array;
}

/** Parts of one batch besides its events. */
export interface BatchExtras {
  readonly shared?: readonly PendingWrite[];
  readonly blobs?: readonly BatchBlob[];
  readonly consumes?: readonly number[];
  readonly requests?: readonly RequestDraft[];
  readonly settles?: readonly RequestSettlement[];
  readonly wakeAt?: number | null;
  readonly sends?: readonly Send[];
  readonly rows?: readonly ListedRow[];
  readonly turn?: TurnPatch;
}

/** Makes one batch of events, their extras and blobs; `summary` only when it has changed. */
export function batchOf(
  events: readonly Event[],
  extras: readonly BatchExtras[],
  blobs: readonly BatchBlob[],
  summary: SessionSummary | undefined,
): Batch {
  const batch: { -readonly [Member in keyof Batch]: Batch[Member] } = { events };
  if (summary !== undefined) batch.summary = summary;
  for (const { consumes, requests, rows, sends, settles, turn, wakeAt } of extras) {
    if (consumes !== undefined) batch.consumes = [...(batch.consumes ?? []), ...consumes];
    if (requests !== undefined) batch.requests = [...(batch.requests ?? []), ...requests];
    if (settles !== undefined) batch.settles = [...(batch.settles ?? []), ...settles];
    if (wakeAt !== undefined) batch.wakeAt = wakeAt;
    if (sends !== undefined) batch.sends = [...(batch.sends ?? []), ...sends];
    if (rows !== undefined) batch.rows = [...(batch.rows ?? []), ...rows];
    if (turn !== undefined) batch.turn = { ...batch.turn, ...turn };
  }
  if (blobs.length > 0) batch.blobs = blobs.map(({ address }) => address);
  return batch;
}

/** Checks that two entries of the session list are equal. */
export function isSameSummary(a: SessionSummary, b: SessionSummary | undefined): boolean {
  return (
    b !== undefined &&
    a.status === b.status &&
    a.title === b.title &&
    a.runnable === b.runnable &&
    a.user === b.user
  );
}
