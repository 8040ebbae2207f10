import type { JsonObject } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

/**
 * Way in which a prompt became shorter. `summary` replaces the covered events by a summary. `trim`
 * and `last` leave them out. `shorten` cuts tool results to `resultLimit`. Prompts only: the ledger
 * keeps everything.
 */
export type CompactionStrategy = 'summary' | 'trim' | 'shorten' | 'last';

export interface CompactionEvent extends Envelope<'compaction'> {
  /** @default 'summary' */
  readonly strategy?: CompactionStrategy;
  /**
   * Cause of the compaction: a share of the window was reached, or the provider refused the prompt
   * as too long.
   * @default 'window'
   */
  readonly reason?: 'window' | 'overflow';
  /**
   * Ids of the events that are no longer in the prompt, in prompt order. Without those that an
   * earlier compaction covers.
   */
  readonly covers: readonly string[];
  /** Number of the newest covered messages that stay in the prompt all the same. */
  readonly overlap: number;
  /** Text that replaces everything that was covered so far. */
  readonly summary: string;
  /** Longest tool result in characters from here on. */
  readonly resultLimit?: number;
  /** Tokens of the prompt before and after, estimated. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Counts of the dropped events by kind, and the names of the tools whose results went. */
  readonly dropped?: JsonObject;
}

/** A fact to keep: prompts show it verbatim, and no compaction covers it. */
export interface MemoryEvent extends Envelope<'memory'> {
  readonly text: string;
  /** A later fact of the same key replaces this one. */
  readonly key?: string;
}

export interface ArtifactEvent extends Envelope<'artifact'> {
  readonly name: string;
  readonly version: number;
  readonly mediaType: string;
  readonly size: number;
  readonly hash: string;
}
