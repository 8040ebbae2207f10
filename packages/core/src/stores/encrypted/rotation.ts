import type { DataKeys } from './data-keys.ts';
import type { KeyRecord } from './key-record.ts';
import type { KeyRecords } from './key-records.ts';
import type { KeyRing } from './key-ring.ts';

export interface RotationReport {
  /** Records of keys that there are: one for each session, and one for shared state and blobs. */
  readonly records: number;
  /** Those of them in which a key was wrapped anew. */
  readonly rewrapped: number;
  /** Records that were left by sessions whose erasure was stopped, and are gone now. */
  readonly destroyed: number;
}

export interface RotationParts {
  readonly records: KeyRecords;
  readonly dataKeys: DataKeys;
  readonly ring: KeyRing;
}

/**
 * Wraps all data keys of a tenant and app with the tenant's current key. Each record is changed in
 * one step, and what was wrapped with which key stands in it, so a rotation that was stopped is
 * gone on with by another one.
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
