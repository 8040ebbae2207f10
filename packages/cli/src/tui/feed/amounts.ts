import { formatCost, formatDuration, formatTokens } from '../../output/format.ts';
import type { Totals } from './totals.ts';

/** Returns the dollars of a usage. `$?`: nothing of it has a known price. */
export function costText({ cost, isCostUnknown }: Totals): string {
  if (isCostUnknown && cost === 0) return '$?';
  return `${isCostUnknown ? '≥ ' : ''}${formatCost(cost)}`;
}

/** Returns a usage in words: `4 rounds · 12.4k tok · $0.031 · 9.8 s`. */
export function usageText(used: Totals, durationMs: number): string {
  const rounds = `${used.rounds} round${used.rounds === 1 ? '' : 's'}`;
  const cost = used.isCostUnknown && used.cost === 0 ? [] : [costText(used)];
  return [rounds, `${formatTokens(used.tokens)} tok`, ...cost, formatDuration(durationMs)].join(
    ' · ',
  );
}
