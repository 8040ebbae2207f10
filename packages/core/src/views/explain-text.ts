import { visibleText } from '../base/text/visible-text.ts';
import type { ExplainedDecision } from './explain.ts';

/** Explained decisions as lines for a terminal. */
export function explainText(explained: readonly ExplainedDecision[]): string {
  if (explained.length === 0) return 'Nothing was decided that needs an explanation.\n';
  let run: string | undefined;
  const lines: string[] = [];
  for (const entry of explained) {
    if (lines.length === 0 || entry.run !== run)
      lines.push(
        ...(lines.length === 0 ? [] : ['']),
        entry.run === undefined ? 'Session' : `Run ${oneLine(entry.run)}`,
      );
    run = entry.run;
    lines.push(
      `  ${entry.seq}. ${oneLine(entry.what)} [${oneLine(entry.component)}: ` +
        `${oneLine(entry.decision)}]`,
    );
    lines.push(`     Why: ${oneLine(entry.why)}`);
    if (entry.alternatives.length > 0)
      lines.push(`     Also considered: ${entry.alternatives.map(oneLine).join('; ')}`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Puts `text` into one line. Ledgers hold text of models and tools: their control characters are
 * made visible, so that none reaches a terminal and none is lost.
 */
function oneLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}
