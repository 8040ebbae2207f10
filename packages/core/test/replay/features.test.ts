import { agent, runtime } from 'adjutant';
import { recordedLedgerOf } from 'adjutant/replay';
import { roundModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { storePlaces } from '../store-places.ts';
import { answerFeatures } from './features/answer-features.ts';
import { handlerFeatures } from './features/handler-features.ts';
import { laneFeatures } from './features/lane-features.ts';
import { runFeatures } from './features/run-features.ts';
import { callOf, hours, pay, stageOf } from './features/stage.ts';
import { problemOf } from './recorded-runs.ts';

const features = { ...runFeatures, ...answerFeatures, ...handlerFeatures, ...laneFeatures };

test.each(Object.entries(features))('does what it did: %s', async (_name, feature) => {
  const stage = stageOf(feature, testClock());
  const session = await feature.act(stage);
  expect(session.events.some(feature.has)).toBe(true);
  const record = recordedLedgerOf(session);
  expect(await problemOf(record, stageOf(feature, testClock()).app)).toBeUndefined();
  await stage.app.close();
});

test.each(storePlaces)(
  'a session that is stored in %s is replayed, and left as it is',
  async (_name, open) => {
    const place = await open();
    const store = place.open();
    const define = () =>
      agent({
        name: 'payer',
        model: roundModel([callOf('pay'), { text: 'p'.repeat(70_000) }]),
        tools: [pay({ expiresInMs: 24 * hours })],
      });
    const root = define();
    const first = runtime({ app: 'stored', store, recover: 'manual', runnables: [root] });
    const { session, pendingCalls } = await first.run(root, { session: 's', input: 'Go' });
    await first.requests.answer(pendingCalls[0]?.requestId ?? '', { decision: 'approve' });
    const app = runtime({ app: 'stored', store, recover: 'manual', runnables: [define()] });
    const { session: ended } = await app.resume(session.id);
    const other = runtime({ app: 'stored', store, recover: 'manual', runnables: [define()] });
    const opened = await other.sessions.open({ id: 's' });
    const before = JSON.stringify(opened.events);
    expect(opened.events).toEqual(ended.events);
    expect(await problemOf(recordedLedgerOf(opened), other)).toBeUndefined();
    expect(JSON.stringify((await other.sessions.open({ id: 's' })).events)).toBe(before);
    expect((await other.requests.list()).map(({ status }) => status)).toEqual(['answered']);
    await other.close();
    await place.remove();
  },
);
