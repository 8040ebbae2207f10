import { describe } from 'vitest';
import { appendContract } from './store-contract/append-contract.ts';
import type { MakeStore } from './store-contract/harness.ts';
import { inboxContract } from './store-contract/inbox-contract.ts';
import { closeContract, isolationContract, listingContract } from './store-contract/listing-contract.ts';
import { ownershipContract } from './store-contract/ownership-contract.ts';
import { readingContract } from './store-contract/reading-contract.ts';
import { blobContract, forkContract, sharedContract } from './store-contract/sharing-contract.ts';

export type { MakeStore, StoreUnderTest } from './store-contract/harness.ts';

/**
 * Defines the vitest suite that every `Store` must pass, with a fresh store for each test. It uses nothing but the port.
 *
 * @param name what the suite is called
 * @param make gives a new and empty store; called once for each test
 */
export function storeContract(name: string, make: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    appendContract(make);
    ownershipContract(make);
    inboxContract(make);
    readingContract(make);
    forkContract(make);
    blobContract(make);
    sharedContract(make);
    listingContract(make);
    isolationContract(make);
    closeContract(make);
  });
}
