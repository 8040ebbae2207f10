import { client, type Outline } from '@adjutant/server/client';
import type { Event, StoredEvent } from 'adjutant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { append, appWith, manyRuns, runEvents } from '../repairs/stream/long-session.ts';
import { callerOf } from '../rest/caller.ts';
import { stores } from '../rest/stores.ts';
import { shop } from './shop.ts';

interface Asks {
  get(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
}

async function outlineOf({ get }: Asks, session: string, query = ''): Promise<Outline> {
  const { status, body } = await get(`/v1/sessions/${session}/outline${query}`);
  expect(status).toBe(200);
  return body as Outline;
}

/** Each event of an outline by its words. */
function wordsOf({ after, types, agents, invocations, columns }: Outline): readonly object[] {
  return columns.at.map((at, index) => ({
    seq: after + index + 1,
    at,
    type: types[columns.type[index] as number],
    invocation: invocations[columns.invocation[index] as number]?.id,
    agent: agents[columns.agent[index] as number],
    flags: columns.flags[index],
  }));
}

/** As an outline has it: the message that a run begins with comes before the run. */
const bare = ({ seq, at, type, invocationId: invocation }: Event) =>
  type === 'user' && seq === 1 ? { seq, at, type } : { seq, at, type, invocation };

async function eventsOf(from: AsyncIterable<StoredEvent>): Promise<readonly Event[]> {
  const events: StoredEvent[] = [];
  for await (const event of from) events.push(event);
  return events as Event[];
}

describe.each(stores)('an outline on %s', (_name, makeStore) => {
  test('has each event with its agent, its invocation and what became of it', async () => {
    const { app, boss, get } = shop(makeStore());
    await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
    const outline = await outlineOf({ get }, 's');
    const events = await eventsOf(app.sessions.events('s'));
    const words = wordsOf(outline);
    expect(words).toMatchObject(events.map(bare));
    expect(outline).toMatchObject({ after: 0, next: events.length, last: events.length });
    expect([...outline.agents].toSorted()).toEqual(['boss', 'helper']);
    const called = outline.invocations.find(({ name }) => name === 'helper');
    expect(outline.invocations).toMatchObject([
      { id: 'run', kind: 'agent', name: 'boss', agent: 'boss', status: 'yielded', start: 2 },
      { parent: 'run', kind: 'agent', name: 'helper', agent: 'helper', status: 'completed' },
    ]);
    const end = events.find(
      ({ type, invocationId }) => type === 'invocation_end' && invocationId === called?.id,
    );
    expect(called).toMatchObject({ end: end?.seq, endedAt: end?.at });
    const flagged = (flag: number) =>
      words.flatMap((one, index) =>
        (outline.columns.flags[index] as number) === flag ? [one] : [],
      );
    expect(flagged(1)).toMatchObject([{ type: 'tool_result', agent: 'helper' }]);
    expect(flagged(2)).toMatchObject([{ type: 'tool_yield', agent: 'boss', invocation: 'run' }]);
    const [request] = await app.requests.list({ session: 's' });
    await app.requests.approve(request?.requestId ?? '', { by: 'operator:ann' });
    await app.resume('s');
    const rest = await outlineOf({ get }, 's', `?after=${outline.next}`);
    const after = await eventsOf(app.sessions.events('s', { after: outline.next }));
    expect(wordsOf(rest)).toMatchObject(after.map(bare));
    expect(wordsOf(rest)).toContainEqual(expect.objectContaining({ type: 'tool_input', flags: 4 }));
    expect(rest.invocations).toMatchObject([{ id: 'run', status: 'completed', end: rest.last }]);
  });
});

test('pages of any length are the whole, also when events come in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1 }),
      async (limits) => {
        const app = await appWith(shop().app.store, manyRuns(5));
        const { get } = callerOf(app);
        const pages: Outline[] = [];
        for (const [index, limit] of limits.entries()) {
          const after = pages.at(-1)?.next ?? 0;
          pages.push(await outlineOf({ get }, 'long', `?after=${after}&limit=${limit}`));
          if (index === 1) await append(app, runEvents('late'));
        }
        const whole = wordsOf(await outlineOf({ get }, 'long'));
        const told = pages.flatMap(wordsOf);
        expect(told).toEqual(whole.slice(0, told.length));
      },
    ),
    { numRuns: 10 },
  );
});

test('an end names the event that it ends, and each event its tool or round', async () => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
  const [request] = await app.requests.list({ session: 's' });
  await app.requests.approve(request?.requestId ?? '', { by: 'operator:ann' });
  await app.resume('s');
  const { columns, names } = await outlineOf({ get }, 's');
  const events = await eventsOf(app.sessions.events('s'));
  const starts = events.map(({ seq }) => events[(columns.start[seq - 1] as number) - 1]);
  for (const [index, event] of events.entries()) {
    const start = starts[index];
    switch (event.type) {
      case 'tool_result':
        expect(start).toMatchObject({ type: 'tool_call', callId: event.callId });
        break;
      case 'model_end':
        expect(start).toMatchObject({ type: 'model_start', round: event.round });
        break;
      case 'tool_input':
        expect(start).toMatchObject({ type: 'tool_yield', requestId: event.requestId });
        break;
      case 'invocation_end':
        expect(start).toMatchObject({ invocationId: event.invocationId });
        break;
      default:
        expect(start).toBeUndefined();
    }
    const name = names[columns.name[index] as number];
    if (event.type === 'tool_call') expect(name).toBe(event.name);
    if (event.type === 'model_start') expect(name).toBe(String(event.round));
    if (event.type === 'decision') expect(name).toBe(event.component);
    if (event.type === 'user') expect(name).toBeUndefined();
  }
});

test('the client has an outline', async () => {
  const { app, boss, api } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  const { sessions } = client({
    url: 'http://localhost',
    fetch: (input, init) => api.fetch(new Request(input, init)),
  });
  const [whole, page] = [await sessions.outline('s'), await sessions.outline('s', { limit: 3 })];
  expect(page.next).toBe(3);
  expect(page.columns.at).toEqual(whole.columns.at.slice(0, 3));
});

test('an outline is refused', async () => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  const { last } = await outlineOf({ get }, 's');
  expect(await get(`/v1/sessions/s/outline?after=${last}`)).toMatchObject({
    body: { next: last, last, invocations: [], columns: { at: [] } },
  });
  expect(await get(`/v1/sessions/s/outline?after=${last + 1}`)).toMatchObject({
    status: 400,
    body: { code: 'seq_out_of_range' },
  });
  for (const query of ['limit=0', 'limit=100001', 'after=-1', 'type=user'])
    expect((await get(`/v1/sessions/s/outline?${query}`)).status).toBe(400);
  expect(await get('/v1/sessions/nowhere/outline')).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
});

test('an outline of a session that was made anew has nothing of the old one', async () => {
  const { app, boss, get, delete: remove } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  await outlineOf({ get }, 's');
  await remove('/v1/sessions/s');
  await app.sessions.create({ id: 's' });
  expect(await outlineOf({ get }, 's')).toMatchObject({ last: 1, types: ['decision'], agents: [] });
});
