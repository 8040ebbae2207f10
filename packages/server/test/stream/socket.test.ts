import { agent, type Runtime, runtime } from 'adjutant';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { afterEach, expect, test } from 'vitest';
import { type RawData, WebSocket } from 'ws';
import { server } from '../../src/index.ts';
import { type ListeningServer, serve } from '../../src/serve.ts';
import type { ServeOptions } from '../../src/serve-options.ts';
import { countedStore } from './counted-store.ts';
import { payer } from './payer.ts';

type Message = Record<string, unknown> & { readonly type: string };

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function served(app: Runtime, options: ServeOptions = {}): Promise<ListeningServer> {
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 }, ...options });
  open.push({ close: () => listening.close({ closeApp: true }) });
  return listening;
}

/** A client of a socket, and what it was told. */
class Client {
  readonly messages: Message[] = [];
  readonly socket: WebSocket;
  /** Code of the close. */
  closed: number | undefined;

  constructor(
    { url }: ListeningServer,
    path: string,
    options: ConstructorParameters<typeof WebSocket>[2] = {},
    protocols: string[] = [],
  ) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocols, options);
    this.socket.on(
      'message',
      (data: RawData) => void this.messages.push(JSON.parse(String(data)) as Message),
    );
    this.socket.on('close', (code) => {
      this.closed = code;
    });
    this.socket.on('error', () => undefined);
  }

  say(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async until(isWanted: (message: Message) => boolean, what = 'the message'): Promise<Message> {
    await eventually(() => this.messages.some(isWanted), { what });
    return this.messages.find(isWanted) as Message;
  }
}

async function connected(
  listening: ListeningServer,
  path: string,
  ...rest: [ConstructorParameters<typeof WebSocket>[2]?, string[]?]
): Promise<Client> {
  const client = new Client(listening, path, ...rest);
  await eventually(
    () => client.socket.readyState === WebSocket.OPEN || client.closed !== undefined,
    { what: 'the connection' },
  );
  return client;
}

/** The status by which a handshake was refused. */
function refusedWith(
  listening: ListeningServer,
  path: string,
  options: ConstructorParameters<typeof WebSocket>[2] = {},
): Promise<number | undefined> {
  const socket = new WebSocket(`${listening.url.replace('http', 'ws')}${path}`, options);
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.on('open', () => resolve(undefined));
  });
}

async function ledgerOf(app: Runtime, session: string): Promise<readonly object[]> {
  const events: object[] = [];
  for await (const event of app.sessions.events(session)) events.push(event);
  return events;
}

const slow = () =>
  agent({ name: 'slow', model: scriptedModel(() => ({ text: 'late', delayMs: 60_000 })) });

async function withSession(options: ServeOptions = {}) {
  const store = countedStore();
  const app = runtime({ app: 'test', store, runnables: [payer(), slow()] });
  const listening = await served(app, options);
  await app.sessions.create({ id: 's' });
  return { app, store, listening };
}

test(
  'both directions: a run is started, asks, is answered and ends, all through ' + 'one socket',
  async () => {
    const { app, listening } = await withSession();
    const client = await connected(listening, '/v1/sessions/s/socket');
    client.say({ type: 'start', id: 1, agent: 'payer', input: 'Pay' });
    const started = await client.until(
      ({ type, id }) => type === 'ack' && id === 1,
      'the ack of the start',
    );
    expect(started).toMatchObject({ status: 202, result: { session: 's' } });
    const { requestId } = await client.until(({ type }) => type === 'tool_yield', 'the question');
    client.say({
      type: 'answer',
      id: 'a',
      request: requestId,
      decision: 'approve',
      reason: 'It is due.',
    });
    expect(await client.until(({ id }) => id === 'a', 'the ack of the answer')).toMatchObject({
      type: 'ack',
      status: 200,
    });
    await client.until(({ type }) => type === 'invocation_end', 'the end');
    await eventually(() => client.messages.filter(({ seq }) => seq !== undefined).length > 0);
    const ledger = await ledgerOf(app, 's');
    const durable = client.messages
      .filter(({ seq }) => seq !== undefined)
      .map(({ position: _, ...event }) => event);
    expect(durable).toEqual(ledger);
    expect(
      client.messages.filter(({ seq }) => seq !== undefined).map(({ position }) => position),
    ).toEqual(ledger.map((_, index) => String(index + 1)));
  },
);

test('a socket goes on behind a position, in the words of a profile', async () => {
  const { app, listening } = await withSession();
  await app.run(agent({ name: 'teller', model: scriptedModel([{ text: 'Hello.' }]) }), {
    session: 's',
    input: 'Go',
    runId: 'r',
  });
  const { length } = await ledgerOf(app, 's');
  const native = await connected(listening, `/v1/sessions/s/socket?after=${length - 1}`);
  expect((await native.until(() => true)).seq).toBe(length);
  const steps = await connected(listening, '/v1/sessions/s/socket?profile=steps');
  const end = await steps.until(({ type }) => type === 'run_end');
  expect(end).toEqual({
    type: 'run_end',
    position: String(length),
    run_id: 'r',
    status: 'completed',
    output: 'Hello.',
  });
});

test('cancel, pause, continue and message reach the session', async () => {
  const { listening } = await withSession();
  const client = await connected(listening, '/v1/sessions/s/socket');
  client.say({ type: 'start', id: 1, agent: 'slow', input: 'Go' });
  client.say({ type: 'message', id: 2, text: 'And hurry.', key: 'k' });
  client.say({ type: 'pause', id: 3 });
  client.say({ type: 'cancel', id: 4, reason: 'enough' });
  await client.until(({ id }) => id === 4, 'the last ack');
  const answers = client.messages.filter(({ type }) => type === 'ack' || type === 'problem');
  expect(answers.map(({ type, id }) => [type, id])).toEqual([1, 2, 3, 4].map((id) => ['ack', id]));
  const end = await client.until(({ type }) => type === 'invocation_end', 'the end');
  expect(end).toMatchObject({ status: 'cancelled' });
  client.say({ type: 'continue', id: 5 });
  expect(await client.until(({ id }) => id === 5)).toMatchObject({
    type: 'problem',
    problem: { code: 'no_open_run', status: 409 },
  });
});

test('what cannot be carried out is a problem, and the socket stays open', async () => {
  const { app, listening } = await withSession();
  const client = await connected(listening, '/v1/sessions/s/socket');
  const before = await ledgerOf(app, 's');
  const wrong: readonly (readonly [object | string, string])[] = [
    ['{"type":', 'malformed_json'],
    ['null', 'invalid_request'],
    [{ type: 'fly', id: 'x' }, 'invalid_request'],
    [{ type: 'message', id: 'x' }, 'invalid_request'],
    [{ type: 'message', id: 'x', text: 'a', more: 1 }, 'invalid_request'],
    [{ type: 'message', id: 'x', text: '' }, 'invalid_request'],
    [{ type: 'answer', id: 'x', request: 'none', decision: 'approve' }, 'request_not_found'],
    [{ type: 'start', id: 'x', agent: 'nobody', input: 'Go' }, 'agent_not_found'],
  ];
  for (const [message] of wrong) client.say(message);
  client.socket.send(Buffer.from([1, 2, 3]));
  const problems = () => client.messages.filter(({ type }) => type === 'problem');
  await eventually(() => problems().length === wrong.length + 1, { what: 'a problem for each' });
  expect(problems().map(({ problem }) => (problem as { code: string }).code)).toEqual([
    ...wrong.map(([, code]) => code),
    'malformed_json',
  ]);
  expect(
    problems()
      .slice(2, -1)
      .map(({ id }) => id),
  ).toEqual(wrong.slice(2).map(() => 'x'));
  expect(await ledgerOf(app, 's')).toEqual(before);
  expect(client.socket.readyState).toBe(WebSocket.OPEN);
});

test('who may only read is told everything and may say nothing', async () => {
  const secret = 'a secret of more than thirty-two bytes';
  const { app, listening } = await withSession({ auth: { jwt: { secret } } });
  const { SignJWT } = await import('jose');
  const token = (roles: string[]) =>
    new SignJWT({ tenant: app.tenant, roles })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('ann')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
  expect(await refusedWith(listening, '/v1/sessions/s/socket')).toBe(401);
  const viewer = await connected(listening, '/v1/sessions/s/socket', {}, [
    'adjutant.v1',
    `bearer.${await token(['viewer'])}`,
  ]);
  expect(viewer.socket.protocol).toBe('adjutant.v1');
  await viewer.until(({ seq }) => seq === 1);
  viewer.say({ type: 'cancel', id: 1 });
  expect(await viewer.until(({ id }) => id === 1)).toMatchObject({
    type: 'problem',
    problem: { code: 'forbidden', status: 403 },
  });
  const operator = await connected(listening, '/v1/sessions/s/socket', {
    headers: { authorization: `Bearer ${await token(['operator'])}` },
  });
  operator.say({ type: 'cancel', id: 1 });
  expect(await operator.until(({ id }) => id === 1)).toMatchObject({ type: 'ack' });
});

test('handshakes are refused as requests are', async () => {
  const { listening } = await withSession({ cors: { origins: ['https://app.example.com'] } });
  expect(await refusedWith(listening, '/v1/sessions/other/socket')).toBe(404);
  expect(await refusedWith(listening, '/v1/sessions/s/socket?after=99')).toBe(400);
  expect(
    await refusedWith(listening, '/v1/sessions/s/socket', {
      headers: { origin: 'https://evil.example.com' },
    }),
  ).toBe(403);
  const allowed = await connected(listening, '/v1/sessions/s/socket', {
    headers: { origin: 'https://app.example.com' },
  });
  expect(allowed.closed).toBeUndefined();
  const plain = await fetch(`${listening.url}/v1/sessions/s/socket`);
  expect([
    plain.status,
    ((await plain.json()) as { code: string }).code,
    plain.headers.get('upgrade'),
  ]).toEqual([426, 'upgrade_required', 'websocket']);
});

test('where there is no Node server there are no sockets, and it says so', async () => {
  const app = runtime({ app: 'test', recover: 'manual' });
  await app.sessions.create({ id: 's' });
  const answer = await server(app).fetch(
    new Request('http://localhost/v1/sessions/s/socket', { headers: { upgrade: 'websocket' } }),
  );
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
    501,
    'sockets_unavailable',
  ]);
});

test('whoever leaves is followed no longer, and one may have only so many', async () => {
  const { store, listening } = await withSession({ limits: { streams: 2 } });
  const clients = await Promise.all(
    [1, 2].map(() => connected(listening, '/v1/sessions/s/socket')),
  );
  for (const client of clients) await client.until(({ seq }) => seq === 1);
  expect(store.followers).toBe(1);
  expect(await refusedWith(listening, '/v1/sessions/s/socket')).toBe(429);
  for (const { socket } of clients) socket.terminate();
  await eventually(() => store.followers === 0, { what: 'the end of the following' });
  const again = await connected(listening, '/v1/sessions/s/socket');
  expect(again.closed).toBeUndefined();
});

test('a server that closes, or a session that is deleted, ends the socket', async () => {
  const { app, store, listening } = await withSession();
  const told = await connected(listening, '/v1/sessions/s/socket');
  await told.until(({ seq }) => seq === 1);
  await app.sessions.delete('s');
  expect(await told.until(({ type }) => type === 'problem')).toMatchObject({
    problem: { status: expect.any(Number) },
  });
  await eventually(() => told.closed !== undefined);
  expect(told.closed).toBe(1011);
  await app.sessions.create({ id: 't' });
  const cut = await connected(listening, '/v1/sessions/t/socket');
  await listening.close();
  await eventually(() => cut.closed !== undefined);
  expect(cut.closed).toBe(1001);
  await eventually(() => store.followers === 0);
});

test('who does not answer pings is gone', async () => {
  const clock = testClock();
  const { store, listening } = await withSession({
    ports: { clock },
    stream: { heartbeatMs: 1_000 },
  });
  const quiet = await connected(listening, '/v1/sessions/s/socket', { autoPong: false });
  await quiet.until(({ seq }) => seq === 1);
  let pings = 0;
  quiet.socket.on('ping', () => pings++);
  clock.advance(1_000);
  await eventually(() => pings === 1, { what: 'a ping' });
  expect(quiet.closed).toBeUndefined();
  clock.advance(1_000);
  await eventually(() => quiet.closed !== undefined && store.followers === 0, { what: 'the end' });
});

test('a message that is longer than a body may be closes the socket', async () => {
  const { listening } = await withSession({ limits: { bodyBytes: 2_000 } });
  const client = await connected(listening, '/v1/sessions/s/socket');
  client.say({ type: 'message', text: 'x'.repeat(3_000) });
  await eventually(() => client.closed !== undefined);
  expect(client.closed).toBe(1009);
});

test('a client that does not read is not written to: what waits for it is joined', async () => {
  const words = Array.from({ length: 3_000 }, (_, index) => `word ${index} ${'x'.repeat(6_000)} `);
  const { app, listening } = await withSession();
  const client = await connected(listening, '/v1/sessions/s/socket');
  await client.until(({ seq }) => seq === 1);
  client.socket.pause();
  const { output } = await app.run(
    agent({ name: 'teller', model: scriptedModel([{ chunks: words }]) }),
    { session: 's', input: 'Go' },
  );
  expect(output).toBe(words.join(''));
  client.socket.resume();
  await client.until(({ type }) => type === 'invocation_end', 'the end');
  expect(client.messages.filter(({ type }) => type === 'assistant_delta').length).toBeLessThan(
    words.length / 10,
  );
});
