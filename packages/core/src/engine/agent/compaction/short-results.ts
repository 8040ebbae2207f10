import { lengthOf } from '../../../context/message-encoder.ts';
import type { Model } from '../../../models/model.ts';
import type { CompactionParts } from './compaction-parts.ts';
import { recordCompaction } from './compaction-record.ts';

/** Most characters of a tool result after a refused prompt. */
const shortResults = 2_000;

const nothingCovered = { covers: [], dropped: {} } as const;

/**
 * Shortens the tool results of a prompt of so many `tokens`. Returns `false` when all of them are
 * short already.
 */
export function shortenResults(
  parts: CompactionParts,
  { tokens, model, why }: { readonly tokens: number; readonly model: Model; readonly why: string },
): boolean {
  const { position, prompts, frame } = parts;
  const limit = Math.min(
    position.prompt.resultLimit ?? Number.POSITIVE_INFINITY,
    prompts.resultLimitOf(model),
  );
  const { resolve } = frame.run.ledger;
  let freed = 0;
  for (const event of prompts.history?.events() ?? []) {
    if (event.type === 'tool_result')
      freed += Math.max(0, Math.min(limit, lengthOf(resolve(event.result.content))) - shortResults);
  }
  if (freed === 0 || limit <= shortResults) return false;
  recordCompaction(parts, nothingCovered, {
    strategy: 'shorten',
    reason: 'overflow',
    summary: '',
    resultLimit: shortResults,
    tokensBefore: tokens,
    freed,
    reasoning: `${why} Tool results are shortened to ${shortResults} characters.`,
  });
  return true;
}
