import { defined } from 'adjutant/text';
import {
  isAllowed,
  type Permission,
  type Principal,
  permissionsOfRole,
} from '../../access/principal.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { meSchema } from '../../schemas/caller.ts';
import { packageVersion } from '../../version.ts';

const getMe = defineRoute({
  method: 'get',
  path: '/v1/me',
  permission: 'read',
  operationId: 'getMe',
  tag: 'Callers',
  summary: 'Who the caller is, and what it may do',
  answers: { 200: { description: 'The caller.', schema: meSchema } },
});

/** The route by which callers see who they are. */
export const addMeRoutes: AddRoutes = (api, { app, options }) => {
  addRoute(api, getMe, ({ principal }) => {
    const { id, tenant, roles, user, agents, expiresAt, signIn } = principal;
    return {
      status: 200,
      body: {
        ...{ id, tenant, app: app.app, roles: [...roles], permissions: permissionsOf(principal) },
        ...defined({ user, expiresAt, agents: agents === undefined ? undefined : [...agents] }),
        isLocal: options.auth === undefined,
        isSignedIn: signIn !== undefined,
        version: packageVersion,
        store: { kind: app.store.kind ?? 'other' },
      },
    };
  });
};

function permissionsOf(principal: Principal): Permission[] {
  return permissionsOfRole.admin.filter((permission) => isAllowed(principal, permission));
}
