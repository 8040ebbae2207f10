import type { RequestAnswer } from 'adjutant';
import { InvalidArgumentError } from 'commander';

/** Later calls that an approval covers as well. */
export type StandingExtent = NonNullable<RequestAnswer['always']>;

/** Reads the calls that an approval covers: `call`, `tool` or `below:<folder>`. */
export function extentOf(text: string): StandingExtent {
  if (text === 'call' || text === 'tool') return text;
  const [, below = ''] = /^below:(.+)$/.exec(text) ?? [];
  if (below.trim() !== '') return { below };
  throw new InvalidArgumentError('It is call, tool or below:<folder>.');
}
