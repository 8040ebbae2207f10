import { serve } from '@adjutant/server';
import { client } from '@adjutant/server/client';
import { agent, memoryStore, runtime, type StreamEvent } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ServerConversation } from '../../../src/tui/session/server-conversation.ts';

/** A model whose second half of an answer waits for the test. */
function halting() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const model = scriptedModel([{ chunks: ['Both are', ' mended.'] }]);
  const halted = Object.create(model, {
    doStream: {
      value: async (options: Parameters<typeof model.doStream>[0]) => {
        const { stream, ...rest } = await model.doStream(options);
        let deltas = 0;
        const gate = new TransformStream({
          async transform(part: { readonly type: string }, controller) {
            if (part.type === 'text-delta' && ++deltas === 2) await promise;
            controller.enqueue(part);
          },
        });
        return { ...rest, stream: stream.pipeThrough(gate as never) };
      },
    },
  }) as typeof model;
  return { model: halted, go: resolve };
}

test('an answer that is under way is told from its begin to one who comes later', async () => {
  const { model, go } = halting();
  const coder = agent({ name: 'coder', model });
  const app = runtime({ app: 'shop', runnables: [coder], store: memoryStore() });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(() => listening.close({ closeApp: true }));
  const api = client({ url: listening.url });
  const open = (session?: string) =>
    new ServerConversation({ client: api, session, agent: () => 'coder' });
  const told = (conversation: ServerConversation, wanted: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<StreamEvent[]>();
    const events: StreamEvent[] = [];
    let text = '';
    const event = (one: StreamEvent): void => {
      events.push(one);
      if (one.type === 'assistant_delta') text += one.delta;
      if (text === wanted) resolve(events);
    };
    conversation.listen({ event, failed: reject, changed: () => undefined });
    return promise;
  };
  const first = open();
  expect(await first.open()).toEqual([]);
  const half = told(first, 'Both are');
  await first.say('Mend them');
  await half;
  const second = open(first.session);
  const events = await second.open();
  expect(events.map(({ type }) => type)).toEqual(['user', 'invocation_start', 'model_start']);
  await told(second, 'Both are');
  go();
  expect(await first.stop()).toBe(true);
  await second.stop();
});
