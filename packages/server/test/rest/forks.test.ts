import { uiMessages } from '@adjutant/server';
import { agent, memoryStore, type Runtime, runtime, type StateSchema } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, tokenAuth } from '../approvals/paying-app.ts';
import { type Caller, callerOf, callerTo } from './caller.ts';

async function asked(): Promise<{ readonly app: Runtime; readonly caller: Caller }> {
  const model = scriptedModel(() => ({ text: 'Blue.' }));
  const make = (name: string) => agent({ name, model, instructions: `You are the ${name}.` });
  const [clerk, other] = [make('clerk'), make('other')];
  const app = runtime({
    app: 'shop',
    store: memoryStore(),
    stateSchema: { session: { mood: z.string() } } as StateSchema,
    runnables: [clerk, other],
    recover: 'manual',
  });
  const caller = callerOf(app, tokenAuth);
  const session = await app.sessions.open({ id: 's', userId: 'ann' });
  await app.run(clerk, { session, input: 'Colour?' });
  return { app, caller };
}

const fork = '/v1/sessions/s/fork';

test('a fork begins with its edits, which its prompts show', async () => {
  const { app, caller } = await asked();
  const admin = callerTo(caller.api, await bearer({ sub: 'eve', roles: ['admin'] }));
  const { events } = await app.sessions.open({ id: 's' });
  const at = (events.find(({ type }) => type === 'model_start')?.seq ?? 0) - 1;
  const edit = {
    state: [{ key: 'mood', value: 'good' }],
    prompt: { instructions: 'Paint.', message: 'Which paint?' },
  };
  const made = await admin.post(fork, { at, id: 'edited', edit });
  expect(made).toMatchObject({ status: 201, body: { id: 'edited' } });
  const state = await admin.get('/v1/sessions/edited/state');
  expect(state.body).toMatchObject({ sessionState: { mood: 'good' } });
  expect((await admin.post('/v1/sessions/edited/continue')).status).toBe(202);
  await expect
    .poll(async () => (await admin.get('/v1/sessions/edited')).body.status)
    .toBe('completed');
  const after = (await admin.get(`/v1/sessions/edited/events?after=${at}`)).body.events;
  expect(after[0]).toMatchObject({ by: expect.stringContaining('eve'), component: 'fork' });
  const seq = after.find(({ type }) => type === 'model_start')?.seq;
  const { body } = await admin.get(`/v1/sessions/edited/prompts/${seq}`);
  expect(JSON.stringify(body)).toMatch(/Paint\..*Which paint\?/);
  const told = await admin.get('/v1/sessions/edited/transcript');
  expect(told.text).toContain('Which paint?');
  expect(told.text).not.toContain('Colour?');
});

test('an edited message stands in the place of the first one in the chat', async () => {
  const { app } = await asked();
  const { events } = await app.sessions.open({ id: 's' });
  const place = (wanted: string) => events.find(({ type }) => type === wanted)?.seq ?? 0;
  const edit = { prompt: { message: 'Which paint?' } };
  const [clerk] = app.runnables;
  for (const at of [place('user'), place('model_start') - 1]) {
    const fork = await app.sessions.fork('s', { at, edit });
    const isOpen = at > place('user');
    await (isOpen || clerk === undefined ? app.resume(fork) : app.run(clerk, { session: fork }));
    const { messages } = await uiMessages(app, fork.id);
    expect(messages).toMatchObject([
      { role: 'user', parts: [{ text: 'Which paint?' }] },
      { role: 'assistant' },
    ]);
  }
});

test('wrong edits are refused, and no session is made', async () => {
  const { app, caller } = await asked();
  const admin = callerTo(caller.api, await bearer({ sub: 'eve', roles: ['admin'] }));
  const long = 'x'.repeat(70_000);
  const wrong: readonly (readonly [object, number, string])[] = [
    [{ model: 'x' }, 400, 'invalid_request'],
    [{ state: [{ key: 'mood' }] }, 400, 'invalid_request'],
    [{ state: [{ key: 'mood', value: 'x', delete: true }] }, 400, 'invalid_request'],
    [{ prompt: { instructions: long } }, 400, 'invalid_request'],
    [{ state: [{ key: 'mood', value: 7 }] }, 400, 'invalid_state'],
    [{ state: [{ scope: 'team', key: 'a', value: 7 }] }, 400, 'undeclared_scope'],
    [{ state: [{ key: 'text', value: long }] }, 400, 'invalid_run'],
    [{ prompt: { message: 'x' } }, 400, 'invalid_run'],
    [{ prompt: { agent: 'clark', instructions: 'x' } }, 404, 'agent_not_found'],
  ];
  for (const [edit, status, code] of wrong)
    expect(await admin.post(fork, { id: 'edited', edit })).toMatchObject({
      status,
      body: { code },
    });
  expect((await app.sessions.list({ id: 'edited' })).sessions).toEqual([]);
});

test('who is bound to a user edits the message only, and others none of theirs', async () => {
  const { app, caller } = await asked();
  const ann = callerTo(caller.api, await bearer({ sub: 'ann', user: 'ann' }));
  const bob = callerTo(caller.api, await bearer({ sub: 'bob', user: 'bob' }));
  const { events } = await app.sessions.open({ id: 's' });
  const at = events.find(({ type }) => type === 'user')?.seq;
  const message = { prompt: { message: 'Sound?' } };
  for (const edit of [
    { prompt: { instructions: 'Obey.' } },
    { state: [{ key: 'mood', value: 'bad' }] },
  ]) {
    const refused = { status: 403, body: { code: 'bound_to_user' } };
    expect(await ann.post(fork, { at, edit })).toMatchObject(refused);
  }
  expect(await bob.post(fork, { at, edit: message })).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
  const made = await ann.post(fork, { at, edit: message });
  expect(made).toMatchObject({ status: 201, body: { user: 'ann' } });
  const viewer = callerTo(caller.api, await bearer({ sub: 'vic', roles: ['viewer'] }));
  expect((await viewer.post(fork, { at, edit: message })).status).toBe(403);
  const sales = callerTo(caller.api, await bearer({ sub: 'sal', agents: ['clerk'] }));
  const others = { prompt: { agent: 'other', instructions: 'Obey.' } };
  expect(await sales.post(fork, { edit: others })).toMatchObject({
    status: 404,
    body: { code: 'agent_not_found' },
  });
});
