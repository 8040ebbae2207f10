import { memoryStore } from 'adjutant';
import { eventually, testClock } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AdjutantServer, serve, server } from '../../../src/index.ts';
import { world } from '../../access/caller.ts';

function open(
  api: Pick<AdjutantServer, 'fetch'>,
  as: string,
  path = '/v1/sessions/one/stream',
): Promise<Response> {
  return api.fetch(
    new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${as}` } }),
  );
}

/** Reads a stream, and tells whether it has ended. */
function reading({ body }: Response) {
  const read = { text: '', isOver: false };
  void (async () => {
    for await (const bytes of body as ReadableStream<Uint8Array>)
      read.text += Buffer.from(bytes).toString();
    read.isOver = true;
  })();
  return read;
}

async function rotating() {
  const clock = testClock();
  const made = world({ clock });
  const { app, keys } = made;
  await app.sessions.create({ id: 'one' });
  const { credential, key } = await keys.create({ name: 'x', roles: ['viewer'] });
  return { ...made, clock, credential, id: key.id };
}

const ended = 'the credential has ended';

describe('A7: a stream that was opened with the secret before', () => {
  test('ends with a rotation without a grace, in whatever process', async () => {
    const store = memoryStore();
    const { app, keys } = world({ store });
    await app.sessions.create({ id: 'one' });
    const { credential, key } = await keys.create({ name: 'x', roles: ['viewer'] });
    const other = server(app, { auth: {} });
    onTestFinished(() => other.close());
    const read = reading(await open(other, credential));
    const { credential: next } = await keys.rotate(key.id, { graceMs: 0 });
    await eventually(() => read.isOver, { what: 'the end' });
    expect(read.text).toContain(ended);
    const answer = await open(other, next);
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  });

  test('ends with the grace, and the one of the new secret goes on', async () => {
    const { api, keys, clock, credential, id } = await rotating();
    const before = reading(await open(api, credential));
    const { credential: next } = await keys.rotate(id, { graceMs: 10_000 });
    const after = reading(await open(api, next));
    const within = reading(await open(api, credential));
    clock.advance(9_999);
    await api.fetch(new Request('http://localhost/v1/health'));
    expect([before.isOver, within.isOver, after.isOver]).toEqual([false, false, false]);
    await eventually(
      () => {
        clock.advance(1);
        return before.isOver && within.isOver;
      },
      { what: 'the end of the grace' },
    );
    expect([before.text, within.text].every((text) => text.includes(ended))).toBe(true);
    expect(after.isOver).toBe(false);
  });

  test('ends with the second rotation, whatever the grace of the first one was', async () => {
    const { api, keys, credential, id } = await rotating();
    const first = reading(await open(api, credential));
    const { credential: next } = await keys.rotate(id);
    const second = reading(await open(api, next));
    await keys.rotate(id);
    await eventually(() => first.isOver, { what: 'the end of the first' });
    expect(second.isOver).toBe(false);
  });

  test('ends with the new term of the key, where that is over first', async () => {
    const { api, keys, clock, credential, id } = await rotating();
    const old = reading(await open(api, credential));
    const { credential: next } = await keys.rotate(id, { graceMs: 50_000, expiresInMs: 20_000 });
    const fresh = reading(await open(api, next));
    await eventually(
      () => {
        clock.advance(10_000);
        return old.isOver && fresh.isOver;
      },
      { what: 'the end of the term' },
    );
  });

  test('is open again after the lookout has ended: nothing is left behind', async () => {
    const { api, keys, clock, credential, id } = await rotating();
    const { credential: next } = await keys.rotate(id, { expiresInMs: 1_000_000, graceMs: 1_000 });
    await (await open(api, credential)).body?.cancel();
    const read = reading(await open(api, next));
    clock.advance(999_999);
    expect(read.isOver).toBe(false);
  });
});

test('A7: a socket ends with its secret, and is told so', async () => {
  const { app, keys, credential, id } = await rotating();
  const { url, close } = await serve(app, { auth: {}, port: 0 });
  onTestFinished(() => close());
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/one/socket`, {
    headers: { authorization: `Bearer ${credential}` },
  });
  onTestFinished(() => socket.terminate());
  const closed = new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => resolve(code));
  });
  await new Promise<void>((resolve) => socket.on('open', () => resolve()));
  await keys.rotate(id, { graceMs: 0 });
  expect(await closed).toBe(1_001);
});
