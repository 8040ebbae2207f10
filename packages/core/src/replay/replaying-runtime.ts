import type { ReplayedLedger } from '../engine/app/replayed-ledger.ts';
import { places } from '../engine/app/runtime-places.ts';
import type { AppPlace } from '../engine/app/shared-app.ts';
import type { Registry } from '../engine/frame/registry.ts';
import { type Runtime, runtimeAt } from '../runtime.ts';
import type { Runnable } from '../session/runnable.ts';

/**
 * Makes a runtime of the same definitions that goes on from the first events of a record and is
 * held against the rest of it.
 * @throws LedgerUnreadableError
 */
export async function replayingRuntime(app: Runtime, replayed: ReplayedLedger): Promise<Runtime> {
  const shared = await placeIn(app).shared.replaying(replayed);
  return runtimeAt({ shared, own: shared.home });
}

/** The runnable that an app knows by a name. @throws UnknownRunnableError */
export function registeredRunnable(app: Runtime, name: string): Runnable {
  return registryOf(app).get(name);
}

function placeIn(app: Runtime): AppPlace {
  return places.get(app) as AppPlace;
}

/** The definitions of an app: what is registered, by name. */
export function registryOf(app: Runtime): Registry {
  return placeIn(app).own.services.registry;
}
