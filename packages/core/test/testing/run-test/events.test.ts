import { agent, openai, step, tool } from 'adjutant';
import { type Channel, notifications } from 'adjutant/notifications';
import {
  approve,
  crash,
  expectPrompt,
  fire,
  meanwhile,
  model,
  publish,
  runTest,
  user,
} from 'adjutant/testing';
import { action, cron, event, trigger, triggers } from 'adjutant/triggers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const reply = tool({
  name: 'reply',
  description: 'Replies to a mail',
  schema: z.object({ text: z.string() }),
  approval: true,
  execute: () => 'sent',
});
const clerk = agent({ name: 'clerk', model: openai('gpt-5'), tools: [reply] });
const onMail = trigger({ name: 'on-mail', on: event('mail.*'), start: clerk, input: 'Answer it.' });
const morning = trigger({ name: 'morning', on: cron('0 8 * * *'), start: clerk });
const asked = model({ toolCalls: [{ name: 'reply', args: { text: 'Yes' } }] });

/** A channel that keeps what it is given. */
function keeping() {
  const sent: string[] = [];
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async ({ title }) => {
      sent.push(title);
      return { channel: 'mail' };
    },
  };
  return { channel, sent };
}

describe('publish', () => {
  test('begins the run of the test by a trigger, also over crashes', async () => {
    const { events, output, results, status } = await runTest(
      clerk,
      [
        publish('mail.received', { from: 'ann' }, { source: 'imap' }),
        expectPrompt((prompt) => expect(JSON.stringify(prompt)).toContain('Answer it.')),
        asked,
        crash(),
        approve('reply'),
        model('Answered.'),
      ],
      { runtime: { triggers: triggers([onMail]) } },
    );
    expect({ output, status }).toEqual({ output: 'Answered.', status: 'completed' });
    expect(results).toHaveLength(1);
    const text = events.find(({ type }) => type === 'user');
    expect(text).toMatchObject({ text: expect.stringContaining('{"from":"ann"}') });
  });

  test('begins a run that ends at once', async () => {
    const note = action({ name: 'note', execute: ({ about }) => about?.['data'] ?? null });
    const noting = trigger({ name: 'noting', on: event('mail.*'), start: note });
    const { output, published } = await runTest(note, [publish('mail.received', 'Hello')], {
      runtime: { triggers: triggers([noting]) },
    });
    expect(output).toBe('Hello');
    expect(published).toEqual([]);
  });

  test('lets others work while the run of the test goes on', async () => {
    const seen: unknown[] = [];
    const note = action({ name: 'note', execute: ({ about }) => seen.push(about?.['data']) });
    const noting = trigger({ name: 'noting', on: event('mail.*'), start: note });
    const { output } = await runTest(
      clerk,
      [
        user('Hi'),
        publish('mail.received', 1),
        meanwhile(() => expect(seen).toEqual([1])),
        model('Ho'),
      ],
      { runtime: { triggers: triggers([noting]) } },
    );
    expect(output).toBe('Ho');
  });

  test('with an id that has come is the same event', async () => {
    const steps = [publish('mail.received', 1, { id: 'mail-17' }), model('One.')];
    const again = publish('mail.received', 1, { id: 'mail-17' });
    const { results } = await runTest(clerk, [...steps, again], {
      runtime: { triggers: triggers([onMail]) },
    });
    expect(results).toHaveLength(1);
  });
});

describe('fire', () => {
  test('begins the run of the test, whatever the schedule', async () => {
    const { output, results } = await runTest(
      clerk,
      [fire('morning'), model('Good morning.'), fire('morning', { key: 'b' }), model('Again.')],
      { runtime: { triggers: triggers([morning]) } },
    );
    expect(output).toBe('Again.');
    expect(results.map((one) => one.output)).toEqual(['Good morning.', 'Again.']);
  });
});

test('what a run has published is in the result of its test', async () => {
  const ended = step({
    name: 'ended',
    execute: async (ctx) => {
      await ctx.publish({ type: 'task.ended', data: { pages: 12 } });
      await ctx.publish({ type: 'mail.wanted', source: 'clerk' });
      return ctx.complete('ended');
    },
  });
  const { published } = await runTest(ended, [crash()]);
  expect(published).toMatchObject([
    { type: 'task.ended', data: { pages: 12 } },
    { type: 'mail.wanted', data: null, source: 'clerk' },
  ]);
});

test('notices of the run are in the result of its test, as the channels took them', async () => {
  const { channel, sent } = keeping();
  const { notices, status } = await runTest(clerk, [user('Reply'), asked], {
    session: { userId: 'ann' },
    runtime: { notifications: notifications({ channels: [channel], requests: true }) },
  });
  expect(status).toBe('yielded');
  expect(notices).toMatchObject([
    {
      user: 'ann',
      title: 'Somebody has to decide',
      status: 'sent',
      attempts: [{ channel: 'mail' }],
    },
  ]);
  expect(sent).toEqual(['Somebody has to decide']);
});

test('without the option there are no notices', async () => {
  const { notices, published } = await runTest(clerk, [user('Hi'), model('Ho')]);
  expect({ notices, published }).toEqual({ notices: [], published: [] });
});

describe('refusals', () => {
  const withMail = { runtime: { triggers: triggers([onMail]) } };

  test.each([
    ['an event that nothing waits for', [publish('rain.ended')], withMail, 'began no run'],
    ['a type that cannot be', [publish('mail..x')], withMail, "such as 'mail.received'"],
    ['a trigger that there is not', [fire('none')], withMail, 'no trigger "none"'],
    ['an app without triggers', [fire('morning')], {}, 'triggers'],
  ])('%s fails the test at its step', async (_what, steps, options, words) => {
    await expect(runTest(clerk, steps, options)).rejects.toMatchObject({
      code: 'test_step_failed',
      message: expect.stringContaining(words),
    });
  });

  test.each([
    ['no type', () => publish('')],
    ['data that is no JSON', () => publish('mail.received', (() => 1) as never)],
    ['an unknown option', () => publish('mail.received', 1, { topic: 'x' } as never)],
    ['no name', () => fire(5 as never)],
    ['an empty key', () => fire('morning', { key: '' })],
  ])('%s is refused before anything runs', (_what, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_test' }));
  });

  test('the trigger of another runnable begins no run of the test', async () => {
    const other = step({ name: 'other', execute: (ctx) => ctx.complete('x') });
    const options = {
      runtime: { triggers: triggers([trigger({ name: 'o', on: event('mail.*'), start: other })]) },
    };
    await expect(runTest(clerk, [publish('mail.received')], options)).rejects.toMatchObject({
      code: 'test_step_failed',
    });
  });
});
