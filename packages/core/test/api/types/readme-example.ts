import { agent, rehearsal, runtime, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import { z } from 'zod';

const stateSchema = {
  session: { mode: z.enum(['triage', 'done']), count: z.number() },
  user: { theme: z.string() },
};

const refund = tool({
  name: 'refund',
  description: 'Refund an order',
  schema: z.object({
    orderId: z.string(),
    cents: z.int(),
    items: z.array(z.object({ sku: z.string(), count: z.int() })),
  }),
  stateSchema,
  execute: (ctx) => {
    ctx.state.count = (ctx.state.count ?? 0) + ctx.args.cents;
    return { refunded: ctx.args.orderId, items: ctx.args.items.map(({ sku }) => sku) };
  },
});

const support = agent({
  name: 'support',
  model: rehearsal(),
  context: [injectSystemMessage('You help.'), includeHistory()],
  tools: [refund],
});

export const app = runtime({ app: 'shop', runnables: [support] });
export const result = app.run(support, 'Refund order 17').then(({ output }) => output);
