import { isAdjutantError } from 'adjutant';
import { defined, visibleLine } from 'adjutant/text';
import type { Context, MiddlewareHandler } from 'hono';
import type { ServerEnv, ServerParts } from '../../http/parts.ts';
import { clientAddress } from '../address.ts';
import { withoutSecrets } from '../api-key.ts';
import { type Destination, destinationOf } from '../guard.ts';
import type { AuditEntry, AuditOutcome } from './audit-entry.ts';
import type { AuditNote } from './audit-log.ts';

/**
 * Parameters of routes that name what a call is about. Others, such as tokens in links, may be
 * secrets.
 */
const named = [
  ...['session', 'run', 'request', 'agent', 'key', 'operationId', 'task', 'trigger'],
] as const;
const longestName = 200;
const deniedStatuses: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * Writes down what is done through the server, and what is denied. What is only looked at is not.
 */
export function recordRequest(parts: ServerParts): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    const destination = destinationOf(context);
    await next();
    const { status } = context.res;
    const isDenied = deniedStatuses.has(status);
    const isWrite = context.req.method !== 'GET' && context.req.method !== 'HEAD';
    // Links that have been forged, used or changed.
    const isRefusedLink =
      destination.guarded?.permission === 'public' && status >= 400 && status < 500;
    const isAct = isWrite && destination.guarded !== undefined;
    if (!isDenied && !isRefusedLink && !isAct) return;
    const note = noteOf(context, parts, destination, isDenied);
    // Anybody may call public routes as often as they like, and denials cost the caller nothing.
    if (isDenied || note.entry.principal === 'anonymous') parts.access.audit.recordJoined(note);
    else parts.access.audit.record(note);
  };
}

function noteOf(
  context: Context<ServerEnv>,
  { options, clock, app }: ServerParts,
  { guarded, route }: Destination,
  isDenied: boolean,
): AuditNote {
  const { principal, requestId } = context.var;
  const { status } = context.res;
  // An unidentified caller belongs to no tenant.
  const isUnknown = isDenied && guarded?.permission !== 'public' && principal.id === 'anonymous';
  const code = isAdjutantError(context.error) ? context.error.code : undefined;
  const address = context.var.address ?? clientAddress(context, options.trustProxy);
  const entry: Omit<AuditEntry, 'count'> = {
    at: clock.now(),
    principal: isUnknown ? 'unknown' : principal.id,
    actor: isUnknown ? 'unknown' : principal.actor,
    action: guarded?.operationId ?? 'unknown',
    route: `${context.req.method} ${route ?? 'none'}`,
    target: isUnknown ? {} : targetOf(context),
    outcome: outcomeOf(status, isDenied),
    status,
    ...defined({ code }),
    requestId,
    ...defined({ address }),
  };
  return { tenant: isUnknown ? app.tenant : principal.tenant, entry, actor: principal.actor };
}

function outcomeOf(status: number, isDenied: boolean): AuditOutcome {
  if (isDenied) return 'denied';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
}

/**
 * Returns the target of a request: the parameters of its address and the address of what it made.
 */
function targetOf(context: Context<ServerEnv>): Readonly<Record<string, string>> {
  const params = context.req.param() as Readonly<Record<string, string | undefined>>;
  const found = named.flatMap((name) =>
    params[name] === undefined
      ? []
      : [[name, visibleLine(withoutSecrets(params[name])).slice(0, longestName)] as const],
  );
  const made = context.res.headers.get('location');
  return Object.fromEntries([
    ...found,
    ...(made === null ? [] : [['made', made.slice(0, longestName)] as const]),
  ]);
}
