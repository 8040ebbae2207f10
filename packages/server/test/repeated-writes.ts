import type { Store } from 'adjutant';
import type { send } from './approvals/paying-app.ts';

export const key = (text: string) => ({ 'idempotency-key': text });

/** Parts of an answer that its caller sees. */
export function seen({ status, body, headers }: Awaited<ReturnType<typeof send>>) {
  return { status, body, location: headers.get('location'), type: headers.get('content-type') };
}

export function isReplayed({ headers }: { headers: Headers }): boolean {
  return headers.get('idempotency-replayed') === 'true';
}

/** Number of the kept keys. */
export async function keptIn(store: Store): Promise<number> {
  return (await store.for({ tenant: 'default', app: 'shop:http' }).list()).length;
}
