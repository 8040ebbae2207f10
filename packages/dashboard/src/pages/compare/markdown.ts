import { escapedMarkdown } from '../../components/copy/copied-text.ts';
import { eventWords } from '../../ledger/event-words.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import type { AlignedRow } from './alignment.ts';

interface Compared {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
  readonly shared: number;
  readonly rows: readonly AlignedRow[];
}

/** Returns a comparison as a table in Markdown, for an issue or a message. */
export function markdownOf({ left, right, shared, rows }: Compared): string {
  const cell = (ledger: FollowedLedger, seq: number | undefined): string => {
    if (seq === undefined) return '';
    const event = ledger.event(seq);
    const words = event === undefined ? '' : eventWords(event);
    return escapedMarkdown(`#${seq} ${ledger.columns.typeAt(seq)} ${words}`);
  };
  return [
    `A: \`${left.session}\`, B: \`${right.session}\`. Shared: #1 to #${shared}.`,
    '',
    '| A | B |',
    '|---|---|',
    ...rows.map((row) => `| ${cell(left, row.left)} | ${cell(right, row.right)} |`),
  ].join('\n');
}
