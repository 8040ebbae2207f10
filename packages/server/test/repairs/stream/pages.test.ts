import { agent, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { callerOf } from '../../rest/caller.ts';

/** A session of many large messages, none so large that it is stored as a reference. */
async function talkative() {
  const talker = agent({ name: 'talker', model: scriptedModel(() => ({ text: 'I see.' })) });
  const app = runtime({ app: 'shop', runnables: [talker] });
  const caller = callerOf(app);
  for (let i = 0; i < 100; i++)
    await app.run(talker, { session: 's', input: `${i} ${'x'.repeat(60_000)}` });
  return { app, caller };
}

test(
  'A3: a page of large events ends before its limit, and the pages together are ' + 'the ledger',
  async () => {
    const { app, caller } = await talkative();
    const { last } = (await caller.get('/v1/sessions/s/events?limit=1')).body;
    const read: unknown[] = [];
    let after = 0;
    let pages = 0;
    while (after < last) {
      const { text, body } = await caller.get(`/v1/sessions/s/events?limit=1000&after=${after}`);
      expect(text.length).toBeLessThan(4_300_000);
      expect(body.next).toBeGreaterThan(after);
      expect(body.last).toBe(last);
      read.push(...body.events);
      after = body.next;
      pages++;
    }
    expect(pages).toBeGreaterThan(1);
    const events: unknown[] = [];
    for await (const event of app.sessions.events('s')) events.push(event);
    expect(read).toEqual(JSON.parse(JSON.stringify(events)));
    const { status, body } = await caller.get(`/v1/sessions/s/events?after=${last}`);
    expect([status, body]).toEqual([200, { events: [], next: last, last }]);
  },
);

test('A3: a long conversation is told in parts that are one JSON text', async () => {
  const { caller } = await talkative();
  const { text } = await caller.get('/v1/sessions/s/transcript');
  expect((JSON.parse(text) as { entries: unknown[] }).entries.length).toBeGreaterThanOrEqual(200);
});
