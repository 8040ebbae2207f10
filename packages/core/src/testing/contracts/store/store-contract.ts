import { checkOptions } from '../../../base/invalid-option.ts';
import {
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  type OptionChecks,
} from '../../../base/options.ts';
import { type TestRunner, testRunner } from '../../kit/test-runner.ts';
import { appendContract } from './append-contract.ts';
import { clockContract } from './clock-contract.ts';
import { deletionContract } from './deletion-contract.ts';
import { dueContract } from './due-contract.ts';
import { createSuite, type Suite } from './harness.ts';
import { inboxContract } from './inbox-contract.ts';
import type { LeftOut } from './left-out.ts';
import { leftOutContract } from './left-out-contract.ts';
import {
  closeContract,
  isolationContract,
  listingContract,
  listOptionsContract,
} from './listing-contract.ts';
import { ownershipContract } from './ownership-contract.ts';
import { readingContract } from './reading-contract.ts';
import { requestContract, settlingContract } from './request-contract.ts';
import { blobContract, forkContract, sharedContract } from './sharing-contract.ts';
import { snapshotContract } from './snapshot-contract.ts';
import type { MakeStore } from './store-under-test.ts';
import { sweepingContract } from './sweeping-contract.ts';

export type { LeftOut, StorePart } from './left-out.ts';
export type { MakeStore, StoreUnderTest } from './store-under-test.ts';

export interface StoreContractOptions {
  /**
   * `describe` and `test` of the test runner. @default those of vitest, global ones such as jest's,
   * else those of `node:test`
   */
  readonly runner?: TestRunner;
  /**
   * Parts that the store leaves out, each with the reason. They must be refused with an error of
   * the code `not_supported`. Tests that use them are skipped, and a warning says so.
   * @default none
   */
  readonly skip?: LeftOut;
}

/**
 * Defines the suite that every `Store` must pass, with a fresh store for each test. It uses nothing
 * but the port. Await it at the top of a test file: `await storeContract('my store', makeStore)`.
 *
 * @param name the name of the suite
 * @param make makes a new and empty store; called once for each test
 * @throws InvalidOptionError for unknown or unsuitable options
 */
export async function storeContract(
  name: string,
  make: MakeStore,
  options: StoreContractOptions = {},
): Promise<void> {
  // `null` stands for a missing function, because the check ignores `undefined`.
  checkOptions(
    'storeContract',
    { ...options, name: name ?? null, make: make ?? null },
    contractChecks,
  );
  const { skip = {} } = options;
  const suite = createSuite(await testRunner('storeContract', options.runner), make, skip);
  const left = Object.entries(skip).map(([part, reason]) => `${part} (${reason})`);
  if (left.length > 0)
    process.emitWarning(`The store "${name}" leaves out ${left.join(', ')}.`, {
      type: 'AdjutantWarning',
      code: 'left_out',
    });
  suite.describe(`store contract: ${name}`, () => {
    defineRules(suite);
    if (left.length > 0) leftOutContract(suite, skip);
  });
}

const isReason = (value: unknown): string | undefined => isNonEmptyText(value) && 'a reason';
const partChecks: OptionChecks<LeftOut> = {
  'shared scopes': isReason,
  forks: isReason,
  blobs: isReason,
  requests: isReason,
  due: isReason,
  snapshots: isReason,
  deletion: isReason,
  listing: isReason,
};
const contractChecks: OptionChecks<
  StoreContractOptions & { readonly name: string; readonly make: MakeStore }
> = {
  name: isNonEmptyText,
  make: isFunction,
  runner: isObject,
  skip: isGroup<LeftOut>(partChecks),
};

function defineRules(suite: Suite): void {
  appendContract(suite);
  ownershipContract(suite);
  clockContract(suite);
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
}
