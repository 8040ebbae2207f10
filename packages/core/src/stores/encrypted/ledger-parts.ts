import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { AppSeals, type SealScope } from './seals.ts';
import type { SendingOrder } from './sending-order.ts';
import type { UnderWay } from './under-way.ts';

/** The collaborators of the ledgers of one tenant and app. */
export interface LedgerParts {
  readonly scope: SealScope;
  /** The store that keeps sealed content. */
  readonly inner: LedgerStore;
  readonly ring: KeyRing;
  readonly order: SendingOrder;
  readonly underWay: UnderWay;
}

/** Returns the seals of content that belongs to no session. */
export async function appSealsOf({ scope, ring }: LedgerParts): Promise<AppSeals> {
  return new AppSeals(scope, await ring.ofApp());
}

/** Returns the name under which a session or blob address is sent in its turn. */
export function orderNameOf({ scope: { tenant, app } }: LedgerParts, name: string): string {
  return JSON.stringify([tenant, app, name]);
}

export function sessionNotFound({ scope }: LedgerParts, session: string): SessionNotFoundError {
  return new SessionNotFoundError({ session, app: scope.app });
}
