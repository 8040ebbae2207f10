import { defined } from '../../../base/defined.ts';
import type { CompactionPlan } from '../../../context/compaction-plan.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { DecisionName } from '../../../ledger/decisions/decision-map.ts';
import type { CompactionStrategy } from '../../../ledger/event.ts';
import type { CompactionParts } from './compaction-parts.ts';

/** Recorded facts of one compaction, besides the events that it covers. */
export interface Compacted {
  readonly strategy: CompactionStrategy;
  readonly reason: 'window' | 'overflow';
  readonly summary: string;
  readonly overlap?: number;
  readonly tokensBefore: number;
  /** Characters that the compaction takes out of the prompt, without those of its summary. */
  readonly freed: number;
  readonly resultLimit?: number;
  readonly reasoning: string;
}

const decisionNames = {
  summary: 'compact',
  trim: 'trim',
  last: 'trim',
  shorten: 'shorten',
} as const satisfies Readonly<Record<CompactionStrategy, DecisionName<'context'>>>;

/** Records a compaction and the decision for it. */
export function recordCompaction(
  { frame, prompts }: CompactionParts,
  { covers, dropped }: Pick<CompactionPlan, 'covers' | 'dropped'>,
  compacted: Compacted,
): void {
  const { run, record } = frame;
  const { strategy, reason, summary, overlap = 0, tokensBefore, freed, reasoning } = compacted;
  const { resultLimit } = compacted;
  const { gauge } = prompts;
  const tokensAfter = Math.max(
    0,
    tokensBefore - gauge.tokens(freed) + gauge.tokens(summary.length),
  );
  const by = 'runtime';
  const invocationId = record.path;
  run.ledger.append([
    decision('context', decisionNames[strategy], {
      by,
      invocationId,
      reasoning,
      alternatives:
        strategy === 'summary'
          ? ['leave it out']
          : ['summarise: give `compaction.model`', 'use a model with a larger window'],
      data: { strategy, reason, tokensBefore, tokensAfter, dropped },
    }),
    {
      type: 'compaction',
      by,
      invocationId,
      strategy,
      reason,
      covers,
      overlap,
      summary,
      ...defined({ resultLimit }),
      tokensBefore,
      tokensAfter,
      dropped,
    },
  ]);
}
