import { type Agent, agent, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ args: { amount } }) => `paid ${amount}`,
});

/** An agent that asks before it pays. */
export function payer(): Agent {
  return agent({
    name: 'payer',
    tools: [pay],
    model: scriptedModel((prompt) =>
      prompt.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { toolCalls: [{ name: 'pay', args: { amount: 5 } }] },
    ),
  });
}
