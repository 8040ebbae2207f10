import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agent, runtime, tool } from 'adjutant';
import { eventually, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { of, quiet, settled, start } from './started-round.ts';

describe('cancelling', () => {
  test('reaches a request that is under way: the server sees its socket close', async () => {
    const closed = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const server = createServer((request) => {
      asked.resolve();
      request.socket.on('close', () => closed.resolve());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const get = tool({
      name: 'get',
      description: 'Gets',
      schema: quiet,
      execute: async (ctx) => (await fetch(url, { signal: ctx.signal })).text(),
    });
    const { running, session } = await start([get], [{ name: 'get' }]);
    await asked.promise;
    running.cancel('enough');
    await closed.promise;
    expect(await running).toMatchObject({ status: 'cancelled', error: { message: 'enough' } });
    expect(settled(session.events)[0]).toMatchObject({ effect: 'unknown' });
    server.close();
  });

  test.for([
    [undefined, 'The call was cancelled while the tool was running: The run was cancelled.'],
    ['It is enough.', 'The call was cancelled while the tool was running: It is enough.'],
    ['enough', 'The call was cancelled while the tool was running: enough.'],
  ] as const)('tells the model the reason %j in one sentence', async ([reason, content]) => {
    const begun = Promise.withResolvers<void>();
    const hang = tool({
      name: 'hang',
      description: 'Hangs',
      schema: quiet,
      execute: (ctx) => {
        begun.resolve();
        return new Promise((_, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        );
      },
    });
    const { running, session } = await start([hang], [{ name: 'hang' }]);
    await begun.promise;
    running.cancel(reason);
    expect(await running).toMatchObject({ status: 'cancelled' });
    expect(settled(session.events)[0]).toMatchObject({ result: { status: 'unknown', content } });
  });

  test('reaches the model, and leaves each call with one result', async () => {
    let aborted = false;
    const silent = {
      ...scriptedModel([]),
      doStream: ({ abortSignal }: { abortSignal?: AbortSignal }) =>
        new Promise<never>((_resolve, reject) =>
          abortSignal?.addEventListener('abort', () => {
            aborted = true;
            reject(abortSignal.reason);
          }),
        ),
    };
    const app = runtime({ app: 'rounds' });
    const session = await app.sessions.open();
    const running = app.run(agent({ name: 'a', model: silent }), { input: 'Go', session });
    await eventually(() => of(session.events, 'model_start').length === 1, { what: 'the call' });
    running.cancel();
    expect(await running).toMatchObject({ status: 'cancelled' });
    expect(aborted).toBe(true);
    expect(of(session.events, 'model_end')).toMatchObject([{ status: 'cancelled' }]);
  });

  test(
    'neither begins calls that wait for their turn nor repeats one that waits for another ' +
      'attempt',
    async () => {
      const begun: string[] = [];
      const hang = tool({
        name: 'hang',
        description: 'Hangs',
        schema: quiet,
        execute: (ctx) => {
          begun.push(ctx.callId);
          return new Promise<string>((resolve) =>
            ctx.signal.addEventListener('abort', () => resolve('stopped')),
          );
        },
      });
      const flaky = tool({
        name: 'flaky',
        description: 'Fails',
        schema: quiet,
        retry: { initialDelayMs: 60_000 },
        execute: (ctx) => {
          begun.push(ctx.callId);
          throw Object.assign(new Error('busy'), { statusCode: 429 });
        },
      });
      const { running, session } = await start(
        [hang, flaky],
        [{ name: 'flaky' }, { name: 'hang' }, { name: 'hang' }],
      );
      await eventually(() => begun.length === 2 && of(session.events, 'tool_result').length === 1, {
        what: 'two attempts',
      });
      running.cancel();
      expect(await running).toMatchObject({ status: 'cancelled' });
      expect(begun).toEqual(['run/r1.0', 'run/r1.1']);
      expect(
        settled(session.events)
          .map(({ callId, effect, result }) => [callId, effect, result.status])
          .sort(),
      ).toEqual([
        ['run/r1.0', 'none', 'error_blocked'],
        ['run/r1.1', undefined, 'success'],
        ['run/r1.2', 'none', 'error_blocked'],
      ]);
    },
  );
});
