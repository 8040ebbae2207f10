import { agent, memoryStore, type Runnable, type Runtime, runtime } from 'adjutant';
import { eventually, scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { apiKeys, type NewApiKey, serve, server } from '../../../src/index.ts';
import { ask } from '../../access/caller.ts';

const secret = 'TOP SECRET';
const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
const cook = agent({ name: 'cook', model: scriptedModel(() => ({ text: secret })) });

async function kitchen() {
  const app = runtime({
    app: 'shop',
    store: memoryStore(),
    runnables: [clerk, cook],
    recover: 'manual',
  });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const key = async (bound: Partial<NewApiKey> = {}) =>
    (await apiKeys(app).create({ name: 'x', roles: ['admin'], ...bound })).credential;
  return { app, api, key, bound: await key({ agents: ['clerk'] }), admin: await key() };
}

function run(app: Runtime, who: Runnable, session: string, runId: string) {
  return app.run(who, { session, runId, input: `a word to ${who.name}` });
}

async function* pieces({ body }: Response): AsyncGenerator<string, void, undefined> {
  for await (const bytes of body as ReadableStream<Uint8Array>) yield Buffer.from(bytes).toString();
}

async function textUntil(response: Response, end: string): Promise<string> {
  let text = '';
  for await (const piece of pieces(response)) {
    text += piece;
    if (text.includes(end)) break;
  }
  return text;
}

describe(
  'A8: what was opened while a session was in reach ends with the first run of ' + 'another agent',
  () => {
    test.for(['stream', 'stream?profile=steps', 'stream?profile=messages'])('%s', async (path) => {
      const { app, api, bound, admin } = await kitchen();
      await app.sessions.create({ id: 's' });
      await run(app, clerk, 's', 'r1');
      const [mine, theirs] = await Promise.all(
        [bound, admin].map((as) =>
          api.fetch(
            new Request(`http://localhost/v1/sessions/s/${path}`, {
              headers: { authorization: `Bearer ${as}` },
            }),
          ),
        ),
      );
      const read = pieces(mine as Response);
      let text = '';
      while (!text.includes('r1')) text += (await read.next()).value;
      await run(app, cook, 's', 'r2');
      for await (const piece of read) text += piece;
      expect(text).toContain('event: problem');
      expect(text).toContain('session_not_found');
      expect(text).not.toMatch(/TOP SECRET|a word to cook|"r2"/);
      expect(await textUntil(theirs as Response, secret)).toContain(secret);
      expect((await ask(api, `GET /v1/sessions/s/${path}`, { as: bound })).status).toBe(404);
    });

    test.for(['stream', 'stream?profile=steps', 'stream?profile=messages'])(
      '%s, when the run began before its past was read',
      async (path) => {
        const { app, api, bound, admin } = await kitchen();
        await app.sessions.create({ id: 's' });
        await run(app, clerk, 's', 'r1');
        const [mine, theirs] = await Promise.all(
          [bound, admin].map((as) =>
            api.fetch(
              new Request(`http://localhost/v1/sessions/s/${path}`, {
                headers: { authorization: `Bearer ${as}` },
              }),
            ),
          ),
        );
        await run(app, cook, 's', 'r2');
        // So much that a reader who is behind is told it as past.
        for (let i = 3; i < 90; i++) await run(app, clerk, 's', `r${i}`);
        // Messages to others are kept, and are not for this reader.
        expect(await textUntil(theirs as Response, secret)).toContain(secret);
        const text = await (mine as Response).text();
        expect(text).toContain('session_not_found');
        expect(text).not.toMatch(/TOP SECRET|a word to cook|"r2"/);
      },
    );

    test('a socket', async () => {
      const { app, bound } = await kitchen();
      await app.sessions.create({ id: 's' });
      await run(app, clerk, 's', 'r1');
      const { url, close } = await serve(app, { auth: {}, port: 0 });
      onTestFinished(() => close());
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/s/socket`, {
        headers: { authorization: `Bearer ${bound}` },
      });
      onTestFinished(() => socket.terminate());
      let text = '';
      const over = new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.on('close', () => resolve());
      });
      socket.on('message', (data) => (text += String(data)));
      await eventually(() => text.includes('r1'), { what: 'the first run' });
      await run(app, cook, 's', 'r2');
      await over;
      expect(text).toContain('session_not_found');
      expect(text).not.toMatch(/TOP SECRET|a word to cook|"r2"/);
    });
  },
);

/** Every route about a session, and what it answers where there is none. */
const routes: readonly [string, unknown?, number?][] = [
  ['GET /v1/sessions/s'],
  ['GET /v1/sessions/s/events'],
  ['GET /v1/sessions/s/events?after=3&limit=1'],
  ['GET /v1/sessions/s/state'],
  ['GET /v1/sessions/s/state?at=1'],
  ['GET /v1/sessions/s/transcript'],
  ['GET /v1/sessions/s/runs'],
  ['GET /v1/sessions/s/runs/r1'],
  ['GET /v1/sessions/s/runs/r2?wait=10'],
  ['GET /v1/sessions/s/stream'],
  ['GET /v1/sessions/s/runs/r2/stream'],
  ['GET /v1/usage?session=s'],
  ['POST /v1/sessions/s/fork', {}],
  ['POST /v1/sessions/s/fork', { at: 1 }],
  ['POST /v1/sessions/s/runs', { agent: 'clerk', input: 'Hi' }],
  ['POST /v1/runs', { agent: 'clerk', input: 'Hi', session: 's' }],
  ['POST /v1/sessions/s/messages', { text: 'Hi' }],
  ['POST /v1/sessions/s/cancel', {}],
  ['POST /v1/sessions/s/pause', {}],
  ['POST /v1/sessions/s/interrupt', {}],
  ['POST /v1/sessions/s/continue'],
  ['POST /v1/sessions/s/outcomes', { callId: 'r2/charge', happened: true }],
  ['POST /v1/sessions/s/reopen', { reason: 'Fixed' }],
  ['POST /v1/sessions/s/runs/r2/cancel', {}],
  [
    'POST /v1/agents/clerk/chat',
    { id: 's', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
  ],
  ['GET /v1/agents/clerk/chat/s/stream', undefined, 204],
  ['DELETE /v1/sessions/s'],
];

describe('A8: a session is out of reach for good when another agent has run in it', () => {
  test.for([
    ['first', ['cook', 'clerk']],
    ['between', ['clerk', 'cook', 'clerk']],
    ['last', ['clerk', 'cook']],
  ] as const)('%s', async ([, order]) => {
    const { app, api, bound } = await kitchen();
    await app.sessions.create({ id: 's' });
    for (const [index, name] of order.entries())
      await run(app, name === 'cook' ? cook : clerk, 's', `r${index + 1}`);
    const { seq } = (await app.sessions.list({ id: 's' })).sessions[0] as { seq: number };
    for (const [what, body, status = 404] of routes) {
      const answer = await ask(api, what, { as: bound, ...(body === undefined ? {} : { body }) });
      expect([what, answer.status]).toEqual([what, status]);
      expect(answer.text).not.toContain(secret);
    }
    for (const list of ['sessions', 'usage', 'approvals'])
      expect((await ask(api, `GET /v1/${list}`, { as: bound })).text).not.toContain('"s"');
    expect((await app.sessions.list()).sessions).toMatchObject([{ id: 's', seq }]);
  });

  test('also as a fork, or when it was deleted and another one has its id', async () => {
    const { app, api, bound, admin } = await kitchen();
    await app.sessions.create({ id: 's' });
    await run(app, clerk, 's', 'r1');
    expect(
      (await ask(api, 'POST /v1/sessions/s/fork', { as: bound, body: { id: 'f' } })).status,
    ).toBe(201);
    await run(app, cook, 'f', 'r2');
    expect((await ask(api, 'GET /v1/sessions/f/transcript', { as: bound })).status).toBe(404);
    expect((await ask(api, 'GET /v1/sessions/s/transcript', { as: bound })).status).toBe(200);
    expect(
      (await ask(api, 'POST /v1/sessions/f/fork', { as: admin, body: { id: 'g' } })).status,
    ).toBe(201);
    await run(app, clerk, 'g', 'r3');
    expect((await ask(api, 'GET /v1/sessions/g/transcript', { as: bound })).status).toBe(404);
  });
});

describe('A8: a session without a run', () => {
  test('is of whoever made it, and of its user', async () => {
    const { api, key, bound, admin } = await kitchen();
    const [other, ann, bob] = await Promise.all([
      key({ agents: ['clerk'] }),
      key({ agents: ['clerk'], user: 'ann' }),
      key({ agents: ['clerk'], user: 'bob' }),
    ]);
    const create = async (as: string, body: object = {}): Promise<string> =>
      (await ask(api, 'POST /v1/sessions', { as, body })).body.id;
    const status = async (as: string, id: string) =>
      (await ask(api, `GET /v1/sessions/${id}`, { as })).status;
    const mine = await create(bound);
    expect(
      await Promise.all([bound, other, ann, bob, admin].map((as) => status(as, mine))),
    ).toEqual([200, 404, 404, 404, 200]);
    const ofAnn = await create(admin, { user: 'ann' });
    expect(
      await Promise.all([bound, other, ann, bob, admin].map((as) => status(as, ofAnn))),
    ).toEqual([404, 404, 200, 404, 200]);
    const { body } = await ask(api, 'GET /v1/sessions', { as: bound });
    expect(body.sessions.map(({ id }: { id: string }) => id)).toEqual([mine]);
    // The purpose: a run of its own agent, and then it is in reach of all who are bound to that
    // agent.
    const started = await ask(api, `POST /v1/sessions/${mine}/runs`, {
      as: bound,
      body: { agent: 'clerk', input: 'Hi' },
    });
    expect(started.status).toBe(202);
    expect(
      (await ask(api, `GET ${started.body.links.run}?wait=10000`, { as: bound })).body.status,
    ).toBe('completed');
    expect(await status(other, mine)).toBe(200);
  });

  test('is of whoever forked it', async () => {
    const { app, api, key, bound } = await kitchen();
    await app.sessions.create({ id: 's' });
    await run(app, clerk, 's', 'r1');
    const { status, body } = await ask(api, 'POST /v1/sessions/s/fork', {
      as: bound,
      body: { at: 1 },
    });
    expect(status).toBe(201);
    expect((await ask(api, `GET /v1/sessions/${body.id}/events`, { as: bound })).status).toBe(200);
    expect(
      (
        await ask(api, `GET /v1/sessions/${body.id}/events`, {
          as: await key({ agents: ['clerk'] }),
        })
      ).status,
    ).toBe(404);
  });
});
