import { begunName } from '../../engine/services/begun-name.ts';
import type { FoldedService, UnheldSession } from '../../engine/services/service.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import { notifierKind } from '../../ledger/port/service-sessions.ts';
import { noticeOf } from './incoming-notice.ts';
import { type AcceptedNotice, notifierState } from './notifier-state.ts';

/** The turn of the notices of one recipient, as their ledger and their inbox say. */
export function foldNotifier(session: UnheldSession): FoldedService | undefined {
  const name = recipientOf(session);
  if (name === undefined) return undefined;
  const { waiting } = notifierState(session.events);
  // Quiet hours and intervals are settings: its instant is found by looking.
  const wake = waiting.length === 0 ? { wakeAt: null } : {};
  return { name, runnable: notifierKind, rows: [], ...wake };
}

function recipientOf({ events, inbox, tenant }: UnheldSession): string | undefined {
  for (const event of events) {
    if (isDecision(event, 'service', 'begin')) return event.data?.name;
    if (isDecision(event, 'notifier', 'accept'))
      return (event.data?.notice as unknown as AcceptedNotice | undefined)?.user;
  }
  for (const entry of inbox) {
    const name = begunName(entry) ?? noticeOf(entry, tenant)?.user;
    if (name !== undefined) return name;
  }
  return undefined;
}
