import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  type ErrorHandler,
  type Hooks,
  type Middleware,
  run,
  runtime,
  type StateSchema,
} from '../../../../src/index.ts';
import { scriptedModel } from '../../../../src/testing/index.ts';

const stateSchema = {
  session: { mood: z.string(), visits: z.number() },
  user: { theme: z.enum(['dark', 'light']) },
} satisfies StateSchema;

type Mood = string | undefined;

test(
  'hooks that are written where they are used have the state that the ' + 'agent declares',
  async () => {
    const greeter = agent({
      name: 'greeter',
      model: scriptedModel([{ text: 'Hello' }]),
      stateSchema,
      hooks: {
        beforeAgent: (ctx) => {
          expectTypeOf(ctx.state.mood).toEqualTypeOf<Mood>();
          ctx.state.mood = 'good';
          ctx.state.update('visits', (visits = 0) => visits + 1);
          // @ts-expect-error
          void ctx.state.weather;
        },
      },
      middleware: [
        {
          name: 'theme',
          beforeAgent: (ctx) =>
            expectTypeOf(ctx.state.user.theme).toEqualTypeOf<'dark' | 'light' | undefined>() &&
            undefined,
        },
      ],
    });
    const { session } = await run(greeter, {
      input: 'Hi',
      session: await runtime({ app: 'shop' }).sessions.open({ id: 'a', userId: 'u' }),
    });
    expect({ ...session.state }).toMatchObject({ mood: 'good', visits: 1 });
  },
);

test('typed hooks, middleware and error handlers can be given to agents and runtimes', async () => {
  const hooks: Hooks<typeof stateSchema> = {
    beforeAgent: (ctx) => {
      ctx.state.mood = 'good';
    },
  };
  const middleware: Middleware<typeof stateSchema> = {
    name: 'counter',
    afterAgent: (ctx) => ctx.state.update('visits', (visits = 0) => visits + 1),
  };
  const handler: ErrorHandler<typeof stateSchema> = {
    name: 'moody',
    handle: (ctx) => ({ action: ctx.state.mood === 'good' ? 'pass' : 'throw' }),
  };
  const parts = { hooks, middleware: [middleware], errorHandlers: [handler] };
  const greeter = agent({ name: 'greeter', model: scriptedModel([{ text: 'Hello' }]), ...parts });
  const app = runtime({
    app: 'shop',
    stateSchema,
    ...parts,
    lifecycle: {
      prepare: (ctx) => {
        expectTypeOf(ctx.state.mood).toEqualTypeOf<Mood>();
        ctx.state.update('visits', (visits = 0) => visits + 1);
      },
      admit: (ctx) => (ctx.state.mood === 'bad' ? { refuse: 'Come back later.' } : true),
      postProcess: (ctx) =>
        expectTypeOf(ctx.state.visits).toEqualTypeOf<number | undefined>() && undefined,
    },
  });
  const { session } = await app.run(greeter, {
    session: await app.sessions.open({ id: 'a', userId: 'u' }),
    input: 'Hi',
  });
  expect({ ...session.state }).toMatchObject({ mood: 'good', visits: 3 });
  await app.close();
});

test('without a schema the state of hooks is unknown', () => {
  agent({
    name: 'greeter',
    model: scriptedModel([]),
    hooks: {
      beforeAgent: (ctx) => expectTypeOf(ctx.state['mood']).toEqualTypeOf<unknown>() && undefined,
    },
  });
});
