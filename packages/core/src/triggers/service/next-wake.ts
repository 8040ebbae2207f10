import type { Firing, TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import { dueFirings } from '../firings/due-firings.ts';
import type { FiringPolicy } from '../firings/policy.ts';
import { nextInstant } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';
import type { TriggerState } from './trigger-state.ts';

/** Milliseconds for which a full queue is asked again for a firing that no next one replaces. */
const askedAgainForMs = 3_600_000;

/** The trigger itself: after a deletion, one of the same name is another one. */
export function identityOf({ declaration, life }: TriggerState): string {
  return `trigger:${declaration?.name}:${life}`;
}

/** Next instant or check of a trigger; `null` when there is none. */
export function wakeOf(state: TriggerState): number | null {
  const { anchor, considered, declaration, firedAt, status } = state;
  if (declaration === undefined || status !== 'active') return null;
  const { on } = declaration;
  if (on['kind'] === 'event' || on['kind'] === 'webhook') return null;
  if (on['kind'] === 'condition') return nextCheck(state, declaration);
  const policy = declaration as unknown as FiringPolicy;
  const next = dueFirings(on as unknown as Schedule, policy, {
    ...{ considered, anchor, triggerId: identityOf(state), firedAt, now: considered },
  });
  return next.wakeAt ?? null;
}

/** Instant at which a condition is checked next. */
export function nextCheck({ anchor, condition }: TriggerState, { on }: TriggerDeclaration): number {
  const everyMs = Number((on as { readonly everyMs?: number }).everyMs);
  const before = condition?.checkedAt;
  if (before === undefined || before < anchor) return anchor;
  return anchor + (Math.floor((before - anchor) / everyMs) + 1) * everyMs;
}

/**
 * Instant until which a full queue is asked again: that of the next firing of a schedule, so that
 * two are not submitted at once; else an hour.
 */
export function expiryOf(
  state: TriggerState,
  { instant, kind }: Pick<Firing, 'instant' | 'kind'>,
  now: number,
): number {
  const { anchor, declaration } = state;
  const anHour = now + askedAgainForMs;
  if (declaration === undefined || kind !== 'schedule' || declaration.missed === 'all')
    return anHour;
  const next = nextInstant(declaration.on as unknown as Schedule, {
    ...{ after: instant, anchor, triggerId: identityOf(state) },
  });
  return next === undefined || next.firesAt <= now ? anHour : next.firesAt;
}
