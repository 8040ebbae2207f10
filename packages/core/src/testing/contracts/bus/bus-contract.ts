import { checkOptions } from '../../../base/invalid-option.ts';
import { isFunction, isNonEmptyText, isObject } from '../../../base/options.ts';
import { skipTest, type TestRunner, testRunner } from '../../kit/test-runner.ts';
import type { BusTest, DefineBusTest, MakeBus } from './bus-under-test.ts';
import { closingContract } from './closing-contract.ts';
import { deliveryContract } from './delivery-contract.ts';
import { failingContract } from './failing-contract.ts';
import { refusalContract } from './refusal-contract.ts';

export type { BusUnderTest, MakeBus } from './bus-under-test.ts';

export interface BusContractOptions {
  /**
   * `describe` and `test` of the test runner. @default those of vitest, global ones such as jest's,
   * else those of `node:test`
   */
  readonly runner?: TestRunner;
}

/**
 * Defines the suite that every `EventBus` must pass, with a fresh bus for each test. Await it at
 * the top of a test file: `await busContract('my bus', makeBus)`.
 *
 * @param name the name of the suite
 * @param make makes a new bus; called once for each test
 * @throws InvalidOptionError for unknown or unsuitable options
 */
export async function busContract(
  name: string,
  make: MakeBus,
  options: BusContractOptions = {},
): Promise<void> {
  // `null` stands for a missing function, because the check ignores `undefined`.
  checkOptions(
    'busContract',
    { ...options, name: name ?? null, make: make ?? null },
    { name: isNonEmptyText, make: isFunction, runner: isObject },
  );
  const { describe, test } = await testRunner('busContract', options.runner);
  // Jest takes a declared parameter for a callback.
  const define: DefineBusTest = (title, body) =>
    void test(title, (...[context]) => runTest(make, body, (reason) => skipTest(context, reason)));
  describe(`bus contract: ${name}`, () => {
    describe('delivery', () => deliveryContract(define));
    describe('failing callbacks and connections', () => failingContract(define));
    describe('refusals', () => refusalContract(define));
    describe('closing', () => closingContract(define));
  });
}

async function runTest(
  make: MakeBus,
  body: (test: BusTest) => Promise<void>,
  skip: (reason: string) => void,
): Promise<void> {
  const { bus, other = bus, interrupt, cleanup } = await make();
  try {
    await body({ bus, other, skip, ...(interrupt === undefined ? {} : { interrupt }) });
  } finally {
    await cleanup();
  }
}
