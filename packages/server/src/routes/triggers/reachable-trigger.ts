import { isAdjutantError, type Runtime } from 'adjutant';
import { TriggerNotFoundError } from 'adjutant/errors';
import type { TriggerInfo, TriggerService } from 'adjutant/triggers';
import type { Principal } from '../../access/principal.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import type { Asking } from '../../http/reachable.ts';

/**
 * Triggers of an app.
 * @throws RequestRefusedError `triggers_unavailable` (409) when the app has no option `triggers`
 */
export function triggersOf({ app }: { readonly app: Runtime }): TriggerService {
  try {
    return app.triggers;
  } catch (error) {
    if (!isAdjutantError(error, 'invalid_runtime')) throw error;
    throw new RequestRefusedError(
      409,
      'triggers_unavailable',
      'This app has no triggers: give its runtime the option `triggers`.',
    );
  }
}

/**
 * True when the caller may know of a trigger of its tenant: one that starts work on behalf of its
 * user, if it is bound to one, and of its agents, if it is bound to some.
 */
export function isTriggerInReach(
  { principal }: { readonly principal: Pick<Principal, 'user' | 'agents'> },
  { requester, start }: Pick<TriggerInfo, 'requester' | 'start'>,
): boolean {
  const isOwn = principal.user === undefined || requester === principal.user;
  return isOwn && (principal.agents === undefined || principal.agents.includes(start));
}

/**
 * A trigger that the caller may know of.
 * @throws TriggerNotFoundError also for triggers that are out of reach: they are not there
 */
export async function reachableTrigger(input: Asking, name: string): Promise<TriggerInfo> {
  const triggers = triggersOf(input);
  const found = await triggers.get(name).catch((error: unknown) => {
    if (!isAdjutantError(error, 'trigger_not_found')) throw error;
  });
  if (found !== undefined && isTriggerInReach(input, found)) return found;
  const known = await reachableTriggers(input, { limit: mostNamed });
  const names = known.map((one) => one.name);
  throw new TriggerNotFoundError({ trigger: name, app: input.app.app, known: names });
}

/** Names in a refusal. */
const mostNamed = 100;
/** Triggers of a tenant among which those of a bound caller are looked for. */
const mostSearched = 10_000;

/** Triggers that the caller may know of. */
export async function reachableTriggers(
  input: Asking,
  { limit, statuses }: { readonly limit: number; readonly statuses?: TriggerStatuses },
): Promise<readonly TriggerInfo[]> {
  const { agents, user } = input.principal;
  const isBound = agents !== undefined || user !== undefined;
  const found = await triggersOf(input).list({
    limit: isBound ? mostSearched : limit,
    ...(statuses === undefined ? {} : { statuses }),
  });
  return found.filter((one) => isTriggerInReach(input, one)).slice(0, limit);
}

type TriggerStatuses = readonly TriggerInfo['status'][];
