import type { ServiceHost } from '../../engine/services/service.ts';
import { firstSession } from '../../ledger/port/service-sessions.ts';
import { triggerKind } from './trigger-row.ts';

/** Milliseconds until a trigger that another process works on is looked at again. */
const pauseMs = 50;
/** Looks at such a trigger, at most: a caller does not wait for a process that has died. */
export const mostLooks = 20;

/**
 * Waits a moment when another process works on a trigger, and so takes in what was posted.
 * @returns false when none does
 */
export async function heldElsewhere(
  host: ServiceHost,
  tenant: string,
  name: string,
): Promise<boolean> {
  const first = firstSession(triggerKind, name);
  const newest = (await host.newest(tenant, triggerKind, name)) ?? first;
  const ledgers = host.ledgers(tenant);
  for (const session of new Set([first, newest])) {
    if ((await ledgers.turn(session))?.state !== 'taken') continue;
    await new Promise<void>((resolve) => host.host.clock.setTimer(pauseMs, resolve));
    return true;
  }
  return false;
}
