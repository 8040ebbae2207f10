import { derivedKey, type SealKey, takenOver } from '../cipher.ts';
import type { KeyRecord } from './key-record.ts';

/** A segment with its unwrapped key. */
export interface Segment {
  readonly id: string;
  readonly after: number;
  /** The data key. `undefined` when it was lost with the forked session, before the fork had it. */
  readonly key: Uint8Array | undefined;
  /**
   * The key that seals content, derived from the data key. The data key also authenticates the
   * record.
   */
  readonly sealKey: SealKey | undefined;
}

export function segmentWith(id: string, after: number, key: Uint8Array | undefined): Segment {
  return { id, after, key, sealKey: key && takenOver(derivedKey(key, 'content')) };
}

/** The keys of a session, unwrapped. */
export class SessionKeys {
  readonly line: readonly string[];
  /** The segments in the order of their events. */
  readonly segments: readonly Segment[];
  /** The sealed entry of a fork that has none of its own; of older versions, its title alone. */
  readonly title: string | undefined;
  /** True when the entry in the session list is certainly sealed whole. */
  readonly sealsEntry: boolean;

  constructor(
    line: readonly string[],
    segments: readonly Segment[],
    { title, sealsEntry }: Pick<KeyRecord, 'title' | 'sealsEntry'>,
  ) {
    this.line = line;
    this.segments = segments;
    this.title = title;
    this.sealsEntry = sealsEntry === true;
  }

  /** The segment that seals new content. */
  get own(): Segment {
    return this.segments.at(-1) as Segment;
  }

  /** Returns the segment that holds an event. */
  at(seq: number): Segment {
    return this.segments.findLast(({ after }) => after < seq) ?? (this.segments[0] as Segment);
  }

  withId(id: string): Segment | undefined {
    return this.segments.find((segment) => segment.id === id);
  }
}
