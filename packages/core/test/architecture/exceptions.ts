import type { Exception } from './finding.ts';

const long = 'longer than allowed since lines have 100 columns: it is to be split by subject';

/**
 * May only shrink: an exception that is no longer needed fails the test, and so does a line more
 * than `mostExceptions`.
 */
export const exceptions: readonly Exception[] = [
  {
    rule: 'function-size',
    file: 'bench/cases/time-travel.ts',
    subject: 'eventsOfRounds',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/context/recipe.ts',
    subject: 'rebuildCall',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/effects/model-call/perform-model-call.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/effects/model-call/perform-model-call.ts',
    subject: 'recordFailure',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/effects/body-effect/perform-effect.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/effects/tool-call/attempt.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/engine/agent/compaction/compaction.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/src/engine/agent/loop.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/engine/agent/loop.ts',
    subject: 'constructor',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/engine/agent/model-failures.ts',
    subject: 'handledPlan',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/middleware/logging.ts',
    subject: 'loggingMiddleware',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/model/answer-contract.ts',
    subject: 'callContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/model/answer-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/append-contract.ts',
    subject: 'resendContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/append-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/append-contract.ts',
    subject: 'contentContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/append-contract.ts',
    subject: 'argument of test',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/deletion-contract.ts',
    subject: 'hidingContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/inbox-contract.ts',
    subject: 'inboxContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/inbox-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/listing-contract.ts',
    subject: 'listingContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/listing-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/listing-contract.ts',
    subject: 'filterContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/ownership-contract.ts',
    subject: 'ownershipContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/ownership-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/ownership-contract.ts',
    subject: 'leaseContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/ownership-contract.ts',
    subject: 'releaseContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/reading-contract.ts',
    subject: 'rangeContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/reading-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/request-contract.ts',
    subject: 'filterContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/request-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/request-contract.ts',
    subject: 'answerContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/request-contract.ts',
    subject: 'writerContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/sharing-contract.ts',
    subject: 'blobContract',
    reason: long,
  },
  {
    rule: 'function-size',
    file: 'packages/core/src/testing/contracts/store/sharing-contract.ts',
    subject: 'argument of describe',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/test/effects/effects.test.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/test/effects/recorded-effects.test.ts',
    subject: 'lines',
    reason: long,
  },
  {
    rule: 'file-size',
    file: 'packages/core/test/supervision/errors.test.ts',
    subject: 'lines',
    reason: long,
  },
];

/** Lower it with every exception that goes. */
export const mostExceptions = 38;
