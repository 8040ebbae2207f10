import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { api, refusalOf } from './client.ts';

/** The reader, and the permissions that the server gives. */
export interface Me {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  readonly user?: string;
  /** Nobody signs in: the server lets this machine in, and nobody else. */
  readonly isLocal: boolean;
  readonly version: string;
  readonly store: { readonly kind: string };
}

export type SignedIn =
  | { readonly state: 'reading' }
  | { readonly state: 'out' }
  | { readonly state: 'away'; readonly error: unknown }
  | { readonly state: 'in'; readonly me: Me };

/** Parts of the page that show what nothing brings back: how many there are. */
let held = 0;
const listeners = new Set<() => void>();

function hold(by: 1 | -1): void {
  held += by;
  for (const listener of listeners) listener();
}

function onHold(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps the page in the place of the sign-in: it shows what nothing brings back. */
export function useHeldPage(holds: boolean): void {
  useEffect(() => {
    if (!holds) return undefined;
    hold(1);
    return () => hold(-1);
  }, [holds]);
}

/** Tells whether somebody is signed in, and as whom. */
export function useSignedIn(): SignedIn {
  const isHeld = useSyncExternalStore(onHold, () => held > 0);
  const { data, error } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => api.me({ signal }) as Promise<Me>,
    staleTime: 60_000,
  });
  const isOut = refusalOf(error)?.status === 401;
  if (isOut && !(isHeld && data !== undefined)) return { state: 'out' };
  if (data !== undefined) return { state: 'in', me: data };
  return error === null ? { state: 'reading' } : { state: 'away', error };
}

/** Returns why an act is not allowed, or `undefined` when it is. */
export function unlessAllowed(me: Me | undefined, permission: string): string | undefined {
  if (me === undefined || me.permissions.includes(permission)) return undefined;
  const [role = 'viewer'] = me.roles;
  return `Your role is ${role}. This takes the permission “${permission}”.`;
}
