import type { JsonObject } from '../../../base/json.ts';
import type { EventOf } from '../../../ledger/event.ts';
import type { CompactionParts } from './compaction-parts.ts';
import { recordCompaction } from './compaction-record.ts';
import { planHistory } from './history-plan.ts';

/** Limits of a prompt out of which old messages are left. */
export interface TrimRequest {
  readonly strategy: 'trim' | 'last';
  readonly reason: 'window' | 'overflow';
  /** Most messages that stay. */
  readonly keep: number;
  /** Most characters of the messages that stay. */
  readonly room: number;
  /** Tokens of the prompt. */
  readonly tokens: number;
  /** Sentence that says why the prompt must become shorter. */
  readonly why: string;
}

/** Leaves old messages out of the prompt. Returns `false` when there are none to leave out. */
export function trimHistory(parts: CompactionParts, request: TrimRequest): boolean {
  const { strategy, reason, keep, room, tokens, why } = request;
  const { history } = parts.prompts;
  const plan =
    history === undefined ? undefined : planHistory(parts, history, { keep, room, overlap: 0 });
  if (plan === undefined) return false;
  const resolve = parts.frame.run.ledger.resolve;
  const total = plan.replaced.reduce(
    (sum, { dropped }) => sum + leftOutBefore(dropped),
    plan.messages,
  );
  const summary = [
    ...plan.replaced.map((compaction) => withoutNote(compaction, resolve)),
    leftOutNote(total),
  ]
    .filter((text) => text !== '')
    .join('\n');
  const left = `${plan.messages} messages were left out`;
  recordCompaction(
    parts,
    { ...plan, dropped: { ...plan.dropped, leftOut: total } },
    {
      strategy,
      reason,
      summary,
      tokensBefore: tokens,
      freed: plan.freed,
      reasoning: `${why} ${left}: the newest stay, at most ${keep}.`,
    },
  );
  return true;
}

function leftOutNote(messages: number): string {
  return `[${messages} earlier messages were left out here to make room.]`;
}

function leftOutBefore(dropped: JsonObject | undefined): number {
  return typeof dropped?.['leftOut'] === 'number' ? dropped['leftOut'] : 0;
}

/**
 * Returns the text of a replaced summary without its note about left-out messages: their count is
 * made anew.
 */
function withoutNote(
  { summary, dropped }: EventOf<'compaction'>,
  resolve: (value: unknown) => unknown,
): string {
  const text = String(resolve(summary));
  const note = leftOutNote(leftOutBefore(dropped));
  return text.endsWith(note) ? text.slice(0, -note.length).trimEnd() : text;
}
