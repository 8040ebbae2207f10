import type { Actor } from './actor.ts';

/** What a route asks of whoever calls it. */
export type Permission = 'read' | 'operate' | 'audit' | 'manage';

/**
 * `viewer` looks; `auditor` also reads the audit log; `operator` also starts, answers and stops;
 * `admin` may do everything.
 */
export type Role = 'viewer' | 'auditor' | 'operator' | 'admin';

export const permissionsOfRole: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  auditor: ['read', 'audit'],
  operator: ['read', 'operate'],
  admin: ['read', 'operate', 'audit', 'manage'],
};

export const roles: readonly Role[] = ['viewer', 'auditor', 'operator', 'admin'];

/** Whoever calls the server, as its credential says. */
export interface Principal {
  /**
   * Names the caller in audit events and limits: `key:<id>`, `jwt:<subject>`, `local`; `anonymous`
   * on routes that anybody may call.
   */
  readonly id: string;
  /** Whose sessions are in reach; those of other tenants do not exist for it. */
  readonly tenant: string;
  readonly roles: readonly Role[];
  /** Only sessions of this user exist for it. @default all of the tenant */
  readonly user?: string;
  /** Only these agents exist for it. @default all */
  readonly agents?: readonly string[];
  /** How ledgers name what it does: `operator:<id>`, or `user:<user>` where it is bound to one. */
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
}

/** Whether one of the roles gives the permission. */
export function isAllowed(
  { roles: given }: Pick<Principal, 'roles'>,
  permission: Permission,
): boolean {
  return given.some((role) => permissionsOfRole[role].includes(permission));
}

/** Whoever calls a route that is open to anybody: may do nothing else. */
export function anonymous(tenant: string): Principal {
  return { id: 'anonymous', tenant, roles: [], actor: 'user' };
}

/** Whoever calls from this machine a server that asks for no credentials: may do everything. */
export function localCaller(tenant: string): Principal {
  return { id: 'local', tenant, roles: ['admin'], actor: 'operator' };
}
