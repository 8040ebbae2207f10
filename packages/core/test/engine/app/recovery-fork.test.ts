import { parallel, runtime, step } from 'adjutant';
import { expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { n: z.number() } };

test(
  'in a fork that keeps shared state to itself, concurrent branches lose ' + 'no update',
  async () => {
    const app = runtime({ app: 'forks', stateSchema });
    const origin = await app.sessions.open({ id: 'origin', userId: 'ann' });
    origin.state.user.n = 10;
    await origin.flush();
    const fork = await app.sessions.fork('origin', { shared: 'isolated' });
    const branches = ['a', 'b', 'c'].map((name) =>
      step({
        name,
        stateSchema,
        execute: (ctx) => void ctx.state.user.update('n', (n = 0) => n + 1),
      }),
    );
    await app.run(parallel({ name: 'all', runnables: branches }), { session: fork });
    expect(fork.state.user.n).toBe(13);
    expect((await app.sessions.open({ id: 'origin' })).state.user.n).toBe(10);
    await app.close();
  },
);
