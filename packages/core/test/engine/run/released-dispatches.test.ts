import { memoryStore, runtime, step } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { asker, hooked, scope, turns } from './hooked-store.ts';

describe('what was dispatched and waits for somebody', () => {
  test.each(['dispatched', 'detached'])(
    'does not have its session continued before it is answered (%s)',
    async (how) => {
      const child = asker('child');
      const root = step({
        name: 'root',
        execute: (ctx) => {
          if (how === 'dispatched') ctx.dispatch(child, { message: 'Hi' });
          else ctx.spawn(child, { message: 'Hi' }).detach();
          return ctx.complete('done');
        },
      });
      const store = hooked(memoryStore());
      const app = runtime({ app: 'attacks', store, recover: 'manual', runnables: [root, child] });
      const run = app.run(root, 'Go');
      const { status, session } = await run;
      expect(status).toBe('completed');
      await run.settled();
      expect(await store.for(scope).due()).toEqual([]);
      const [row] = await store.for(scope).requests({ status: 'pending' });
      await app.requests.answer(row?.requestId ?? '', { input: { answer: 'Yes' } });
      const [resumed] = await app.recovery.resumeStopped();
      await resumed?.settled();
      const ends = (await app.sessions.open({ id: session.id })).events.flatMap((event) =>
        event.type === 'invocation_end' ? [event.status] : [],
      );
      expect(ends).toEqual(['completed', 'completed']);
      expect(await store.for(scope).due()).toEqual([]);
    },
  );

  test(
    'leaves alone what its caller waits for, and goes on with its answer while the caller ' +
      'does',
    async () => {
      const child = asker('child');
      const app = runtime({ app: 'attacks', runnables: [child] });
      const session = await app.sessions.open();
      const worker = step({
        name: 'worker',
        execute: async (ctx) => {
          await eventually(() => session.events.some(({ type }) => type === 'tool_yield'), {
            what: 'the question',
          });
          await session.ledger.durable();
          await turns();
          const [call] = session.pendingYieldingCalls;
          await app.requests.answer(call?.requestId ?? '', { input: { answer: 'Yes' } });
          await eventually(() => session.events.some(({ type }) => type === 'tool_result'), {
            what: 'the result of the call',
          });
          return ctx.complete('worked');
        },
      });
      const root = step({
        name: 'root',
        execute: async (ctx) => {
          ctx.dispatch(child, { message: 'Hi' });
          const { output } = await ctx.spawn(worker).wait();
          return ctx.complete(output ?? '');
        },
      });
      const result = await app.run(root, { session, input: 'Go' });
      expect(result).toMatchObject({ status: 'completed', output: 'worked' });
    },
  );

  test(
    'what was dispatched by a run that waits is continued by others when the ' + 'process stops',
    async () => {
      const store = hooked(memoryStore());
      const slow = step({
        name: 'slow',
        execute: (ctx) =>
          eventually(() => ctx.signal.aborted, { what: 'the end' }).then(() => ctx.complete('x')),
      });
      const root = step({
        name: 'root',
        execute: async (ctx) => {
          ctx.dispatch(slow);
          return ctx.complete((await ctx.call(asker())).output as string);
        },
      });
      const app = runtime({ app: 'attacks', store, recover: 'manual', runnables: [slow] });
      const { status, session } = await app.run(root, 'Go');
      expect(status).toBe('yielded');
      await app.close();
      expect(await store.for(scope).due()).toMatchObject([{ session: session.id }]);
    },
  );
});
