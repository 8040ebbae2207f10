import { agent, type Event, parallel, sequence, step, tool } from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { callOf, decided, type Feature, inTime, none, ofType, run } from './stage.ts';

const isPublication = (
  event: Event,
): event is Event & { readonly data: { readonly key: string } } =>
  event.type === 'decision' && event.component === 'bus' && event.decision === 'publish';

/** Runs that are reopened, cancelled, continued and watched by others. */
export const runFeatures: Readonly<Record<string, Feature>> = {
  'several turns of a user': {
    define: () =>
      agent({
        name: 'talker',
        model: roundModel([{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
      }),
    act: async (stage) => {
      await run(stage, 'first', 'one');
      await run(stage, 'second', 'two');
      return run(stage, 'third', 'three');
    },
    has: (event) => event.type === 'user' && event.text === 'third',
  },
  'values of more than 64 KB in inputs, results, state and outputs': {
    define: () =>
      sequence({
        name: 'all',
        runnables: [
          step({
            name: 'large',
            execute: (ctx) => {
              ctx.state['large'] = 'x'.repeat(70_000);
            },
          }),
          agent({
            name: 'reader',
            model: roundModel([callOf('read'), { text: 'z'.repeat(70_000) }]),
            tools: [
              tool({
                name: 'read',
                description: 'Reads',
                schema: none,
                recovery: 'rerun',
                execute: () => 'y'.repeat(70_000),
              }),
            ],
          }),
        ],
      }),
    act: (stage) => run(stage, 'i'.repeat(70_000)),
    has: (event) => JSON.stringify(event).includes('$blob'),
  },
  'a cancel while branches are under way': {
    define: (tools) =>
      parallel({
        name: 'both',
        runnables: [
          agent({ name: 'stuck', model: roundModel([callOf('hang')]), tools: [tools.hang] }),
          agent({ name: 'beside', model: roundModel([{ text: 'beside' }]) }),
        ],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      await stage.app.cancel('s', { by: 'operator:jo', reason: 'enough' });
      return inTime(running, stage.clock);
    },
    has: ofType('cancel'),
  },
  'a run that failed and was reopened': {
    define: () =>
      sequence({
        name: 'all',
        runnables: [
          agent({ name: 'good', model: roundModel([{ text: 'good' }]) }),
          step({
            name: 'fixed',
            execute: async (ctx) => {
              const isThere = await ctx.effect('look', () => 'there', { recovery: 'rerun' });
              if (ctx.session.events.every(({ type }) => type !== 'invocation_reopen'))
                return ctx.fail('not yet');
              return ctx.complete(isThere);
            },
          }),
        ],
      }),
    act: async (stage) => {
      await run(stage);
      await stage.app.sessions.reopen('s', { reason: 'it is there now' });
      return (await stage.app.resume('s')).session;
    },
    has: ofType('invocation_reopen'),
  },
  'grants and limits given to a run': {
    define: () =>
      agent({
        name: 'writer',
        model: roundModel([callOf('write'), { text: 'written' }]),
        tools: [
          tool({
            name: 'write',
            description: 'Writes',
            schema: none,
            recovery: 'rerun',
            requiresPermission: ['fs:write'],
            execute: () => 1,
          }),
        ],
      }),
    act: async ({ app, root }) => {
      await app.run(root, { session: 's', input: 'Without', runId: 'without' });
      await app.sessions.grant('s', ['web:read'], { by: 'operator:eve' });
      return (
        await app.run(root, {
          session: 's',
          input: 'With',
          runId: 'with',
          permissions: ['fs:write'],
          limits: { rounds: 5 },
        })
      ).session;
    },
    has: decided('grant'),
  },
  'what another session wrote to a scope that both share': {
    define: () =>
      step({
        name: 'reading',
        stateSchema: { session: {}, user: { n: z.number() } },
        execute: async (ctx) => {
          const before = ctx.state.user.n ?? 0;
          await ctx.effect('look', () => before, { recovery: 'rerun' });
          ctx.state.user.n = before + 1;
        },
      }),
    options: { stateSchema: { session: {}, user: { n: z.number() } } },
    act: async ({ app, root }) => {
      const session = async (id: string) => app.sessions.open({ id, userId: 'ann' });
      await app.run(root, { session: await session('other'), input: 'Go' });
      const own = await session('s');
      await app.run(root, { session: own, input: 'Go', runId: 'one' });
      await app.run(root, { session: await session('other'), input: 'Go' });
      return (await app.run(root, { session: own, input: 'Go', runId: 'two' })).session;
    },
    has: (event) => event.type === 'state_change' && event.source === 'observation',
  },
  'facts that are remembered': {
    define: () =>
      agent({
        name: 'keeper',
        model: roundModel([callOf('keep'), { text: 'kept' }]),
        tools: [
          tool({
            name: 'keep',
            description: 'Keeps',
            schema: none,
            recovery: 'report',
            execute: async (ctx) => {
              ctx.remember('The sky is blue.', { key: 'sky' });
              await ctx.call(step({ name: 'child', execute: () => undefined }));
              ctx.remember('Grass is green.');
              ctx.state['kept'] = true;
              return 'kept';
            },
          }),
        ],
      }),
    act: (stage) => run(stage),
    has: ofType('memory'),
  },
  'what comes after a run, cancelled': {
    define: () => agent({ name: 'guest', model: roundModel([{ text: 'hello' }]) }),
    options: {
      lifecycle: {
        postProcess: (ctx) =>
          new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(undefined))),
      },
    },
    act: async ({ app, root }) => {
      const running = app.run(root, { session: 's', input: 'Go', runId: 'run' });
      const { session } = await running;
      await eventually(
        () =>
          session.events.some(
            (event) => event.type === 'invocation_start' && event.name === '~postProcess',
          ),
        {
          what: 'the follow-up',
        },
      );
      await app.cancel('s');
      await running.settled();
      return session;
    },
    has: ofType('cancel'),
  },
  'events that a body publishes, which runs again after a failure': {
    define: () =>
      step({
        name: 'order',
        execute: async (ctx) => {
          await ctx.publish({ type: 'order.placed', data: { id: 'order-7' } });
          await ctx.publish({ type: 'order.placed', data: { id: 'order-7' } });
          const isThere = await ctx.effect('look', () => 'there', { recovery: 'rerun' });
          if (ctx.session.events.every(({ type }) => type !== 'invocation_reopen'))
            return ctx.fail('not yet');
          await ctx.publish({ type: 'order.paid', source: 'shop' }, { key: 'paid' });
          return ctx.complete(isThere);
        },
      }),
    act: async (stage) => {
      await run(stage);
      await stage.app.sessions.reopen('s', { reason: 'It is there now.' });
      const { session } = await stage.app.resume(stage.root, 's');
      return session;
    },
    has: (event) => isPublication(event) && event.data.key.endsWith('paid'),
  },
  'a child that a tool detached': {
    define: () => {
      const child = step({ name: 'child', execute: (ctx) => ctx.complete('child') });
      const send = tool({
        name: 'send',
        description: 'Sends',
        schema: none,
        recovery: 'report',
        execute: (ctx) => {
          ctx.spawn(child, { message: 'go' }).detach();
          return 'sent';
        },
      });
      return agent({
        name: 'sender',
        model: roundModel([callOf('send'), { text: 'sent' }]),
        tools: [send],
      });
    },
    options: { runnables: [step({ name: 'child', execute: (ctx) => ctx.complete('child') })] },
    act: async ({ app, root }) => {
      const running = app.run(root, { session: 's', input: 'Go', runId: 'run' });
      const { session } = await running;
      await running.settled();
      return session;
    },
    has: decided('detach'),
  },
};
