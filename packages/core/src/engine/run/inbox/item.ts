import type { JsonObject } from '../../../base/json.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { InboxEntry, RequestDraft } from '../../../ledger/port.ts';

/** The events of one inbox item, and its effect on the run. */
export interface ItemOutcome {
  readonly drafts: readonly EventDraft[];
  readonly act?: (() => void) | undefined;
  /** True when a run that waits has nothing to do because of the item. @default false */
  readonly isNote?: boolean;
  readonly requests?: readonly RequestDraft[] | undefined;
}

/** Records that an inbox item has no effect, and why. */
export function refusal(entry: InboxEntry, reasoning: string, data: JsonObject = {}): EventDraft {
  return decision('inbox', 'refuse', {
    reasoning,
    data: { ...data, type: entry.type, by: entry.by },
  });
}

/** Records that a message of this ledger to another one did not arrive. */
export function deadLetterDraft({ data }: InboxEntry): EventDraft {
  const [to, key, type, reason] = ['to', 'key', 'type', 'reason'].map(
    (member) => textOf(data, member) ?? '',
  ) as [string, string, string, string];
  return decision('outbox', 'dead_letter', {
    reasoning: `A message to "${to}" did not arrive (${reason}).`,
    data: { to, key, type, reason },
  });
}

/** Returns a member of an item's data when it is a text. */
export function textOf(data: JsonObject, member: string): string | undefined {
  const value = data[member];
  return typeof value === 'string' ? value : undefined;
}
