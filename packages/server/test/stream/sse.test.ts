import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, type Runtime, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { server } from '../../src/index.ts';
import { clockAgent, codeOf, get, ledgerOf, open } from './clock-stream.ts';
import { countedStore } from './counted-store.ts';
import { payer } from './payer.ts';
import { SseReader } from './sse-reader.ts';

/** An app with two ended runs in session `s`. */
async function twoRuns() {
  const app = runtime({ app: 'test', recover: 'manual' });
  const asked = clockAgent();
  const first = await app.run(asked, { session: 's', input: 'When?', runId: 'first' });
  await app.run(asked, { session: 's', input: 'And now?', runId: 'second' });
  return { app, made: server(app), events: first.session.ledger.events };
}

test('a session stream has exactly the ledger, with its seq as ids, and stays open', async () => {
  const { app, made } = await twoRuns();
  const ledger = await ledgerOf(app, 's');
  const stream = await open(made, '/v1/sessions/s/stream');
  const frames = await stream.until(({ id }) => id === String(ledger.length));
  expect(frames.map(({ data }) => data)).toEqual(ledger);
  expect(frames.map(({ id }) => id)).toEqual(ledger.map(({ seq }) => String(seq)));
  expect(frames.map(({ event }) => event)).toEqual(ledger.map(({ type }) => type));
  await app.run(clockAgentOf(app), { session: 's', input: 'Again', runId: 'third' });
  const more = await stream.until(
    ({ data }) => data['type'] === 'invocation_end' && data['invocationId'] === 'third',
  );
  const durable = more.filter(({ id }) => id !== undefined);
  expect(durable.map(({ data }) => data)).toEqual((await ledgerOf(app, 's')).slice(ledger.length));
  await stream.close();
});

/** The agent that the app has. */
function clockAgentOf(app: Runtime) {
  const [found] = app.runnables;
  if (found === undefined) throw new Error('The app has no agent');
  return found;
}

test('a stream goes on behind Last-Event-ID, which goes before ?after=', async () => {
  const { app, made } = await twoRuns();
  const ledger = await ledgerOf(app, 's');
  const last = String(ledger.length);
  for (const { seq } of ledger.slice(0, -1)) {
    const stream = await open(
      made,
      `/v1/sessions/s/stream?after=${seq % 2 === 0 ? seq : 1}`,
      seq % 2 === 0 ? {} : { 'last-event-id': String(seq) },
    );
    const frames = await stream.until(({ id }) => id === last);
    expect(frames.map(({ data }) => data)).toEqual(ledger.slice(seq));
    await stream.close();
  }
});

test.each(['x', '-1', '1.5.2', '01', '1e3', '0.1'])(
  'the position %s is refused',
  async (position) => {
    const { made } = await twoRuns();
    const byHeader = await get(made, '/v1/sessions/s/stream', { 'last-event-id': position });
    expect([byHeader.status, await codeOf(byHeader)]).toEqual([400, 'invalid_position']);
    const byQuery = await get(made, `/v1/sessions/s/stream?after=${position}`);
    expect(byQuery.status).toBe(400);
  },
);

test('a position behind the end is refused, the end itself is not', async () => {
  const { app, made } = await twoRuns();
  const { length } = await ledgerOf(app, 's');
  for (const path of ['/v1/sessions/s/stream', '/v1/sessions/s/runs/second/stream']) {
    const answer = await get(made, `${path}?after=${length + 1}`);
    expect([answer.status, await codeOf(answer)]).toEqual([400, 'seq_out_of_range']);
  }
  const stream = await open(made, `/v1/sessions/s/stream?after=${length}`);
  await stream.close();
});

test(
  'a run stream has the events of the run and ends with it; a reconnect after the end is ' +
    'told to stop',
  async () => {
    const { app, made } = await twoRuns();
    const ledger = await ledgerOf(app, 's');
    const own = ledger.filter((event) =>
      (event as { invocationId?: string }).invocationId?.startsWith('second'),
    );
    expect(own.length).toBeGreaterThan(5);
    const stream = await open(made, '/v1/sessions/s/runs/second/stream');
    const frames = await stream.rest();
    expect(frames.slice(0, -1).map(({ data }) => data)).toEqual(own);
    expect(frames.at(-1)).toMatchObject({
      id: undefined,
      event: 'end',
      data: { session: 's', run: 'second', status: 'completed', output: 'It is noon.' },
    });
    const last = String(own.at(-1)?.seq);
    const again = await get(made, '/v1/sessions/s/runs/second/stream', { 'last-event-id': last });
    expect(again.status).toBe(204);
    const middle = await open(made, '/v1/sessions/s/runs/second/stream', {
      'last-event-id': String(own[2]?.seq),
    });
    expect((await middle.rest()).slice(0, -1).map(({ data }) => data)).toEqual(own.slice(3));
  },
);

test('what is not there is not found', async () => {
  const { made } = await twoRuns();
  const noSession = await get(made, '/v1/sessions/other/stream');
  expect([noSession.status, await codeOf(noSession)]).toEqual([404, 'session_not_found']);
  const noRun = await get(made, '/v1/sessions/s/runs/third/stream');
  expect([noRun.status, await codeOf(noRun)]).toEqual([404, 'run_not_found']);
});

test('the head of a stream can be asked for without following it', async () => {
  const store = countedStore();
  const app = runtime({ app: 'test', store, recover: 'manual' });
  await app.run(clockAgent(), { session: 's', input: 'When?' });
  const made = server(app);
  const answer = await made.fetch(
    new Request('http://localhost/v1/sessions/s/stream', { method: 'HEAD' }),
  );
  expect([answer.status, answer.body]).toEqual([200, null]);
  expect(store.followers).toBe(0);
});

test('proxies are told to keep nothing back', async () => {
  const { made } = await twoRuns();
  const answer = await get(made, '/v1/sessions/s/stream');
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
  expect(answer.headers.get('x-accel-buffering')).toBe('no');
  await answer.body?.cancel();
});

test(
  'who comes first, in the middle of an answer, gets the text so far and the rest as it is ' +
    'written',
  async () => {
    const clock = testClock();
    const model = scriptedModel([{ chunks: ['one ', 'two ', 'three'], chunkDelayMs: 1_000 }], {
      clock,
    });
    const app = runtime({ app: 'test', recover: 'manual' });
    const made = server(app);
    let isAsked = false;
    let streamed = '';
    const run = app.run(agent({ name: 'teller', model }), {
      ...{ session: 's', input: 'Count', runId: 'r' },
      onStream: (event) => {
        if (event.type === 'model_start') isAsked = true;
        if (event.type === 'assistant_delta') streamed += event.delta;
      },
    });
    // Parts are told behind the events before them: no time passes until those are durable.
    await eventually(() => isAsked);
    await eventually(() => streamed === 'one two ', { clock, stepMs: 100 });
    await run.accepted();
    const stream = await open(made, '/v1/sessions/s/runs/r/stream');
    const before = await stream.until(({ event }) => event === 'assistant_delta');
    expect(before.slice(-2).map(({ event, id, data }) => [event, id, data['delta']])).toEqual([
      ['stream_reset', undefined, undefined],
      ['assistant_delta', undefined, 'one two '],
    ]);
    clock.advance(1_000);
    const after = await stream.rest();
    expect(
      after.filter(({ event }) => event === 'assistant_delta').map(({ data }) => data['delta']),
    ).toEqual(['three']);
    expect(after.at(-1)?.event).toBe('end');
    await run;
  },
);

test('a run that waits says so, to whoever comes, and goes on in the same stream', async () => {
  const app = runtime({ app: 'test' });
  const made = server(app);
  const run = app.run(payer(), { session: 's', input: 'Pay', runId: 'r' });
  await run.accepted();
  const stream = await open(made, '/v1/sessions/s/runs/r/stream');
  const told = await stream.until(({ event }) => event === 'waiting');
  const [request] = await app.requests.list();
  const { requestId } = request ?? {};
  expect(told.at(-1)?.data).toMatchObject({
    session: 's',
    run: 'r',
    reason: 'tool_input',
    requests: [{ requestId, kind: 'approval', name: 'pay' }],
  });
  const last = told.at(-2)?.id ?? '';
  const late = await open(made, `/v1/sessions/s/runs/r/stream?after=${last}`);
  expect(await late.next()).toEqual(told.at(-1));
  await app.requests.answer(requestId ?? '', { decision: 'approve', by: 'ann' });
  // Nobody looks for what is due here.
  void app.resume('s');
  for (const reader of [stream, late]) {
    const rest = await reader.rest();
    expect(rest.at(-1)).toMatchObject({
      event: 'end',
      data: { status: 'completed', output: 'Done.' },
    });
    expect(rest.map(({ event }) => event)).toContain('tool_input');
  }
});

test(
  'a run that is started with the wish for its stream is followed from its ' + 'first event',
  async () => {
    const app = runtime({ app: 'test', runnables: [clockAgent()] });
    const made = server(app);
    for (const path of ['/v1/runs', '/v1/sessions/s/runs']) {
      await app.sessions.create({ id: path === '/v1/runs' ? 'other' : 's' });
      const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
      const body = JSON.stringify({ agent: 'clock', input: 'When?' });
      const frames = await new SseReader(
        await made.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body })),
      ).rest();
      const { session, run } = frames.at(-1)?.data ?? {};
      expect(frames.at(-1)).toMatchObject({
        event: 'end',
        data: { status: 'completed', output: 'It is noon.' },
      });
      const ledger = await ledgerOf(app, String(session));
      const own = ledger.filter((event) =>
        (event as { invocationId?: string }).invocationId?.startsWith(String(run)),
      );
      expect(frames.filter(({ id }) => id !== undefined).map(({ data }) => data)).toEqual(own);
    }
  },
);

test(
  'another process goes on where the first one was cut, while the run goes on in ' + 'the first',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'adjutant-streams-'));
    const path = join(directory, 'streams.db');
    const apps = [1, 2].map(() =>
      runtime({ app: 'test', store: sqlite(path), recover: 'manual', runnables: [payer()] }),
    );
    const [one, two] = apps as [Runtime, Runtime];
    const servers = [server(one), server(two)] as const;
    const run = one.run(payer(), { session: 's', input: 'Pay', runId: 'r' });
    await run.accepted();
    const first = await open(servers[0], '/v1/sessions/s/runs/r/stream');
    const before = await first.until(({ event }) => event === 'tool_yield');
    await first.close();
    const second = await open(servers[1], '/v1/sessions/s/runs/r/stream', {
      'last-event-id': before.at(-1)?.id ?? '',
    });
    const waiting = await second.until(({ event }) => event === 'waiting');
    await run;
    const [request] = await two.requests.list();
    await two.requests.answer(request?.requestId ?? '', { decision: 'approve', by: 'ann' });
    await one.resume('s');
    const after = await second.rest();
    const durable = [...before, ...waiting, ...after]
      .filter(({ id }) => id !== undefined)
      .map(({ data }) => data);
    expect(durable).toEqual(
      (await ledgerOf(two, 's')).filter((event) =>
        (event as { invocationId?: string }).invocationId?.startsWith('r'),
      ),
    );
    expect(after.at(-1)).toMatchObject({ event: 'end', data: { status: 'completed' } });
    for (const app of apps) await app.close();
    rmSync(directory, { recursive: true });
  },
);

test('a session that is deleted ends its stream with the reason', async () => {
  const app = runtime({ app: 'test', recover: 'manual' });
  await app.run(clockAgent(), { session: 's', input: 'When?' });
  const made = server(app);
  const stream = await open(made, '/v1/sessions/s/stream');
  const { length } = await ledgerOf(app, 's');
  await stream.until(({ id }) => id === String(length));
  await app.sessions.delete('s');
  const rest = await stream.rest();
  expect(rest.map(({ event }) => event)).toEqual(['problem']);
  expect([404, 410]).toContain(rest[0]?.data['status']);
});
