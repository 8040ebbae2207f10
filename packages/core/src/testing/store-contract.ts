import { loadOptionalPackage } from '../base/optional-package.ts';
import { appendContract } from './store-contract/append-contract.ts';
import { deletionContract } from './store-contract/deletion-contract.ts';
import { dueContract } from './store-contract/due-contract.ts';
import { createSuite } from './store-contract/harness.ts';
import { inboxContract } from './store-contract/inbox-contract.ts';
import { closeContract, isolationContract, listingContract, listOptionsContract } from './store-contract/listing-contract.ts';
import { ownershipContract } from './store-contract/ownership-contract.ts';
import { readingContract } from './store-contract/reading-contract.ts';
import { requestContract, settlingContract } from './store-contract/request-contract.ts';
import { blobContract, forkContract, sharedContract } from './store-contract/sharing-contract.ts';
import { snapshotContract } from './store-contract/snapshot-contract.ts';
import type { MakeStore } from './store-contract/store-under-test.ts';
import { sweepingContract } from './store-contract/sweeping-contract.ts';

export type { MakeStore, StoreUnderTest } from './store-contract/store-under-test.ts';

/**
 * Defines the vitest suite that every `Store` must pass, with a fresh store for each test. It uses nothing but the port.
 * To be awaited at the top of a test file: `await storeContract('my store', makeStore)`.
 *
 * @param name what the suite is called
 * @param make gives a new and empty store; called once for each test
 * @throws MissingPackageError when vitest is not installed
 */
export async function storeContract(name: string, make: MakeStore): Promise<void> {
  const suite = createSuite(await loadOptionalPackage('vitest', 'storeContract', () => import('vitest')), make);
  suite.describe(`store contract: ${name}`, () => {
    appendContract(suite);
    ownershipContract(suite);
    inboxContract(suite);
    readingContract(suite);
    forkContract(suite);
    blobContract(suite);
    sharedContract(suite);
    requestContract(suite);
    settlingContract(suite);
    dueContract(suite);
    snapshotContract(suite);
    deletionContract(suite);
    sweepingContract(suite);
    listingContract(suite);
    listOptionsContract(suite);
    isolationContract(suite);
    closeContract(suite);
  });
}
