import { systemIds } from '../../../base/id.ts';
import { checkOptions } from '../../../base/invalid-option.ts';
import { isFunction, isNonEmptyText, isObject } from '../../../base/options.ts';
import type { Store } from '../../../ledger/port.ts';
import { type Runtime, runtime } from '../../../runtime.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { type TestRunner, testRunner } from '../../kit/test-runner.ts';
import { controlContract } from './control-contract.ts';
import type { DefineEngineTest, EngineTest, MakeEngine } from './engine-under-test.ts';
import { lifeContract } from './life-contract.ts';
import { timeContract, wakeContract } from './wake-contract.ts';

export type { EngineUnderTest, MakeEngine } from './engine-under-test.ts';

export interface EngineContractOptions {
  /**
   * `describe` and `test` of the test runner. @default those of vitest, global ones such as jest's,
   * else those of `node:test`
   */
  readonly runner?: TestRunner;
}

/**
 * Defines the suite that every `Engine` must pass. Each test makes apps with a name of its own and
 * a store that they share: only the engine is under test. Await it at the top of a test file:
 * `await engineContract('my engine', makeEngine)`.
 *
 * @param name the name of the suite
 * @param make makes the engines of one app; called once for each test
 * @throws InvalidOptionError for unknown or unsuitable options
 */
export async function engineContract(
  name: string,
  make: MakeEngine,
  options: EngineContractOptions = {},
): Promise<void> {
  // `null` stands for a missing function, because the check ignores `undefined`.
  checkOptions(
    'engineContract',
    { ...options, name: name ?? null, make: make ?? null },
    { name: isNonEmptyText, make: isFunction, runner: isObject },
  );
  const { describe, test } = await testRunner('engineContract', options.runner);
  // Jest takes a declared parameter for a callback.
  const define: DefineEngineTest = (title, body) => void test(title, () => runTest(make, body));
  describe(`engine contract: ${name}`, () => {
    describe('wakes', () => wakeContract(define));
    describe('times', () => timeContract(define));
    describe('cancels', () => controlContract(define));
    describe('start, health and stop', () => lifeContract(define));
  });
}

async function runTest(make: MakeEngine, body: (test: EngineTest) => Promise<void>): Promise<void> {
  const app = `contract-${systemIds.next()}`;
  const { cleanup, make: makeEngine } = await make(app);
  const store = memoryStore();
  // Each process closes its store, and all have the same.
  const shared: Store = {
    ...store,
    for: (scope) => store.for(scope),
    close: async () => undefined,
  };
  const apps: Runtime[] = [];
  const opened = (made: Runtime): Runtime => {
    apps.push(made);
    return made;
  };
  try {
    await body({
      async process(...runnables) {
        const engine = makeEngine();
        const made = opened(runtime({ app, store: shared, runnables, engine }));
        // The same start as that by the option, to be waited for.
        await made.recovery.start();
        return { app: made, engine };
      },
      silent: (...runnables) =>
        opened(runtime({ app, store: shared, runnables, recover: 'manual' })),
    });
  } finally {
    await Promise.all(apps.map((one) => one.close()));
    await cleanup();
    await store.close();
  }
}
