import {
  agent,
  type Event,
  loop,
  memoryStore,
  parallel,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import { replay } from 'adjutant/replay';
import { keptOpen, roundModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../../store-places.ts';

const days = 86_400_000;

const chat = loop({
  name: 'chat',
  runnable: agent({ name: 'talker', model: roundModel([{ text: 'well' }]) }),
  yields: true,
});

const asker = (yieldOptions: object = {}, name = 'asker') =>
  agent({
    name,
    model: roundModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Done.' }]),
    tools: [
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        yieldSchema: z.string(),
        yieldOptions,
      }),
    ],
  });

const asking = asker();

const napping = step({ name: 'napping', execute: (ctx) => ctx.sleep('long', 40 * days) });

const questioning = step({
  name: 'questioning',
  execute: async (ctx) => ctx.complete(await ctx.ask('colour', 'Which colour?')),
});

const refusal = (events: readonly Event[]) =>
  events.find((event) => event.type === 'decision' && event.component === 'limits');

interface Place {
  readonly store: Store;
  readonly clock: ReturnType<typeof testClock>;
}

function inMemory(): Place {
  const clock = testClock();
  return { clock, store: keptOpen(memoryStore({ clock })) };
}

const appOf = ({ store, clock }: Place, options: Partial<RuntimeOptions> = {}): Runtime =>
  runtime({
    app: 'waiting',
    store,
    recover: 'manual',
    runnables: [chat, asking],
    ports: { clock },
    ...options,
  });

describe('a run that waits for a message', () => {
  test('is cancelled after 30 days, by another process, and the ledger says why', async () => {
    const place = inMemory();
    const first = appOf(place);
    const waiting = await first.run(chat, { session: 's', input: 'Hello' });
    expect(waiting).toMatchObject({ status: 'yielded', awaitingInput: true });
    await first.close();
    const second = appOf(place);
    place.clock.advance(30 * days - 1);
    expect(await second.recovery.resumeStopped()).toEqual([]);
    place.clock.advance(1);
    const [run] = await second.recovery.resumeStopped();
    const last = await run;
    expect(last).toMatchObject({ status: 'cancelled', runId: waiting.runId });
    const told = last?.session.events.find(({ type }) => type === 'decision');
    expect(told).toMatchObject({
      component: 'limits',
      decision: 'message_expired',
      reasoning: 'No message came in time.',
    });
    expect(await second.recovery.resumeStopped()).toEqual([]);
    const next = await second.run(chat, { session: 's', input: 'Hello again' });
    expect(next.runId).not.toBe(waiting.runId);
    expect(await replay(next.session, second)).toMatchObject({ divergence: undefined });
    await second.close();
  });

  test('has its time anew after each message, and takes a late one that comes first', async () => {
    const place = inMemory();
    const app = appOf(place, { defaults: { messageExpiresInMs: 1_000 } });
    await app.run(chat, { session: 's', input: 'one' });
    place.clock.advance(900);
    await app.run(chat, { session: 's', input: 'two' });
    place.clock.advance(900);
    expect(await app.recovery.resumeStopped()).toEqual([]);
    place.clock.advance(200);
    const late = await app.run(chat, { session: 's', input: 'three' });
    expect(late.status).toBe('yielded');
    place.clock.advance(1_000);
    expect((await app.resume('s')).status).toBe('cancelled');
    await app.close();
  });

  test('tells when its time is over, and waits without end where the app says so', async () => {
    const place = inMemory();
    const app = appOf(place, { defaults: { messageExpiresInMs: 1_000 } });
    await app.run(chat, { session: 's', input: 'one' });
    expect(await app.advance('s')).toMatchObject({
      status: 'waiting',
      wakeAt: place.clock.now() + 1_000,
    });
    await app.close();
    const endless = appOf(place, { defaults: { messageExpiresInMs: false } });
    await endless.run(chat, { session: 't', input: 'one' });
    expect(await endless.advance('t')).toMatchObject({ status: 'waiting', wakeAt: undefined });
    place.clock.advance(400 * days);
    expect((await endless.resume('t')).status).toBe('yielded');
    await endless.close();
  });

  test('is not ended by the time while a part of it sleeps', async () => {
    const place = inMemory();
    const both = parallel({ name: 'both', runnables: [chat, napping] });
    const app = appOf(place, { runnables: [both] });
    await app.run(both, { session: 's', input: 'one' });
    expect(await app.advance('s')).toMatchObject({
      status: 'waiting',
      wakeAt: place.clock.now() + 40 * days,
    });
    await app.close();
  });

  test('is not ended by the time while it is paused', async () => {
    const place = inMemory();
    const app = appOf(place, { defaults: { messageExpiresInMs: 1_000 } });
    await app.run(chat, { session: 's', input: 'one' });
    await app.pause('s');
    place.clock.advance(5_000);
    expect((await app.resume('s')).status).toBe('yielded');
    await app.close();
  });
});

describe('a call that waits for input', () => {
  const expiryOf = async (app: Runtime, runnable = asking) => {
    const { pendingCalls } = await app.run(runnable, { input: 'Go' });
    return pendingCalls[0]?.expiresAt;
  };

  test('expires after 30 days, the time of the app, or that of its tool', async () => {
    const place = inMemory();
    const { clock } = place;
    expect(await expiryOf(appOf(place))).toBe(clock.now() + 30 * days);
    const app = appOf(place, { defaults: { inputExpiresInMs: 5_000 } });
    expect(await expiryOf(app)).toBe(clock.now() + 5_000);
    expect(await expiryOf(app, asker({ expiresInMs: 7_000 }, 'quick'))).toBe(clock.now() + 7_000);
    expect(await expiryOf(app, asker({ expiresInMs: false }, 'patient'))).toBeUndefined();
    const endless = appOf(place, { defaults: { inputExpiresInMs: false } });
    expect(await expiryOf(endless)).toBeUndefined();
  });

  test('tells the model, and the run goes on', async () => {
    const place = inMemory();
    const app = appOf(place, { defaults: { inputExpiresInMs: 5_000 } });
    await app.run(asking, { session: 's', input: 'Go' });
    place.clock.advance(5_000);
    const [run] = await app.recovery.resumeStopped();
    expect(await run).toMatchObject({ status: 'completed', output: 'Done.' });
    await app.close();
  });
});

describe.each(storePlaces)('runs that may wait at a time: %s', (_name, makePlace) => {
  test('chats and questions of one user count together, and of others not', async () => {
    const place = await makePlace();
    const store = keptOpen(place.open());
    const app = runtime({
      app: 'waiting',
      store,
      recover: 'manual',
      limits: { waitingRunsPerUser: 2, waitingRunsWithoutUser: 1 },
    });
    const run = async (runnable: Runnable, id?: string) =>
      app.run(runnable, {
        session: await app.sessions.open(id === undefined ? {} : { userId: id }),
        input: 'Go',
      });
    expect((await run(chat, 'ann')).status).toBe('yielded');
    const second = await run(asking, 'ann');
    expect(second.status).toBe('yielded');
    const third = await run(chat, 'ann');
    expect(third.status).toBe('cancelled');
    expect(refusal(third.session.events)).toMatchObject({
      decision: 'too_many_waiting',
      reasoning: 'The user "ann" has 2 runs that wait, and 2 may.',
      data: { user: 'ann', waiting: 2, limit: 2 },
    });
    expect(await replay(third.session, app)).toMatchObject({ divergence: undefined });
    expect((await run(chat, 'bob')).status).toBe('yielded');
    expect((await run(asking)).status).toBe('yielded');
    const nobody = await run(chat);
    expect(nobody.status).toBe('cancelled');
    expect(refusal(nobody.session.events)).toMatchObject({
      reasoning: 'Sessions without a user have 1 run that waits, and 1 may.',
      data: { waiting: 1, limit: 1 },
    });
    // A run that waits goes on waiting, and one that has ended makes room.
    expect((await app.resume(second.session)).status).toBe('yielded');
    await app.cancel(second.session);
    expect((await app.resume(second.session)).status).toBe('cancelled');
    expect((await run(asking, 'ann')).status).toBe('yielded');
    // Runs that sleep wait for nobody.
    for (let i = 0; i < 3; i++) expect((await run(napping, 'eve')).status).toBe('yielded');
    expect((await run(chat, 'eve')).status).toBe('yielded');
    expect((await run(questioning, 'eve')).status).toBe('yielded');
    expect((await run(questioning, 'eve')).status).toBe('cancelled');
    expect((await run(napping, 'eve')).status).toBe('yielded');
    await app.close();
    await store.close();
    await place.remove();
  });
});

test.each([
  [
    { defaults: { inputExpiresInMs: 0 } },
    /`inputExpiresInMs` is a number greater than 0, or false/,
  ],
  [{ defaults: { messageExpiresInMs: true } }, /`messageExpiresInMs` is a number greater than 0/],
  [{ limits: { waitingRunsWithoutUser: 0 } }, /`waitingRunsWithoutUser` is a whole number from 1/],
])('%j is refused', (options, message) => {
  expect(() => runtime({ app: 'waiting', ...(options as object) })).toThrow(message);
});
