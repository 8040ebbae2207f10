import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Bench, bench, jsonLines } from './run-cli.ts';

const charge = (): Promise<string> =>
  Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
const order = step({
  name: 'order',
  execute: async (ctx) => ctx.complete(await ctx.effect('charge', charge)),
});

function shopOf({ folder }: Bench) {
  const store = join(folder, 'shop.db');
  const app = runtime({
    app: 'shop',
    store: sqlite(store),
    runnables: [order],
    recover: 'manual',
  });
  return { app, where: ['--store', store, '--app', 'shop'] };
}

/** A session whose run has failed, because nobody knows whether the card was charged. */
async function failedOrder() {
  const place = bench();
  const { app, where } = shopOf(place);
  const { error } = await app.run(order, { session: 'order-7', runId: 'pay' });
  expect(error?.data?.['callId']).toBe('pay/charge');
  await app.close();
  return { place, where };
}

describe('a run that failed at an effect of unknown outcome', () => {
  test('is repaired in the store of this machine', async () => {
    const { place, where } = await failedOrder();
    const told = await place.run(['resolve', 'order-7', 'pay/charge', '--result', '"c"', ...where]);
    expect(told).toMatchObject({
      code: 0,
      stdout: 'The outcome of "pay/charge" is recorded.\n',
      stderr: '',
    });
    const reopened = await place.run(['reopen', 'order-7', '--reason', 'It is known', ...where]);
    expect(reopened).toMatchObject({
      code: 0,
      stdout: 'The run of session "order-7" is open again.\n',
    });
    const { app } = shopOf(place);
    expect((await app.resume('order-7')).output).toBe('c');
    await app.close();
  });

  test('is repaired on a server', async () => {
    const { place } = await failedOrder();
    const { app } = shopOf(place);
    const { url, close } = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
    onTestFinished(() => close({ closeApp: true }));
    const on = (...args: string[]) => place.run([...args, '--json', '--server', url]);
    const told = await on('resolve', 'order-7', 'pay/charge', '--failed', 'Declined');
    expect({ code: told.code, lines: jsonLines(told.stdout) }).toEqual({
      code: 0,
      lines: [{ type: 'resolve', session: 'order-7', callId: 'pay/charge', status: 'recorded' }],
    });
    const reopened = await on('reopen', 'order-7', '--reason', 'It is known', '--path', 'pay');
    expect(jsonLines(reopened.stdout)).toEqual([
      { type: 'reopen', session: 'order-7', status: 'reopened' },
    ]);
    expect((await app.resume('order-7')).error).toMatchObject({ code: 'effect_failed' });
    expect(await on('resolve', 'order-7', 'pay/charge', '--not-happened')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the effect has an outcome'),
    });
  });

  test.for<[string[], string]>([
    [['resolve', 'order-7', 'pay/charge'], 'Tell what became of it: --happened, --result'],
    [['resolve', 'order-7', 'pay/charge', '--result', '{c'], 'What was given is not JSON'],
    [['resolve', 'order-7', 'pay/charge', '--happened', '--not-happened'], 'cannot be used with'],
    [
      ['resolve', 'order-7', 'pay/charge', '--result', '1', '--failed', 'No'],
      'cannot be used with',
    ],
    [['resolve', 'order-7', 'pay/charge', '--failed', ' '], 'It is empty.'],
    [['resolve', 'order-7', '--happened'], "missing required argument 'call'"],
    [['resolve', 'order-7', 'pay/refund', '--happened'], 'no call or effect with this id'],
    [['resolve', 'order-8', 'pay/charge', '--happened'], 'There is no session "order-8"'],
    [['reopen', 'order-7'], "required option '--reason <text>' not specified"],
    [['reopen', 'order-7', '--reason', 'x', '--path', 'pay/no'], 'there is no such invocation'],
    [['reopen', 'order-8', '--reason', 'x'], 'There is no session "order-8"'],
  ])('%j is refused, and changes nothing', async ([args, message]) => {
    const { place, where } = await failedOrder();
    const ledger = async () =>
      (await place.run(['show', 'order-7', '--events', '--json', ...where])).stdout;
    const before = await ledger();
    expect(await place.run([...args, ...where])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(await ledger()).toBe(before);
  });
});
