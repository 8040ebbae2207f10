import type { Actor } from './actor.ts';

/** Permission that a route asks of its caller. */
export type Permission = 'read' | 'chat' | 'operate' | 'audit' | 'manage';

/**
 * `viewer` looks; `user` also chats, in sessions of its own; `auditor` also reads the audit log;
 * `operator` also starts, answers and stops; `admin` may do everything. The role `user` counts only
 * for a caller that is bound to a user.
 */
export type Role = 'viewer' | 'user' | 'auditor' | 'operator' | 'admin';

export const permissionsOfRole: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  user: ['read', 'chat'],
  auditor: ['read', 'audit'],
  operator: ['read', 'chat', 'operate'],
  admin: ['read', 'chat', 'operate', 'audit', 'manage'],
};

export const roles: readonly Role[] = ['viewer', 'user', 'auditor', 'operator', 'admin'];

/** Caller of the server, as its credential says. */
export interface Principal {
  /**
   * Names the caller in audit events and limits: `key:<id>`, `jwt:<subject>`, `local`; `anonymous`
   * on routes that anybody may call.
   */
  readonly id: string;
  /** Tenant whose sessions are in reach; sessions of other tenants do not exist for the caller. */
  readonly tenant: string;
  readonly roles: readonly Role[];
  /** Only sessions of this user exist for it. @default all of the tenant */
  readonly user?: string;
  /** Only these agents exist for it. @default all */
  readonly agents?: readonly string[];
  /**
   * Actor of the caller's actions in ledgers: `operator:<id>`, or `user:<user>` when the caller is
   * bound to one user.
   */
  readonly actor: Actor;
  /**
   * Epoch milliseconds from which its credential is not accepted any more. @default it does not end
   * by itself
   */
  readonly expiresAt?: number;
  /**
   * The API key that it came with, and by which of its secrets: a rotation ends the one before.
   * @default none
   */
  readonly key?: { readonly id: string; readonly secretHash: string };
  /** Id of the sign-in whose cookie it came with. @default none: it sent the credential itself */
  readonly signIn?: string;
}

/** True when one of the roles gives the permission. */
export function isAllowed(
  { roles: given, user }: Pick<Principal, 'roles' | 'user'>,
  permission: Permission,
): boolean {
  // Without a bound, a person would read the sessions of all others.
  return given.some(
    (role) =>
      (role !== 'user' || user !== undefined) && permissionsOfRole[role].includes(permission),
  );
}

/** Returns the caller of a public route. It has no permissions. */
export function anonymous(tenant: string): Principal {
  return { id: 'anonymous', tenant, roles: [], actor: 'user' };
}

/** Returns the caller on this machine of a server without credentials. It has all permissions. */
export function localCaller(tenant: string): Principal {
  return { id: 'local', tenant, roles: ['admin'], actor: 'operator' };
}
