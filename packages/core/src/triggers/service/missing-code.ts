import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { TriggerCode } from './trigger.ts';
import { triggerKind } from './trigger-row.ts';

/** Name of the turn of a trigger: one with functions is written by a process that has them. */
export function turnName({
  name,
  usesCode,
}: Pick<TriggerDeclaration, 'name' | 'usesCode'>): string {
  return usesCode ? `${triggerKind}:${name}` : triggerKind;
}

/**
 * True when a trigger needs a function that this process does not have. A process of an older or a
 * newer version has the trigger, and not the function.
 */
export function lacksCode(
  { on: { filtered, kind } }: TriggerDeclaration,
  { check, where }: TriggerCode,
): boolean {
  return kind === 'condition'
    ? check === undefined
    : kind === 'event' && filtered === true && where === undefined;
}
