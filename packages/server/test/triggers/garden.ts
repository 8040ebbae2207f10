import { memoryStore, type Runtime, type RuntimeOptions, runtime } from 'adjutant';
import { consoleChannel, notifications } from 'adjutant/notifications';
import { action, type Trigger, triggers } from 'adjutant/triggers';
import type { ApiKeys } from '../../src/access/api-keys.ts';
import type { AdjutantServer } from '../../src/index.ts';
import { type Caller, callerTo } from '../rest/caller.ts';

/** An app with triggers, whose action `water` remembers what it was started for. */
export function garden(
  declared: (start: ReturnType<typeof action>) => readonly Trigger[] = () => [],
  options: Partial<RuntimeOptions> = {},
): { readonly app: Runtime; readonly watered: unknown[] } {
  const watered: unknown[] = [];
  const water = action({
    name: 'water',
    execute: ({ about }) => {
      watered.push(about?.body ?? about?.data ?? null);
      return 'watered';
    },
  });
  const weed = action({ name: 'weed', execute: () => 'weeded' });
  const app = runtime({
    app: 'garden',
    store: memoryStore(),
    recover: 'manual',
    runnables: [water, weed],
    triggers: triggers(declared(water)),
    notifications: notifications({ channels: [consoleChannel({ name: 'mail' })] }),
    ...options,
  });
  return { app, watered };
}

/** Does everything that a worker would do now. */
export async function worked(app: Runtime): Promise<void> {
  for (const run of await app.recovery.resumeStopped()) await run;
  await app.recovery.resumeStopped();
}

/** Calls a server with a key of an operator that is bound to something. */
export async function keyed(
  api: AdjutantServer,
  keys: ApiKeys,
  bound: object = {},
): Promise<Caller> {
  const { credential } = await keys.create({ name: 'test', roles: ['operator'], ...bound });
  return callerTo(api, { authorization: `Bearer ${credential}` });
}
