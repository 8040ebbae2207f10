import type { Api, ServerParts } from '../http/parts.ts';
import type { Principal } from './principal.ts';

const local: Omit<Principal, 'tenant'> = { id: 'local', roles: ['admin'], actor: 'operator' };

/** What every request passes before its route: who calls, what they may do, and how much of it. */
export function addAccess(api: Api, parts: ServerParts): void {
  api.use('*', async (context, next) => {
    context.set('principal', { ...local, tenant: parts.app.tenant });
    context.set('app', parts.app);
    await next();
  });
}
