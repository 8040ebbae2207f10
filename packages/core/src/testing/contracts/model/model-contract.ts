import { checkOptions } from '../../../base/invalid-option.ts';
import {
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  isPositive,
  type OptionChecks,
} from '../../../base/options.ts';
import { type TestRunner, testRunner } from '../../kit/test-runner.ts';
import { answerContract } from './answer-contract.ts';
import { abortContract, failureContract, promptContract } from './call-contract.ts';
import { createModelSuite } from './harness.ts';
import type { MakeModel, ModelLeftOut } from './model-under-test.ts';
import { toolCallContract } from './tool-call-contract.ts';

export type {
  MakeModel,
  ModelLeftOut,
  ModelPart,
  ModelScript,
  ModelUnderTest,
} from './model-under-test.ts';

export interface ModelContractOptions {
  /**
   * `describe` and `test` of the test runner. @default those of vitest, global ones such as jest's,
   * else those of `node:test`
   */
  readonly runner?: TestRunner;
  /**
   * Parts that the model does not have, each with the reason. Their tests are skipped, and a
   * warning says so. @default none
   */
  readonly skip?: ModelLeftOut;
  /** Milliseconds after which a call counts as hanging. @default 4_000 */
  readonly timeoutMs?: number;
}

const isReason = (value: unknown): string | undefined => isNonEmptyText(value) && 'a reason';
const partChecks: OptionChecks<ModelLeftOut> = {
  thoughts: isReason,
  'tool calls': isReason,
  'broken arguments': isReason,
  usage: isReason,
  abort: isReason,
  errors: isReason,
  'broken streams': isReason,
};
const contractChecks: OptionChecks<
  ModelContractOptions & { readonly name: string; readonly make: MakeModel }
> = {
  name: isNonEmptyText,
  make: isFunction,
  runner: isObject,
  timeoutMs: isPositive,
  skip: isGroup<ModelLeftOut>(partChecks),
};

/**
 * Defines the suite that every model must pass on which agents are to run. It checks the stream and
 * its order, and that calls share nothing. An abort or a failure must not be taken for an end. Only
 * `doStream` is called, which is all that agents use. Await it at the top of a test file: `await
 * modelContract('my model', makeModel)`.
 *
 * @param name the name of the suite
 * @param make makes a model and, as `respond`, the function that sets its answers; called once for
 * each test
 * @throws InvalidOptionError for unknown or unsuitable options
 */
export async function modelContract(
  name: string,
  make: MakeModel,
  options: ModelContractOptions = {},
): Promise<void> {
  // `null` stands for a missing function, because the check ignores `undefined`.
  checkOptions(
    'modelContract',
    { ...options, name: name ?? null, make: make ?? null },
    contractChecks,
  );
  const { skip = {}, timeoutMs = 4_000 } = options;
  const suite = createModelSuite(await testRunner('modelContract', options.runner), make, {
    leftOut: skip,
    timeoutMs,
  });
  const left = Object.entries(skip).map(([part, reason]) => `${part} (${reason})`);
  if (left.length > 0)
    process.emitWarning(`The model "${name}" leaves out ${left.join(', ')}.`, {
      type: 'AdjutantWarning',
      code: 'left_out',
    });
  suite.describe(`model contract: ${name}`, () => {
    answerContract(suite);
    toolCallContract(suite);
    promptContract(suite);
    abortContract(suite);
    failureContract(suite);
  });
}
