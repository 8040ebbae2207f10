import type { DataKeys } from './data-keys.ts';
import type { KeyRecord } from './key-record.ts';
import type { KeyRecords } from './key-records.ts';

export interface RotationReport {
  /** Records of keys that there are: one for each session, and one for shared state and blobs. */
  readonly records: number;
  /** Those of them in which a key was wrapped anew. */
  readonly rewrapped: number;
}

/**
 * Wraps all data keys of a tenant and app with the tenant's current key. Each record is changed in one step, and what was wrapped with which key
 * stands in it, so a rotation that was stopped is gone on with by another one.
 */
export async function rotateKeys(records: KeyRecords, dataKeys: DataKeys): Promise<RotationReport> {
  const current = await dataKeys.currentKeyId();
  let count = 0;
  let rewrapped = 0;
  for await (const { name, record } of records.all()) {
    count += 1;
    if (!isBehind(record, current)) continue;
    await records.change(name, async (found) => {
      if (found === undefined || !isBehind(found, current)) return undefined;
      const segments = found.segments.map((segment) => (segment.keyId === current ? segment : dataKeys.rewrap(segment)));
      return { ...found, segments: await Promise.all(segments) };
    });
    rewrapped += 1;
  }
  return { records: count, rewrapped };
}

function isBehind({ segments }: KeyRecord, current: string): boolean {
  return segments.some(({ keyId }) => keyId !== undefined && keyId !== current);
}
