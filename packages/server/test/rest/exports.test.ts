import { agent, memoryStore, runtime, secret, tool } from 'adjutant';
import { ledgerFileText, parseLedgerFile } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, tokenAuth } from '../approvals/paying-app.ts';
import { impatient, serving } from '../client/serving.ts';
import { callerOf, callerTo } from './caller.ts';

const doorCode = secret('door-code', 'seven-of-nine-4711');
const lookUp = tool({
  name: 'lookUp',
  description: 'Looks a customer up',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => ({ email: 'keller@example.com', note: `The code is ${doorCode.reveal()}` }),
});
const clerk = agent({
  name: 'clerk',
  model: roundModel([
    { toolCalls: [{ name: 'lookUp' }] },
    { text: 'Written to keller@example.com.' },
  ]),
  tools: [lookUp],
});

async function recorded() {
  const app = runtime({ app: 'served', store: memoryStore(), runnables: [clerk] });
  await app.run(clerk, { session: 's', input: 'Write to Keller.', runId: 'run' });
  return app;
}

test('a session as a file has no secret of the server, and is read again', async () => {
  const { store } = await recorded();
  const { app, url } = await serving({ store, runnables: [clerk] });
  const { sessions } = impatient(url);
  const text = await sessions.export('s');
  expect(text).not.toContain('4711');
  expect(text).toContain('keller@example.com');
  const file = parseLedgerFile(text, 's.json');
  expect(file).toMatchObject({ session: 's', redaction: { removed: { 'secret door-code': 1 } } });
  expect(file.events).toHaveLength((await app.sessions.open({ id: 's' })).events.length);
  expect(ledgerFileText(file)).toBe(text);
});

test('chosen values are taken out wherever they stand', async () => {
  const { store } = await recorded();
  const { url } = await serving({ store, runnables: [clerk] });
  const { sessions } = impatient(url);
  for (const redact of [['email'], ['lookUp.email', 'phone']]) {
    const text = await sessions.export('s', { redact });
    expect(text).not.toContain('keller@example.com');
    expect(parseLedgerFile(text, 's.json').redaction.fields).toEqual(redact);
  }
});

test('those who may read have the file; wrong rules and other sessions are refused', async () => {
  const app = await recorded();
  await app.sessions.create({ id: 'of-ann', userId: 'ann' });
  const { api } = callerOf(app, tokenAuth);
  const viewer = callerTo(api, await bearer({ sub: 'vic', roles: ['viewer'] }));
  const ann = callerTo(api, await bearer({ sub: 'ann', user: 'ann' }));
  expect((await viewer.get('/v1/sessions/s/export')).status).toBe(200);
  const many = Array.from({ length: 101 }, (_, i) => `redact=f${i}`).join('&');
  for (const query of ['redact=', 'redact=a..b', `redact=${'x'.repeat(201)}`, many, 'other=1'])
    expect(await viewer.get(`/v1/sessions/s/export?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  for (const answer of [
    await viewer.get('/v1/sessions/none/export'),
    await ann.get('/v1/sessions/s/export'),
  ])
    expect(answer).toMatchObject({ status: 404, body: { code: 'session_not_found' } });
  expect((await ann.get('/v1/sessions/of-ann/export')).status).toBe(200);
});
