import type { z } from '@hono/zod-openapi';
import { event, type Schedule, scheduleOf, type TriggerOptions } from 'adjutant/triggers';
import { RequestRefusedError } from '../../http/problem.ts';
import type { Asking } from '../../http/reachable.ts';
import type { NewTriggerOn, triggerChangeSchema } from '../../schemas/trigger.ts';

type Given = z.output<typeof triggerChangeSchema>;

/**
 * Options of a trigger, as a caller may give them. `null` takes an option away.
 * @throws InvalidTriggerError; RequestRefusedError `other_user`, `bound_credential` (403)
 */
export function triggerOptions(input: Asking, given: Given): Partial<TriggerOptions> {
  const { on, ...rest } = given;
  assertOwn(input, given);
  const { user } = input.principal;
  // Missing in a change: what it has stays, which is in the caller's reach.
  const requester = user === undefined || rest.requester === undefined ? {} : { requester: user };
  const options = Object.entries(rest).map(([name, value]) => [name, value ?? undefined]);
  return {
    ...Object.fromEntries(options),
    ...requester,
    ...(on === undefined ? {} : { on: causeOf(input, on) }),
  } as Partial<TriggerOptions>;
}

/** @throws RequestRefusedError `other_user` (403) for a caller that is bound to another user */
function assertOwn({ principal: { user } }: Asking, { notify, requester }: Given): void {
  if (user === undefined) return;
  const isOther = (one: string | undefined): boolean => one !== undefined && one !== user;
  if (requester !== null && !isOther(requester) && !isOther(notify?.user)) return;
  throw new RequestRefusedError(
    403,
    'other_user',
    'Your credential is bound to a user: triggers of that user start work on its behalf, and ' +
      'tell nobody else. Leave `requester` out, and name yourself in `notify`.',
  );
}

/** Checks and returns the cause of firings that a caller gives. */
function causeOf(input: Asking, on: NewTriggerOn): TriggerOptions['on'] {
  if (on.kind !== 'event') return scheduleOf(on) satisfies Schedule;
  assertUnbound(input, 'make a trigger on them');
  return event(on.pattern);
}

/**
 * Refuses callers who are to see and reach a part of the tenant only.
 * @throws RequestRefusedError `bound_credential` (403)
 */
export function assertUnbound({ principal: { agents, user } }: Asking, what: string): void {
  if (agents === undefined && user === undefined) return;
  throw new RequestRefusedError(
    403,
    'bound_credential',
    `Events belong to the whole tenant: a credential that is bound to a user or to agents cannot ` +
      `${what}.`,
  );
}
