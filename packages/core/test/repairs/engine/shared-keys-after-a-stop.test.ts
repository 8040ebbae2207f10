import { step } from 'adjutant';
import { afterEach, describe, expect, test } from 'vitest';
import { add, appOf, apps, changesOf, continueFrom, turns, upTo } from './stopped-apps.ts';

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

describe('keys that others write too', () => {
  /** A child adds ten to what a branch beside it has set. */
  const sharing = (waits: () => { readonly child: number; readonly set: number }) => {
    const child = step({
      name: 'child',
      execute: (ctx) => ctx.state.update('n', (n) => Number(n ?? 0) + 10),
    });
    return step({
      name: 'body',
      execute: async (ctx) => {
        await Promise.all([
          turns(waits().child).then(() => ctx.call(child, { key: 'c' })),
          turns(waits().set).then(async () => {
            ctx.state['n'] = add(ctx.state['n']);
            await ctx.effect('done', () => 1, { recovery: 'rerun' });
          }),
        ]);
      },
    });
  };

  test(
    'B18: a plain write in another order than before is `state_order`, before anything ' +
      'lands, and the run stays open',
    async () => {
      let waits = { child: 0, set: 6 };
      const body = sharing(() => waits);
      const { session } = await appOf(body).run(body, { runId: 'run' });
      expect(session.state['n']).toBe(11);
      const before = upTo(session.events, (event) => event.type === 'tool_attempt');
      waits = { child: 6, set: 0 };
      const app = appOf(body);
      const open = await app.sessions.restore({ app: 'bodies', id: 's', events: [...before] });
      await expect(app.run(body, { session: open, runId: 'run' })).rejects.toMatchObject({
        code: 'state_order',
        data: { path: 'run', scope: 'session', key: 'n', reason: 'order' },
      });
      expect(changesOf(open.events, 'n')).toEqual(changesOf(before, 'n'));
      expect(
        open.events.some(
          ({ type, invocationId }) => type === 'invocation_end' && invocationId === 'run',
        ),
      ).toBe(false);
      // In the order that is recorded it goes on.
      waits = { child: 0, set: 6 };
      const { result } = await continueFrom(open.events, body);
      expect(result).toMatchObject({ status: 'completed' });
      expect(result.session.state['n']).toBe(11);
    },
  );

  test('B18: the error says what helps, and code that catches it does not go on', async () => {
    let waits = { child: 0, set: 6 };
    const inner = sharing(() => waits);
    const body = step({
      name: 'body',
      execute: async (ctx) => {
        try {
          await inner.execute(ctx);
        } catch {
          // Code that swallows it.
        }
        await ctx.effect('afterwards', () => 1);
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_attempt');
    waits = { child: 6, set: 0 };
    await expect(continueFrom(before, body)).rejects.toThrow(
      /"n" of the session state.*update\(key, fn, \{ id \}\)/s,
    );
  });

  test(
    'B18: an update that the code no longer makes is `state_order`, unless the step accepts ' +
      'it',
    async () => {
      const bodyOf = (counts: boolean, onDrift: 'fail' | 'accept') =>
        step({
          name: 'body',
          onDrift,
          execute: async (ctx) => {
            if (counts) ctx.state.update('n', add);
            await ctx.effect('work', () => 1);
            await ctx.effect('more', () => 1);
          },
        });
      const { session } = await appOf(bodyOf(true, 'fail')).run(bodyOf(true, 'fail'), {
        runId: 'run',
      });
      const before = upTo(session.events, (event) => event.type === 'tool_result');
      await expect(continueFrom(before, bodyOf(false, 'fail'))).rejects.toMatchObject({
        code: 'state_order',
        data: { reason: 'left_over' },
      });
      const { result } = await continueFrom(before, bodyOf(false, 'accept'));
      expect(result.status).toBe('completed');
      expect(result.session.events).toContainEqual(
        expect.objectContaining({ type: 'decision', decision: 'accept_state_order' }),
      );
    },
  );

  test(
    'B18: an update with an `id` is found whatever runs beside it, and one `id` names one ' +
      'update of a key',
    async () => {
      const body = step({
        name: 'body',
        execute: async (ctx) => {
          ctx.state.update('n', add, { id: 'once' });
          ctx.state.update('m', add, { id: 'once' });
          await ctx.effect('work', () => 1);
          ctx.state.update('n', add, { id: 'once' });
        },
      });
      const result = await appOf(body).run(body, { runId: 'run' });
      expect(result).toMatchObject({ status: 'error', error: { code: 'invalid_key' } });
      const wrong = step({
        name: 'wrong',
        execute: (ctx) => ctx.state.update('n', add, { id: 7 as never }),
      });
      expect(await appOf(wrong).run(wrong)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_state' },
      });
      const unknown = step({
        name: 'unknown',
        execute: (ctx) => ctx.state.update('n', add, { key: 'x' } as never),
      });
      expect(await appOf(unknown).run(unknown)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_state' },
      });
    },
  );
});
