/**
 * A trigger starts work by itself: at a time, or after an event. The user is told how it ended, by
 * the channels of the app, once.
 */
import assert from 'node:assert/strict';
import { agent, memoryStore, runtime } from 'adjutant';
import { consoleChannel, notifications } from 'adjutant/notifications';
import { scriptedModel, testClock } from 'adjutant/testing';
import { action, cron, event, trigger, triggers } from 'adjutant/triggers';

const clock = testClock(Date.parse('2027-03-12T07:00Z'));
const clerk = agent({
  name: 'clerk',
  model: scriptedModel([{ text: 'Two mails are unread.' }]),
});
const heard: unknown[] = [];
const note = action({
  name: 'note',
  execute: ({ about }) => {
    heard.push(about?.data);
    return null;
  },
});
const printed: string[] = [];
const app = runtime({
  app: 'desk',
  store: memoryStore({ clock }),
  ports: { clock },
  // A worker does by itself what `resumeStopped` does here.
  recover: 'manual',
  notifications: notifications({
    channels: [consoleChannel({ print: (text) => printed.push(text) })],
  }),
  triggers: triggers([
    trigger({
      name: 'morning',
      on: cron('30 8 * * 1-5', { timeZone: 'Europe/Berlin' }),
      start: clerk,
      input: 'Summarize the unread mail.',
      notify: { user: 'ann' },
    }),
    trigger({ name: 'on-mail', on: event('mail.*'), start: note, overlap: 'queue' }),
  ]),
});

async function work(): Promise<void> {
  for (const run of await app.recovery.resumeStopped()) await run.settled();
  await app.recovery.resumeStopped();
}

await work();
const [next] = await app.triggers.preview('morning', { count: 1 });
assert.equal(new Date(next ?? 0).toISOString(), '2027-03-12T07:30:00.000Z');

clock.advance(30 * 60_000);
await app.publish({ type: 'mail.received', data: { from: 'bob' }, id: 'mail-1' });
await app.publish({ type: 'mail.received', data: { from: 'bob' }, id: 'mail-1' }); // the same one
await work();

const [task] = await app.tasks.list({ states: ['completed'], requester: 'system' });
assert(task !== undefined);
assert.deepEqual(heard, [{ from: 'bob' }]);
assert.match(printed[0] ?? '', /^To default\/ann: "morning" is done/);
for (const { decision, reasoning } of await app.triggers.history('morning'))
  console.log(decision.padEnd(8), reasoning);
await app.close();
