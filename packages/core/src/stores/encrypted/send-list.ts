import { isAdjutantError } from '../../base/error.ts';
import type { PendingSend, StoreAdmin } from '../../ledger/port.ts';
import { appSealsOf, type LedgerParts } from './ledger-parts.ts';

/**
 * Opens sends of one tenant and app.
 * @throws SealBrokenError, KeyUnavailableError
 */
export async function openSends(
  parts: LedgerParts,
  sends: readonly PendingSend[],
): Promise<readonly PendingSend[]> {
  if (sends.length === 0) return sends;
  const seals = await appSealsOf(parts);
  return sends.map((send) => seals.openSend(send.from, send));
}

/**
 * Opens the sends of all tenants of an app. Those of a tenant whose key is not there are left out:
 * they must not keep the sends of others.
 * @throws SealBrokenError
 */
export async function openSendsOfApp(
  sends: Awaited<ReturnType<StoreAdmin['sends']>>,
  partsOf: (tenant: string) => LedgerParts,
): ReturnType<StoreAdmin['sends']> {
  const tenants = [...new Set(sends.map(({ tenant }) => tenant))];
  const opened = await Promise.all(
    tenants.map(async (tenant) => {
      const own = sends.filter((send) => send.tenant === tenant);
      try {
        const list = await openSends(partsOf(tenant), own);
        return list.map((send) => ({ ...send, tenant }));
      } catch (error) {
        if (isAdjutantError(error, 'key_unavailable')) return [];
        throw error;
      }
    }),
  );
  const byPlace = new Map(opened.flat().map((send) => [placeOf(send), send]));
  return sends.flatMap((send) => byPlace.get(placeOf(send)) ?? []);
}

function placeOf({ tenant, number }: { readonly tenant: string; readonly number: number }): string {
  return JSON.stringify([tenant, number]);
}
