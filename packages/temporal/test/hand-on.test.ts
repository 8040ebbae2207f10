import { Client, Connection } from '@temporalio/client';
import { runtime } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TemporalEngine, temporalEngine } from '../src/index.ts';
import { burstId, repeatId, timerId } from '../src/names.ts';
import { address } from './server.ts';

let client: Client;
beforeAll(async () => {
  client = new Client({ connection: await Connection.connect({ address }) });
});
afterAll(() => client.connection.close());

/** An engine that hands wakes on and does not work. */
async function handing(app: string): Promise<TemporalEngine> {
  const engine = temporalEngine({ address, worker: false });
  const made = runtime({ app });
  onTestFinished(() => made.close());
  await made.recovery.start(engine);
  return engine;
}

async function describeOf(engine: TemporalEngine, id: string) {
  await eventually(() => engine.metrics.waiting === 0, { what: 'An empty outbox' });
  const description = await client.workflow.getHandle(id).describe();
  return { ...description.priority, status: description.status.name };
}

const place = { tenant: 'acme', session: 'a:b/c' };

test('wakes have the priority of the task, and the tenant as key of their share', async () => {
  const app = `keys-${Date.now()}`;
  const engine = await handing(app);
  engine.wake(place, { level: 4, isQueued: true });
  const expected = { priorityKey: 5, fairnessKey: 'acme', status: 'RUNNING' };
  expect(await describeOf(engine, burstId(app, place))).toMatchObject(expected);
});

test('a cancel goes first, also where a wake of the session waits', async () => {
  const app = `cancels-${Date.now()}`;
  const engine = await handing(app);
  engine.wake(place, { level: 4 });
  engine.cancel(place);
  expect(await describeOf(engine, burstId(app, place))).toMatchObject({ fairnessKey: 'acme' });
  engine.cancel({ ...place, session: 'other' });
  const other = burstId(app, { ...place, session: 'other' });
  expect(await describeOf(engine, other)).toMatchObject({ priorityKey: 1 });
});

test('of the times of one session the last one counts', async () => {
  const app = `times-${Date.now()}`;
  const engine = await handing(app);
  engine.schedule(Date.now() + 3_600_000, place);
  await eventually(() => engine.metrics.waiting === 0, { what: 'An empty outbox' });
  engine.schedule(Date.now() + 7_200_000, place);
  await eventually(() => engine.metrics.waiting === 0, { what: 'An empty outbox' });
  const id = timerId(app, place, 0);
  expect(await describeOf(engine, id)).toMatchObject({ status: 'RUNNING' });
  // The list of workflows is behind by a moment; the history is not.
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  expect(Number(started?.firstWorkflowTaskBackoff?.seconds)).toBeGreaterThan(3_600);
});

test('the next time of a trigger is that of its Schedule', async () => {
  const app = `triggers-${Date.now()}`;
  const engine = await handing(app);
  const handle = client.schedule.getHandle(repeatId(app, place));
  const second = Math.floor(Date.now() / 1_000) * 1_000;
  for (const at of [second + 86_400_000, second + 172_800_000 - 1]) {
    engine.schedule(at, place, { repeats: true });
    await eventually(() => engine.metrics.waiting === 0, { what: 'An empty outbox' });
    const { info } = await handle.describe();
    const times = info.nextActionTimes.map((time) => time.getTime());
    expect(times).toEqual([Math.ceil(at / 1_000) * 1_000]);
  }
});

test('many wakes of one session before they are sent are one', async () => {
  const app = `many-${Date.now()}`;
  const engine = await handing(app);
  // The wake of the start.
  await eventually(() => engine.metrics.wakes === 1, { what: 'The first wake' });
  for (let count = 0; count < 100; count++) engine.wake(place);
  await eventually(() => engine.metrics.waiting === 0, { what: 'An empty outbox' });
  expect(engine.metrics.wakes).toBe(2);
});
