import { describeValue, isList } from '../../base/options.ts';
import type { OutputOf, Runnable } from '../../session/runnable.ts';
import { InvalidTestError } from './run-test/errors.ts';
import type { RunTestOptions } from './run-test/options.ts';
import { runTest, type TestRun } from './run-test/run-test.ts';
import { type ModelAnswerStep, model, user } from './run-test/steps.ts';

/** A message to an agent, and the answers of its models. */
export interface TestConversation extends RunTestOptions {
  readonly input: string;
  /** Answers of the models, in the order of the calls. */
  readonly responses: readonly ModelAnswerStep[];
}

/**
 * Runs the simplest case of `runTest`: one message, and the answers of the models in the order of
 * the calls.
 * @throws InvalidTestError, TestStepError
 */
export async function testAgent<R extends Runnable>(
  runnable: R,
  conversation: TestConversation,
): Promise<TestRun<OutputOf<R>>> {
  const { input, responses, ...options } = conversation ?? {};
  if (isList(responses) !== undefined) {
    throw new InvalidTestError({
      what: 'testAgent()',
      reason:
        '`responses` must be a list of what the models answer, not ' +
        `${describeValue(responses)}`,
    });
  }
  return runTest(runnable, [user(input), ...responses.map((response) => model(response))], options);
}
