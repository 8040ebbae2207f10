import { contentHash } from '../base/hash.ts';
import { eventVersions } from '../ledger/event.ts';
import { pointFoldVersion } from './time-travel-fold.ts';

let key: string | undefined;

/** Name of this build's fold and event types. Snapshots of other builds are ignored. */
export function pointSnapshotKey(): string {
  key ??= `point@${pointFoldVersion}/${contentHash(eventVersions)}`;
  return key;
}
