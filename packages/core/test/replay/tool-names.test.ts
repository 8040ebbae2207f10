import { agent, runtime, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

// Providers know `shop.price` as `shop__price`. Weak models make names up, with dots in them.
test.for(['shop__price', 'shop.price', 'pri-buy-513.com,', 'shop.prise', 'a..b', 'a__b'])(
  'a call of the tool %j, which there may not be, is replayed as it is recorded',
  async (name) => {
    const price = tool({
      name: 'shop.price',
      description: 'The price of a thing',
      schema: z.object({}),
      execute: () => 3,
    });
    const model = scriptedModel([{ toolCalls: [{ name }] }, { text: 'A pen is 3.' }]);
    const clerk = agent({ name: 'clerk', model, tools: [price] });
    const app = runtime({ app: 'shop', runnables: [clerk], recover: 'manual' });
    const { session, status } = await app.run(clerk, 'What is a pen?');
    expect(status).toBe('completed');
    expect((await replay(session, app)).divergence).toBeUndefined();
    await app.close();
  },
);
