import { Client, Connection } from '@temporalio/client';
import { runtime } from 'adjutant';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporalEngine, workflowVersion } from '../src/index.ts';
import { sweepId } from '../src/names.ts';
import { address } from './server.ts';

let client: Client;
beforeAll(async () => {
  client = new Client({ connection: await Connection.connect({ address }) });
});
afterAll(() => client.connection.close());

/** Starts an engine in an app, and returns what that fails with. */
async function refusal(app: string, engine: ReturnType<typeof temporalEngine>): Promise<unknown> {
  const made = runtime({ app });
  try {
    await made.recovery.start(engine);
    return undefined;
  } catch (error) {
    expect((await made.recovery.health()).status).toBe('stopped');
    return error;
  } finally {
    await made.close();
  }
}

describe('the start says what is wrong', () => {
  test('without a server', async () => {
    const engine = temporalEngine({ address: '127.0.0.1:9', connectTimeoutMs: 1_000 });
    expect(await refusal('away', engine)).toMatchObject({
      code: 'temporal_unavailable',
      data: { address: '127.0.0.1:9' },
      message: expect.stringMatching(
        /^No Temporal server answers at 127\.0\.0\.1:9 \(.+\)\. Start/,
      ),
    });
  });

  test('with a namespace that the server does not have', async () => {
    const engine = temporalEngine({ address, namespace: 'nowhere' });
    expect(await refusal('elsewhere', engine)).toMatchObject({
      code: 'temporal_namespace_not_found',
      data: { address, namespace: 'nowhere' },
      message: expect.stringContaining('temporal operator namespace create --namespace nowhere'),
    });
  });

  test('with workflows of a later version', async () => {
    const app = `later-${Date.now()}`;
    await client.schedule.create({
      scheduleId: sweepId(app),
      memo: { workflowVersion: workflowVersion + 1 },
      spec: {},
      action: { type: 'startWorkflow', workflowType: 'adjutantBurst2', taskQueue: 'none' },
    });
    expect(await refusal(app, temporalEngine({ address }))).toMatchObject({
      code: 'temporal_workflow_version',
      data: { app, found: workflowVersion + 1, known: workflowVersion },
    });
  });

  test('and an app that has begun with another engine keeps it', async () => {
    const app = runtime({ app: 'both' });
    await app.recovery.start();
    await expect(app.recovery.start(temporalEngine({ address }))).rejects.toMatchObject({
      code: 'invalid_runtime',
      message: expect.stringContaining('"embedded" has started'),
    });
    await app.close();
  });
});

test.each([
  ['no object', null, 'the options must be an object'],
  ['an unknown name', { adress: 'a:1' }, 'there is no option `adress`'],
  ['an address that is no text', { address: 7233 }, '`address` must be a host and a port'],
  ['an empty namespace', { namespace: ' ' }, '`namespace` must be the name of a namespace'],
  ['an empty task queue', { taskQueue: '' }, '`taskQueue` must be the name of a task queue'],
  ['a worker that is a number', { worker: 1 }, '`worker` must be true or false'],
  ['a sweep without a pause', { sweepMs: 10 }, '`sweepMs` must be a number of milliseconds'],
  ['a wrong time', { connectTimeoutMs: Number.NaN }, '`connectTimeoutMs` must be'],
  ['a wrong tls', { tls: 'yes' }, '`tls` must be true, or an object'],
  ['an empty key', { apiKey: '' }, '`apiKey` must be a text'],
])('options are checked: %s', (_, options, reason) => {
  expect(() => temporalEngine(options as never)).toThrow(
    expect.objectContaining({
      code: 'invalid_temporal_options',
      message: expect.stringContaining(reason),
    }),
  );
});
