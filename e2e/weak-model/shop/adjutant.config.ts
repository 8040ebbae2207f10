import { once } from 'node:events';
import { agent, openaiCompatible, runtime, textProtocol, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { z } from 'zod';

const item = z.enum(['pen', 'book']);
const prices = { pen: 300, book: 1200 } as const;

const price = tool({
  name: 'price',
  description: 'Price in cents',
  schema: z.object({ item }),
  readOnly: true,
  execute: ({ args }) => prices[args.item],
});

const order = tool({
  name: 'order',
  description: 'Orders a thing',
  schema: z.object({ item, size: z.enum(['small', 'large']) }),
  approval: true,
  execute: ({ args }) => `Ordered: ${args.size} ${args.item}.`,
});

/** Its calls end only when they are given up. */
const count = tool({
  name: 'count',
  description: 'Counts the stock',
  schema: z.object({ item }),
  readOnly: true,
  timeoutMs: 600_000,
  execute: async ({ signal }) => {
    await once(signal, 'abort');
    throw signal.reason;
  },
});

const model = openaiCompatible({
  baseURL: process.env['WEAK_MODEL_URL'] ?? 'http://127.0.0.1:9/v1',
  model: 'smollm2-135m',
  // A machine with much else to do writes a few tokens a second.
  timeoutMs: 600_000,
});

export const app = runtime({
  app: 'shop',
  store: sqlite(process.env['WEAK_MODEL_STORE'] ?? ':memory:'),
  runnables: [
    agent({
      name: 'clerk',
      model: process.env['WEAK_MODEL_CALLS'] === 'text' ? textProtocol(model) : model,
      instructions: 'You sell pens and books.',
      tools: [price, order, count],
      limits: { rounds: 4 },
    }),
  ],
  limits: { timeoutMs: 1_800_000 },
  recover: 'manual',
});
