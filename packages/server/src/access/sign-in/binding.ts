import { defined } from 'adjutant/text';
import type { Principal } from '../principal.ts';

/** Caller that a token names. */
export type TokenCaller = Pick<Principal, 'id' | 'tenant' | 'roles' | 'user' | 'agents' | 'actor'>;

/**
 * Credential that a sign-in stands for. A key is looked up with each request, so that its end and
 * its roles count at once. Of a token there is nothing to look up: the caller is as it was named.
 */
export type SignInBinding =
  | { readonly key: { readonly id: string; readonly secretHash: string } }
  | { readonly token: TokenCaller };

/** The credential of a caller, as a sign-in keeps it: nothing of its secret. */
export function boundOf(principal: Principal): SignInBinding {
  const { key, id, tenant, roles, user, agents, actor } = principal;
  return key === undefined
    ? { token: { id, tenant, roles, actor, ...defined({ user, agents }) } }
    : { key: { id: key.id, secretHash: key.secretHash } };
}
