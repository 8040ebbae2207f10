import { agent, type Model, tool } from 'adjutant';
import { runTest, type TestStep } from 'adjutant/testing';
import { expect } from 'vitest';
import { z } from 'zod';

export const real: Model = {
  kind: 'model',
  provider: 'openai',
  modelId: 'gpt-5',
  settings: {},
  load: () => {
    throw new Error('the real model was loaded');
  },
};

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({ cents: z.number().int() }),
  approval: { allowEdit: true },
  execute: () => 'paid',
});
const ask = tool({
  name: 'ask',
  description: 'Asks',
  schema: z.object({}),
  yieldSchema: z.object({ said: z.string() }),
});
const hang = tool({
  name: 'hang',
  description: 'Hangs',
  schema: z.object({}),
  execute: () => new Promise(() => undefined),
});
const lookUp = tool({
  name: 'lookUp',
  description: 'Looks up',
  schema: z.object({}),
  readOnly: true,
  execute: () => 'found',
});
export const clerk = agent({ name: 'clerk', model: real, tools: [pay, ask, hang, lookUp] });

/** Returns the report about a test that does not fit its run. */
export async function account(
  steps: readonly TestStep[],
  runnable: Parameters<typeof runTest>[0] = clerk,
): Promise<string> {
  const error = await runTest(runnable, steps, { patienceMs: 5_000 }).then(
    () => new Error('nothing failed'),
    (thrown: Error) => thrown,
  );
  expect(error).toMatchObject({ code: 'test_step_failed' });
  return error.message;
}

/** The part of an account that says what is wrong and what the run was doing. */
export const gist = async (
  steps: readonly TestStep[],
  runnable?: Parameters<typeof runTest>[0],
): Promise<string> => (await account(steps, runnable)).split('\n\nWhat has happened:')[0] ?? '';
