import { agent, type Event, type Runtime } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { condition, cron, event, trigger, triggers } from 'adjutant/triggers';
import { explain, explainTo } from 'adjutant/views';
import { expect, test } from 'vitest';
import { desk, hourMs, work } from '../services/desk.ts';

const clerk = () => {
  const answers = Array.from({ length: 5 }, () => ({ text: 'Done.' }));
  return agent({ name: 'clerk', model: roundModel(answers) });
};

/** Events of the only run that triggers have begun. */
async function began(app: Runtime): Promise<readonly Event[]> {
  const [task] = await app.tasks.list({ states: ['completed'] });
  const session = await app.sessions.open({ id: task?.session ?? '', existing: 'open' });
  return session.events;
}

test('an explanation says which trigger began a run, by which firing and why', async () => {
  const { app } = desk({
    triggers: triggers([trigger({ name: 'on-mail', on: event('mail.*'), start: clerk() })]),
  });
  await work(app);
  await app.publish({ type: 'mail.received', source: 'imap', id: 'mail-17' });
  await work(app);
  const events = await began(app);
  const [first] = explain(events);
  expect(first).toMatchObject({
    component: 'scheduler',
    what: 'The trigger "on-mail" fired: the task began after it had waited with priority low.',
    why:
      'Firing event:mail-17 of the trigger "on-mail": the event "mail.received" was published ' +
      'by "imap".',
  });
  const { began: by } = explainTo('developer', events);
  expect(by).toEqual({
    trigger: 'on-mail',
    firing: expect.stringContaining('mail-17'),
    why: 'the event "mail.received" was published by "imap"',
  });
  // The firing is found in the history of the trigger.
  const fired = (await app.triggers.history('on-mail')).find(({ decision }) => decision === 'fire');
  expect(fired?.data).toMatchObject({ firing: { id: by?.firing } });
  expect(explainTo('user', events)).toContain(
    'The trigger “on-mail” began it (firing event:mail-17), because the event',
  );
  await app.close();
});

test('a schedule, a condition and a hand are told apart', async () => {
  let isCheap = false;
  const on = {
    hourly: cron('0 * * * *'),
    drop: condition(() => ({ met: isCheap, saw: 5 }), { every: '1m' }),
    manual: event('never.comes'),
  };
  const whys = {
    hourly: 'its schedule was due at 2026-01-05T08:00:00.000Z',
    drop: 'its condition became true (5)',
    manual: 'somebody fired it',
  };
  for (const name of ['hourly', 'drop', 'manual'] as const) {
    const { app, clock } = desk({
      triggers: triggers([trigger({ name, on: on[name], start: clerk() })]),
    });
    await work(app);
    isCheap = true;
    clock.advance(hourMs / 2);
    if (name === 'manual') await app.triggers.fire(name);
    await work(app);
    expect(explainTo('developer', await began(app)).began?.why).toBe(whys[name]);
    isCheap = false;
    await app.close();
  }
});

test('a run that a caller began names no trigger', async () => {
  const by = clerk();
  const { app } = desk({ runnables: [by] });
  await app.submit(by, 'Go');
  await work(app);
  const events = await began(app);
  expect(explainTo('developer', events)).not.toHaveProperty('began');
  expect(explainTo('user', events)).not.toContain('trigger');
  expect(explain(events)[0]?.why).toBe('The task "clerk" was submitted with priority normal.');
  await app.close();
});
