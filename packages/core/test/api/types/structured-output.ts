import { agent, output, rehearsal, runtime } from 'adjutant';
import { z } from 'zod';

const stateSchema = {
  session: {
    product: z.object({
      name: z.string(),
      price: z.number(),
      tags: z.array(z.object({ text: z.string() })),
    }),
  },
};

const find = agent({
  name: 'find',
  model: rehearsal(),
  output: output(stateSchema, 'product'),
  goal: { check: ({ price }) => price > 0 },
});
const rate = agent({
  name: 'rate',
  model: rehearsal(),
  output: z.enum(['low', 'high']),
  input: stateSchema.session.product,
});

export const app = runtime({ app: 'shop', runnables: [find, rate] });
export const result = app.run(find, 'A lamp').then(({ output: found }) => found?.tags[0]?.text);
export const rating = app
  .run(rate, { data: { name: 'Lamp', price: 12, tags: [] } })
  .then(({ output: rated }) => rated === 'low');
