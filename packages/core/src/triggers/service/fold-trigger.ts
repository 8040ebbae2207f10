import { begunName } from '../../engine/services/begun-name.ts';
import type { FoldedService, UnheldSession } from '../../engine/services/service.ts';
import { subscriptionRow } from '../../engine/services/topics.ts';
import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { InboxEntry, ListedRow } from '../../ledger/port.ts';
import { turnName } from './missing-code.ts';
import { wakeOf } from './next-wake.ts';
import { patternOf, triggerKind, triggerRow } from './trigger-row.ts';
import { type TriggerState, triggerState } from './trigger-state.ts';

/** The rows and the turn of a trigger, as its ledger and its inbox say. */
export function foldTrigger({ events, id, inbox }: UnheldSession): FoldedService | undefined {
  const state = triggerState(events, begunState(inbox));
  const declaration = state.declaration ?? postedDeclaration(inbox);
  if (declaration === undefined) return undefined;
  const { name } = declaration;
  const runnable = turnName(declaration);
  return { name, runnable, rows: rowsOf(state, runnable, id), wakeAt: wakeOf(state) };
}

function rowsOf(state: TriggerState, runnable: string, session: string): readonly ListedRow[] {
  const { anchor, declaration } = state;
  if (declaration === undefined) return [];
  const pattern = patternOf(state);
  const of = { kind: triggerKind, name: declaration.name, runnable };
  return [
    triggerRow(state, wakeOf(state), session),
    ...(pattern === undefined ? [] : [subscriptionRow(of, pattern, anchor)]),
  ];
}

/** State of a trigger that has rolled, which its new session has not taken over yet. */
function begunState(inbox: readonly InboxEntry[]): TriggerState | undefined {
  const item = inbox.find((entry) => begunName(entry) !== undefined);
  return item?.data['state'] as unknown as TriggerState | undefined;
}

/** The declaration of a trigger that nobody has taken in. */
function postedDeclaration(inbox: readonly InboxEntry[]): TriggerDeclaration | undefined {
  const item = inbox.find(({ data }) => data['command'] === 'declare');
  return item?.data['declaration'] as unknown as TriggerDeclaration | undefined;
}
