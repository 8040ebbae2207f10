import { agent, isAdjutantError, type JsonValue, openai, type Tool } from 'adjutant';
import { model, type RunTestOptions, runTest, type TestStep, user } from 'adjutant/testing';
import { type PayToolOptions, payTool } from '../../pay-tool.ts';

export async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ code: string; data: unknown; message: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isAdjutantError(error)) throw new Error(`It was not refused: ${String(error)}`);
  return { code: error.code, data: error.data, message: error.message };
}

export const clerk = (pay: Tool) => agent({ name: 'caller', model: openai('gpt-5'), tools: [pay] });
export const asks = (...calls: readonly JsonValue[]): TestStep =>
  model({ toolCalls: calls.map((args) => ({ name: 'pay', args })) });

/** A run that waits for leave to pay 5 cents. */
export async function waitingRun(options: PayToolOptions = {}, more: RunTestOptions = {}) {
  const { pay, paid } = payTool(options);
  const { app, session, result } = await runTest(
    clerk(pay),
    [user('Pay'), asks({ cents: 5 })],
    more,
  );
  return { app, session, paid, requestId: result.pendingApprovals[0]?.requestId ?? '' };
}

/** A run that waits for leave to pay 5 cents, gets answers, and comes to its end. */
export async function answered(answers: readonly TestStep[], options: PayToolOptions = {}) {
  const { pay, paid } = payTool(options);
  const run = await runTest(clerk(pay), [
    user('Pay'),
    asks({ cents: 5 }),
    ...answers,
    model('Done.'),
  ]);
  return { ...run, paid };
}
