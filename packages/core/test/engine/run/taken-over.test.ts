import {
  type Agent,
  agent,
  type Event,
  memoryStore,
  type Runtime,
  runtime,
  type Store,
  tool,
} from 'adjutant';
import type { Claim } from 'adjutant/store';
import { eventually, keptOpen, roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../../store-places.ts';

/** An agent whose tool waits for `gate`, and says when it has begun. */
function worker(gate: Promise<unknown>, begun: () => void, yieldsAfter = false): Agent {
  const work = tool({
    name: 'work',
    description: 'Works',
    schema: z.object({}),
    recovery: 'rerun',
    execute: async ({ signal }) => {
      begun();
      const aborted = new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
      return Promise.race([gate, aborted]);
    },
  });
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.string(),
  });
  const rounds = [
    { toolCalls: [{ name: 'work' }] },
    ...(yieldsAfter ? [{ toolCalls: [{ name: 'ask' }] }] : []),
    { text: 'Done.' },
  ];
  return agent({ name: 'worker', model: roundModel(rounds), tools: [work, ask] });
}

const never = new Promise<never>(() => undefined);

const processOf = (store: Store, runnable: Agent): Runtime =>
  runtime({
    app: 'taken',
    store,
    recover: 'manual',
    runnables: [runnable],
    // So that a process learns of its loss soon.
    lease: { ttlMs: 3_000 },
  });

async function takeOver(store: Store): Promise<Claim> {
  return store
    .for({ tenant: 'default', app: 'taken' })
    .claim('s', 'another', { ttlMs: 60_000, force: true });
}

const release = (store: Store, claim: Claim) =>
  store.for({ tenant: 'default', app: 'taken' }).release(claim);

const seqsOf = (events: readonly { readonly seq?: number }[]) =>
  events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));

describe.each(storePlaces)(
  'a run whose session another process takes over: %s',
  (_n, makePlace) => {
    async function started(options: { readonly yieldsAfter?: boolean } = {}) {
      const place = await makePlace();
      const store = keptOpen(place.open());
      const begun = Promise.withResolvers<void>();
      const runnable = worker(never, begun.resolve, options.yieldsAfter);
      const first = processOf(store, runnable);
      const heard: Event[] = [];
      const run = first.run(runnable, {
        session: 's',
        input: 'Go',
        onStream: (event) => {
          if ('seq' in event) heard.push(event);
        },
      });
      await begun.promise;
      await (await first.sessions.get('s')).flush();
      const end = async (): Promise<void> => {
        await first.close();
        await store.close();
        await place.remove();
      };
      return { store, first, run, heard, end };
    }

    test('resolves with the end that the other one records, and hears each event once', async () => {
      const { store, run, heard, end } = await started();
      const claim = await takeOver(store);
      const second = processOf(
        store,
        worker(Promise.resolve('worked'), () => undefined),
      );
      await release(store, claim);
      const other = await second.resume('s');
      expect(other).toMatchObject({ status: 'completed', output: 'Done.' });
      const result = await run;
      expect(result).toMatchObject({ status: 'completed', output: 'Done.', runId: other.runId });
      expect(result.session.events.map(({ id }) => id)).toEqual(
        other.session.events.map(({ id }) => id),
      );
      await eventually(() => heard.length >= result.session.events.length);
      expect(seqsOf(heard)).toEqual(result.session.events.map((_, at) => at + 1));
      await second.close();
      await end();
    });

    test('resolves when the run waits there, and takes its answer', async () => {
      const { store, first, run, end } = await started({ yieldsAfter: true });
      const claim = await takeOver(store);
      const second = processOf(
        store,
        worker(Promise.resolve('worked'), () => undefined, true),
      );
      await release(store, claim);
      await second.resume('s');
      const result = await run;
      expect(result).toMatchObject({ status: 'yielded', pendingCalls: [{ name: 'ask' }] });
      await first.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'yes' });
      expect((await first.resume('s')).output).toBe('Done.');
      await second.close();
      await end();
    });

    test('is carried on here when the other one has let it go', async () => {
      const place = await makePlace();
      const store = keptOpen(place.open());
      let times = 0;
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<string>();
      const runnable = worker(gate.promise, () => {
        times++;
        begun.resolve();
      });
      const app = processOf(store, runnable);
      const run = app.run(runnable, { session: 's', input: 'Go' });
      await begun.promise;
      const session = await app.sessions.get('s');
      await session.flush();
      await release(store, await takeOver(store));
      gate.resolve('worked');
      expect(await run).toMatchObject({ status: 'completed', output: 'Done.' });
      expect(times).toBe(2);
      await app.close();
      await store.close();
      await place.remove();
    });
  },
);

describe('a run that follows', () => {
  async function following({ cancelsAtLoss = false } = {}) {
    const store = keptOpen(memoryStore());
    const begun = Promise.withResolvers<void>();
    const runnable = worker(never, begun.resolve);
    const app = processOf(store, runnable);
    const session = await app.sessions.open({ id: 's' });
    const run = app.run(runnable, { session, input: 'Go' });
    await begun.promise;
    await session.flush();
    if (cancelsAtLoss) session.ledger.onFailure(() => run.cancel('enough'));
    const claim = await takeOver(store);
    session.addMessage('too late');
    await eventually(() => session.ledger.failure !== undefined);
    return { app, store, run, claim, session };
  }

  test('writes nothing, and is stopped like any other', async () => {
    const { app, store, run, claim } = await following();
    run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    const head = await store.for({ tenant: 'default', app: 'taken' }).head('s');
    expect(head?.seq).toBe(claim.seq);
    await app.close();
  });

  test('is cancelled where it is carried out', async () => {
    const { app, store, run, claim } = await following();
    run.cancel('enough');
    await release(store, claim);
    const { status, session } = await run;
    expect(status).toBe('cancelled');
    expect(session.events.find(({ type }) => type === 'cancel')).toMatchObject({
      reason: 'enough',
    });
    await app.close();
  });

  test('is cancelled as well when the cancel came while the session was lost', async () => {
    const { app, store, run, claim } = await following({ cancelsAtLoss: true });
    await release(store, claim);
    const { status, session } = await run;
    expect(status).toBe('cancelled');
    expect(session.events.filter(({ type }) => type === 'cancel')).toMatchObject([
      { reason: 'enough' },
    ]);
    await app.close();
  });

  test('of a worker is left to the other process', async () => {
    const store = keptOpen(memoryStore());
    const begun = Promise.withResolvers<void>();
    const runnable = worker(never, begun.resolve);
    const app = processOf(store, runnable);
    const session = await app.sessions.open({ id: 's' });
    const stopped = app.run(runnable, { session, input: 'Go' });
    await begun.promise;
    await session.flush();
    stopped.stop();
    await expect(stopped).rejects.toMatchObject({ code: 'run_stopped' });
    const advancing = app.advance('s');
    await eventually(() => session.ledger.lease.claim !== undefined);
    await takeOver(store);
    session.addMessage('too late');
    await expect(advancing).rejects.toMatchObject({ code: 'ledger_conflict' });
    await app.close();
  });
});
