import { defined } from '../../base/defined.ts';
import type { Claim, Taken, TurnScope } from '../../ledger/port.ts';
import type { Engine } from '../drive/engine.ts';
import type { Registry } from '../frame/registry.ts';
import { workDefaults } from '../tasks/profile.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** The part of the queue that an app serves. */
export function takeScope({ resolve, work }: RuntimeOptions, registry: Registry): TurnScope {
  // An app that finds runnables at run time may have any.
  const names = resolve === undefined ? registry.names : undefined;
  const queueLimits = work?.queueLimits;
  return defined({ names, queues: work?.queues, queueLimits, weights: work?.weights });
}

/** Maximum number of sessions that an app works on by itself at the same time. */
export function slotsOf({ recover, work }: RuntimeOptions): number | undefined {
  const { slots } = workDefaults(work);
  return work?.slots ?? slots ?? (typeof recover === 'object' ? recover.atOnce : undefined);
}

/** The claim with which a session was taken. */
export function claimOf({ session, epoch, until }: Taken, owner: string): Claim {
  return { session, owner, epoch, until, seq: 0, inboxSeq: 0, now: 0 };
}

/**
 * True when a runtime may look for runs to continue. The command line loads apps only to inspect
 * them, and must not begin to work on their sessions.
 */
export function mayRecoverByItself({ recover }: RuntimeOptions, engine?: Engine): boolean {
  if (recover === 'manual') return false;
  return engine !== undefined || process.env['ADJUTANT_RECOVER'] !== 'manual';
}
