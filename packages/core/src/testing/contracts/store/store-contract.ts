import { checkOptions } from '../../../base/invalid-option.ts';
import {
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  type OptionChecks,
} from '../../../base/options.ts';
import { type TestRunner, testRunner } from '../../kit/test-runner.ts';
import { clockContract } from './clock-contract.ts';
import { closeContract } from './close-contract.ts';
import { deleteContract } from './deletion/delete-contract.ts';
import { deletedForkContract } from './deletion/deleted-fork-contract.ts';
import { deletedReaderContract } from './deletion/deleted-reader-contract.ts';
import { sweepingContract } from './deletion/sweeping-contract.ts';
import { dueContract } from './due-contract.ts';
import { inboxContract } from './inbox-contract.ts';
import { isolationContract } from './isolation-contract.ts';
import type { LeftOut } from './left-out.ts';
import { leftOutContract } from './left-out-contract.ts';
import { keyContract } from './queue/key-contract.ts';
import { orderContract } from './queue/order-contract.ts';
import { replaceContract } from './queue/replace-contract.ts';
import { sendContract } from './queue/send-contract.ts';
import { turnContract } from './queue/turn-contract.ts';
import { followContract } from './reading/follow-contract.ts';
import { listContract } from './reading/list-contract.ts';
import { listOptionsContract } from './reading/list-options-contract.ts';
import { readContract } from './reading/read-contract.ts';
import { runsContract } from './reading/runs-contract.ts';
import { answerContract } from './requests/answer-contract.ts';
import { requestContract } from './requests/request-contract.ts';
import { requestListContract } from './requests/request-list-contract.ts';
import { settlingContract } from './requests/settling-contract.ts';
import { blobContract } from './sharing/blob-contract.ts';
import { forkContract } from './sharing/fork-contract.ts';
import { sharedContract } from './sharing/shared-contract.ts';
import { snapshotContract } from './snapshot-contract.ts';
import type { MakeStore } from './store-under-test.ts';
import { createSuite, type Suite } from './suite.ts';
import { appendContract } from './writing/append-contract.ts';
import { claimContract } from './writing/claim-contract.ts';
import { contentContract } from './writing/content-contract.ts';
import { fencingContract } from './writing/fencing-contract.ts';
import { leaseContract } from './writing/lease-contract.ts';
import { resendContract } from './writing/resend-contract.ts';

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
  turns: isReason,
  sends: isReason,
  rows: isReason,
  'replacement of rows': isReason,
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
  defineWriting(suite);
  clockContract(suite);
  inboxContract(suite);
  readContract(suite);
  followContract(suite);
  forkContract(suite);
  blobContract(suite);
  sharedContract(suite);
  defineRequests(suite);
  dueContract(suite);
  defineQueue(suite);
  snapshotContract(suite);
  defineDeletion(suite);
  listContract(suite);
  runsContract(suite);
  listOptionsContract(suite);
  isolationContract(suite);
  closeContract(suite);
}

function defineWriting(suite: Suite): void {
  appendContract(suite);
  resendContract(suite);
  fencingContract(suite);
  contentContract(suite);
  claimContract(suite);
  leaseContract(suite);
}

function defineRequests(suite: Suite): void {
  requestContract(suite);
  requestListContract(suite);
  answerContract(suite);
  settlingContract(suite);
}

function defineQueue(suite: Suite): void {
  turnContract(suite);
  orderContract(suite);
  keyContract(suite);
  sendContract(suite);
  replaceContract(suite);
}

function defineDeletion(suite: Suite): void {
  deleteContract(suite);
  deletedReaderContract(suite);
  deletedForkContract(suite);
  sweepingContract(suite);
}
