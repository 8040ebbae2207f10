import { agent, type JsonObject, type JsonValue, type Runtime } from 'adjutant';
import { consoleChannel, notifications } from 'adjutant/notifications';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import {
  condition,
  event,
  every,
  type TriggerToolsOptions,
  trigger,
  triggers,
  triggerTools,
} from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from '../services/desk.ts';

interface ToldResult {
  readonly status: string;
  readonly errorType?: string;
  readonly content: unknown;
  readonly alternatives?: readonly string[];
}

interface Use {
  /** Details that a person was asked with; `undefined` when nobody was asked. */
  readonly asked: JsonValue | undefined;
  readonly result: ToldResult;
}

type Answer = 'approve' | 'reject' | ((app: Runtime, requestId: string) => Promise<void>);

/** An app that has triggers of Ann and of Bob, and an assistant that makes one call at a time. */
async function home(
  options: Partial<TriggerToolsOptions> = {},
  given: Parameters<typeof desk>[0] = {},
) {
  const { made, seen } = noting();
  let call: { name: string; args: JsonObject } = { name: 'list_triggers', args: {} };
  let calls = 0;
  const assistant = agent({
    name: 'assistant',
    model: scriptedModel(
      (): ScriptedResponse => (calls++ % 2 === 0 ? { toolCalls: [call] } : { text: 'Done.' }),
    ),
    tools: triggerTools({
      ...{ triggers: () => app.triggers, requester: 'ann', start: ['note', 'assistant'] },
      ...options,
    }),
  });
  const { app, clock } = desk({
    runnables: [made, assistant],
    triggers: triggers(),
    notifications: notifications({ channels: [consoleChannel()] }),
    ...given,
  });
  let chats = 0;
  const use = async (
    name: string,
    args: JsonObject = {},
    answer: Answer = 'approve',
  ): Promise<Use> => {
    call = { name, args };
    const session = `chat-${++chats}`;
    const { pendingApprovals } = await app.run(assistant, { input: 'Go', session });
    const [request] = pendingApprovals;
    let asked: JsonValue | undefined;
    if (request !== undefined) {
      asked = (await app.requests.get(request.requestId)).details;
      if (typeof answer === 'function') await answer(app, request.requestId);
      else await app.requests[answer](request.requestId);
      expect(await app.resume(session)).toMatchObject({ status: 'completed' });
    }
    const { events } = await app.sessions.open({ id: session });
    const results = events.flatMap((one) =>
      one.type === 'tool_result' ? [one.result as unknown as ToldResult] : [],
    );
    return { asked, result: results.at(-1) as ToldResult };
  };
  const create = (more: JsonObject, answer?: Answer) =>
    use('create_trigger', { name: 'morning', input: 'Read the mail', ...more }, answer);
  return { app, clock, create, seen, use };
}

const weekdays = { cron: '0 8 * * 1-5', time_zone: 'Europe/Berlin' };

test('a trigger is made when a person who saw its next instants has approved it', async () => {
  const { app, clock, create, seen } = await home();
  const { asked, result } = await create({ ...weekdays, notify: true });
  expect(asked).toEqual({
    ...{ name: 'morning', start: 'note', input: 'Read the mail', requester: 'ann', notify: true },
    on: { kind: 'cron', pattern: '0 8 * * 1-5', timeZone: 'Europe/Berlin' },
    next: [
      '2026-01-06T08:00:00+01:00',
      '2026-01-07T08:00:00+01:00',
      '2026-01-08T08:00:00+01:00',
      '2026-01-09T08:00:00+01:00',
      '2026-01-12T08:00:00+01:00',
    ],
  });
  expect(result).toMatchObject({
    status: 'success',
    content: { trigger: { name: 'morning', status: 'active', next: '2026-01-06T08:00:00+01:00' } },
  });
  expect(await app.triggers.get('morning')).toMatchObject({
    ...{ requester: 'ann', start: 'note', notify: { user: 'ann' }, status: 'active' },
  });
  const [declared] = await app.triggers.history('morning');
  expect(declared).toMatchObject({ decision: 'declare', by: 'user:ann' });
  clock.advance(24 * hourMs);
  await work(app);
  expect(seen).toMatchObject([{ trigger: 'morning', instruction: 'Read the mail' }]);
  const [task] = await app.tasks.list({ states: ['completed'] });
  expect(task).toMatchObject({ requester: 'ann' });
  await app.close();
});

test('a rejected trigger is not made, and an edited one is made as it was edited', async () => {
  const { app, create } = await home();
  const rejected = await create({ every: '15m' }, 'reject');
  expect(rejected.result.status).not.toBe('success');
  expect(await app.triggers.list()).toEqual([]);
  const edited = await create({ every: '15m' }, async ({ requests }, id) => {
    await requests.edit(id, { name: 'morning', input: 'Read it', every: '1h' });
  });
  expect(edited.result.status).toBe('success');
  expect(await app.triggers.get('morning')).toMatchObject({ on: { everyMs: hourMs } });
  const wrong = await create({ name: 'other', every: '15m' }, async ({ requests }, id) => {
    await requests.edit(id, { name: 'other', input: 'Read it', cron: '0 8 30 2 *' });
  });
  expect(wrong.result).toMatchObject({ status: 'error_permanent', errorType: 'invalid_trigger' });
  await app.close();
});

test('the same trigger again is the one that there is, and a taken name is refused', async () => {
  const { app, create } = await home();
  await create({ every: '15m' });
  expect((await create({ every: '15m' })).result.status).toBe('success');
  expect(await app.triggers.get('morning')).toMatchObject({ revision: 1 });
  const other = await create({ every: '16m' });
  expect(other).toMatchObject({
    asked: undefined,
    result: { errorType: 'trigger_exists', alternatives: ['Choose another name.'] },
  });
  await app.triggers.create({ name: 'of-bob', on: every('1h'), start: 'note', requester: 'bob' });
  expect((await create({ name: 'of-bob', every: '1h' })).result.errorType).toBe('trigger_exists');
  await app.close();
});

test('an agent lists, pauses, resumes and deletes triggers, but only of its user', async () => {
  const { app, clock, use } = await home({ timeZone: 'America/New_York' });
  await app.triggers.create({ name: 'mine', on: every('1h'), start: 'note', requester: 'ann' });
  await app.triggers.create({ name: 'secret', on: event('mail.*'), start: 'note' });
  expect((await use('list_triggers')).result.content).toEqual({
    triggers: [
      {
        ...{ name: 'mine', status: 'active', start: 'note', fired: 0, failed: 0 },
        on: { kind: 'every', everyMs: hourMs, jitterMs: 0 },
        next: '2026-01-05T03:30:00-05:00',
      },
    ],
  });
  for (const name of ['pause_trigger', 'resume_trigger', 'delete_trigger'])
    for (const of of ['secret', 'none'])
      expect(await use(name, { name: of })).toMatchObject({
        asked: undefined,
        result: {
          ...{ status: 'error_permanent', errorType: 'trigger_not_found' },
          alternatives: ['mine (active)'],
        },
      });
  for (const [name, status, decision] of [
    ['pause_trigger', 'paused', 'pause'],
    ['resume_trigger', 'active', 'resume'],
    ['delete_trigger', 'deleted', 'delete'],
  ] as const) {
    // Twice, as a call that was cut off is made again.
    for (let times = 0; times < 2; times++) {
      const used = await use(name, { name: 'mine', reason: 'Holidays' });
      expect(used.result).toMatchObject({ status: 'success', content: { trigger: 'mine' } });
      expect(used.asked !== undefined).toBe(name === 'delete_trigger');
      await work(app);
    }
    expect((await app.triggers.get('mine')).status).toBe(status);
    const [last] = await app.triggers.history('mine');
    expect(last).toMatchObject({ decision, by: 'user:ann', reasoning: 'Holidays' });
  }
  clock.advance(2 * hourMs);
  expect((await use('list_triggers')).result.content).toEqual({ triggers: [] });
  expect((await app.triggers.get('secret')).status).toBe('active');
  await app.close();
});

test.each<[string, JsonObject, string, string]>([
  [
    'an unknown zone',
    { cron: '0 8 * * *', time_zone: 'Berlin' },
    'invalid_trigger',
    'did you mean "Europe/Berlin"?',
  ],
  ['a cron that never fires', { cron: '0 8 30 2 *' }, 'invalid_trigger', 'never fires'],
  ['a cron that is none', { cron: 'at eight' }, 'invalid_trigger', 'cannot be set up'],
  ['an interval that is none', { every: 'hourly' }, 'invalid_trigger', 'cannot be set up'],
  ['an instant that is over', { at: '2020-01-01T08:00' }, 'invalid_trigger', 'is over'],
  ['an instant that is none', { at: 'tomorrow' }, 'invalid_trigger', 'cannot be set up'],
  ['a pattern that is none', { event: 'mail..x' }, 'invalid_trigger', 'cannot be set up'],
  ['no time', {}, 'invalid_trigger', 'exactly one of'],
  ['two times', { every: '1h', event: 'mail.*' }, 'invalid_trigger', 'exactly one of'],
  ['an unknown runnable', { every: '1h', start: 'nobody' }, 'validation_error', 'start'],
  ['an empty name', { every: '1h', name: '' }, 'validation_error', 'name'],
])('%s is refused without asking a person', async (_what, args, errorType, words) => {
  const { app, create } = await home();
  const { asked, result } = await create(args);
  expect(asked).toBeUndefined();
  expect(result.status).not.toBe('success');
  expect(result.errorType).toBe(errorType);
  expect(JSON.stringify(result)).toContain(JSON.stringify(words).slice(1, -1));
  expect(await app.triggers.list()).toEqual([]);
  await app.close();
});

test('a runnable that the app does not have is refused with those that it has', async () => {
  const { app, create } = await home({ start: ['archive'] });
  const { result } = await create({ every: '1h' });
  expect(result).toMatchObject({
    ...{ status: 'error_permanent', errorType: 'invalid_trigger' },
    content: expect.stringContaining('no runnable "archive"; it has: note, assistant'),
  });
  await app.close();
});

test('an app without triggers refuses, and says what to do', async () => {
  const { app, create, use } = await home({}, { triggers: undefined as never });
  for (const { asked, result } of [await create({ every: '1h' }), await use('list_triggers')]) {
    expect(asked).toBeUndefined();
    expect(result).toMatchObject({ status: 'error_permanent', errorType: 'triggers_missing' });
  }
  await app.close();
});

test('an agent that names nobody starts itself, on behalf of the user of its task', async () => {
  const model = scriptedModel([
    {
      toolCalls: [
        {
          name: 'create_trigger',
          args: { name: 'later', input: 'Look again', at: '2026-01-05T10:00+01:00' },
        },
      ],
    },
    { text: 'Done.' },
    { text: 'Looked.' },
  ]);
  const assistant = agent({
    ...{ name: 'assistant', model },
    tools: triggerTools({ triggers: () => app.triggers }),
  });
  const { app, clock } = desk({ runnables: [assistant], triggers: triggers() });
  const task = await app.submit(assistant, 'Remind me', { requester: 'ann' });
  await work(app);
  const [request] = await app.requests.list();
  expect(request?.summary).toBe(
    'create_trigger "later": starts assistant once at 2026-01-05T10:00+01:00',
  );
  await app.requests.approve(request?.requestId ?? '');
  await work(app);
  expect((await task.info()).state).toBe('completed');
  expect(await app.triggers.get('later')).toMatchObject({ requester: 'ann', start: 'assistant' });
  clock.advance(2 * hourMs);
  await work(app);
  const [fired] = await app.tasks.list({ states: ['completed'], requester: 'ann' });
  expect(fired).toBeDefined();
  expect(await app.triggers.get('later')).toMatchObject({
    ...{ fired: 1, status: 'completed', last: { status: 'completed' } },
  });
  await app.close();
});

test('a trigger of code is paused, and not made again by data', async () => {
  const { made } = noting('watcher');
  const declared = trigger({
    ...{ name: 'watch', on: condition(() => false, { every: '1h' }), start: made },
    requester: 'ann',
  });
  const { app, create, use } = await home({}, { triggers: triggers([declared]) });
  await work(app);
  expect((await create({ name: 'watch', every: '1h' })).result.errorType).toBe('trigger_exists');
  expect((await use('pause_trigger', { name: 'watch' })).result.status).toBe('success');
  await work(app);
  expect((await app.triggers.get('watch')).status).toBe('paused');
  await app.close();
});

test('the tools say how they recover', () => {
  const tools = triggerTools({ triggers: () => desk({ triggers: triggers() }).app.triggers });
  expect(
    tools.map(({ approval, destructive, name, recovery }) => [
      ...[name, recovery, destructive, approval !== undefined],
    ]),
  ).toEqual([
    ['create_trigger', 'rerun', false, true],
    ['list_triggers', 'rerun', false, false],
    ['pause_trigger', 'rerun', false, false],
    ['resume_trigger', 'rerun', false, false],
    ['delete_trigger', 'rerun', true, true],
  ]);
});

test.each<[string, object]>([
  ['no triggers', {}],
  ['triggers that are none', { triggers: {} }],
  ['a requester that is none', { triggers: () => undefined, requester: '' }],
  ['an empty list of runnables', { triggers: () => undefined, start: [] }],
  ['an unknown zone', { triggers: () => undefined, timeZone: 'Berlin' }],
  ['an unknown option', { triggers: () => undefined, user: 'ann' }],
])('%s are refused', (_what, options) => {
  expect(() => triggerTools(options as TriggerToolsOptions)).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});
