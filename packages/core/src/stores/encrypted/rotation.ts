import type { DataKeys } from './keys/data-keys.ts';
import type { KeyRecord } from './keys/key-record.ts';
import type { KeyRecords } from './keys/key-records.ts';
import type { KeyRing } from './keys/key-ring.ts';

export interface RotationReport {
  /** Number of key records: one for each session, and one for shared state and blobs. */
  readonly records: number;
  /** Number of records in which a key was wrapped again. */
  readonly rewrapped: number;
  /** Number of records that an interrupted erasure of sessions had left, and that are gone now. */
  readonly destroyed: number;
}

export interface RotationParts {
  readonly records: KeyRecords;
  readonly dataKeys: DataKeys;
  readonly ring: KeyRing;
}

/**
 * Wraps all data keys of a tenant and app with the tenant's current key. Each record changes in one
 * step and names the keys that wrapped it, so another rotation can complete an interrupted one.
 */
export async function rotateKeys({
  records,
  dataKeys,
  ring,
}: RotationParts): Promise<RotationReport> {
  const current = await dataKeys.currentKeyId();
  const report = { records: 0, rewrapped: 0, destroyed: 0 };
  for await (const { name, record } of records.all()) {
    if (record.from === undefined && (await ring.destroyIfGone(name))) {
      report.destroyed += 1;
      continue;
    }
    report.records += 1;
    if (!isBehind(record, current)) continue;
    await records.change(name, async (found) => {
      if (found === undefined || !isBehind(found, current)) return undefined;
      const segments = found.segments.map((segment) =>
        segment.keyId === current ? segment : dataKeys.rewrap(segment),
      );
      return { ...found, segments: await Promise.all(segments) };
    });
    report.rewrapped += 1;
  }
  return report;
}

function isBehind({ segments }: KeyRecord, current: string): boolean {
  return segments.some(({ keyId }) => keyId !== undefined && keyId !== current);
}
