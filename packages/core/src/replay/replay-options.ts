import type { JsonValue } from '../base/json.ts';

export interface ReplayOptions {
  /**
   * Source of the answers of models: the record, or the models themselves.
   * @default 'recorded'
   */
  readonly model?: 'recorded' | 'live';
  /**
   * Source of the results of tools and of `ctx.effect`: the record, or running them. Live ones have
   * their effects in the world again. The replay then goes on after a divergence, and reports all
   * of them.
   * @default 'recorded'
   */
  readonly tools?: 'recorded' | 'live';
  /**
   * The `seq` of the last event that is replayed; the record must have it. @default the last one of
   * the record
   */
  readonly until?: number;
  /**
   * Applied to both sides before they are compared. Replaces values that differ for good reasons by
   * the same value, as redaction does.
   */
  readonly normalize?: (value: JsonValue) => JsonValue;
  /**
   * Milliseconds of real time that code may take for work of its own, such as reading a file in a
   * step. Code that takes longer counts as not done.
   * @default 2_000
   */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}
