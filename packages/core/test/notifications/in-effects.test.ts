import { memoryStore, runtime, step } from 'adjutant';
import { type Channel, slackChannel, webhookChannel } from 'adjutant/notifications';
import { expect, test } from 'vitest';
import { answer, type HttpService, httpService } from './http-service.ts';
import { approval } from './notices.ts';

/** Answers one request after the other with these statuses, and later ones with the last. */
function answering(...statuses: readonly number[]): Promise<HttpService> {
  let count = 0;
  return httpService((response, request) => {
    const status = statuses[Math.min(count++, statuses.length - 1)] ?? 200;
    answer(status, '')(response, request);
  });
}

/** Sends a notice by an effect of a step, as the channel bears it. */
async function notify(channel: Channel) {
  const notifier = step({
    name: 'notifier',
    execute: async (ctx) => {
      const receipt = await ctx.effect('send', (context) => channel.send(approval, context), {
        recovery: channel.idempotent ? 'rerun' : 'report',
        retry: { attempts: 3, initialDelayMs: 1 },
      });
      return ctx.complete(receipt);
    },
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [notifier] });
  const result = await app.run(notifier);
  const attempts = result.session.events.filter(({ type }) => type === 'tool_attempt');
  await app.close();
  return { result, attempts: attempts.length };
}

test('a channel that bears doubles is tried again by its key if the end is unknown', async () => {
  const service = await answering(500, 200);
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const { result, attempts } = await notify(webhookChannel({ url: service.url, secret }));
  const ids = service.requests.map(({ headers }) => headers['webhook-id']);
  expect(result.status).toBe('completed');
  expect(result.output).toEqual({ channel: 'webhook', messageId: ids[0] });
  expect(ids).toEqual([ids[0], ids[0]]);
  expect(attempts).toBe(2);
});

test('another one is not: the notice may have arrived', async () => {
  const service = await answering(500, 200);
  const { result } = await notify(slackChannel({ webhookUrl: service.url }));
  expect(result.status).toBe('error');
  expect(result.error?.code).toBe('effect_unknown');
  expect(service.requests).toHaveLength(1);
});

test('a refusal that may pass is tried again by every channel', async () => {
  const service = await answering(429, 200);
  const { result } = await notify(slackChannel({ webhookUrl: service.url }));
  expect(result.status).toBe('completed');
  expect(service.requests).toHaveLength(2);
});

test('a refusal that stays is not', async () => {
  const service = await answering(404, 200);
  const { result } = await notify(slackChannel({ webhookUrl: service.url }));
  expect(result.error?.code).toBe('effect_failed');
  expect(service.requests).toHaveLength(1);
});
