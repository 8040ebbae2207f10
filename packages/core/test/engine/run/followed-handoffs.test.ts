import { agent, agentTool, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

test('the end of a called agent is not that of the run that was handed over', async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const lookUp = agent({ name: 'look_up', model: scriptedModel([{ text: 'Order 17.' }]) });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    execute: async () => {
      begun.resolve();
      await goOn.promise;
      return 'paid';
    },
  });
  const billing = agent({
    name: 'billing',
    model: scriptedModel([
      { toolCalls: [{ name: 'wait_for_reader', args: {} }] },
      { toolCalls: [{ name: 'look_up', args: { message: 'Which order?' } }] },
      { toolCalls: [{ name: 'pay', args: {} }] },
      { text: 'It is paid.' },
    ]),
    tools: [
      tool({
        name: 'wait_for_reader',
        description: 'Waits until another process reads',
        schema: z.object({}),
        execute: async () => {
          handedOver.resolve();
          await isRead.promise;
          return 'read';
        },
      }),
      agentTool(lookUp),
      pay,
    ],
  });
  const handedOver = Promise.withResolvers<void>();
  const isRead = Promise.withResolvers<void>();
  const triage = agent({
    name: 'triage',
    model: scriptedModel([{ toolCalls: [{ name: 'transfer_to_billing', args: {} }] }]),
    handoffs: [billing],
  });
  const store = memoryStore();
  const process = () => {
    const app = runtime({ app: 'shop', store, runnables: [triage], recover: 'manual' });
    onTestFinished(() => app.close());
    return app;
  };
  const [holder, reader] = [process(), process()];
  const run = holder.run(triage, { session: 's', input: 'Pay' });
  await handedOver.promise;
  const followed = reader.resume(triage, 's');
  await followed.accepted();
  isRead.resolve();
  await begun.promise;
  goOn.resolve();
  expect(await followed).toMatchObject({ status: 'completed', output: 'It is paid.' });
  await run;
});
