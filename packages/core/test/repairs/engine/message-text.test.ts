import { agent, memoryStore, type PubSub, runtime, type StreamEvent } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { watchProcess } from '../../fuzz/unhandled.ts';
import { pubSub } from '../../pub-sub.ts';
import { newSchema, reasonToSkip, serverUrl } from '../../stores/postgres/server.ts';
import { notes } from '../../stores/postgres/writer.ts';

const report = {
  event: { type: 'tool_progress', invocationId: 'r', callId: 'c', name: 'count', data: 1 },
  after: 1,
  number: 1,
};
const head = { type: 'assistant_delta', invocationId: 'r', agent: 'clerk', delta: '' };
const part = {
  invocationId: 'r',
  agent: 'clerk',
  generation: 'g',
  isReset: false,
  after: 1,
  stream: 'assistant_delta',
  head,
  offset: 0,
  text: 'x',
};

const forged: readonly (readonly [string, object])[] = [
  [
    'a report without a number, which would be new for ever',
    { from: 'x', parts: [], reports: [{ event: report.event, after: 1 }] },
  ],
  [
    'a report that is an event of the ledger',
    {
      from: 'x',
      parts: [],
      reports: [{ ...report, event: { ...report.event, type: 'invocation_end', seq: 2 } }],
    },
  ],
  [
    'a part that is an event of the ledger',
    {
      from: 'x',
      parts: [{ ...part, head: { ...head, type: 'invocation_end', seq: 2 } }],
      reports: [],
    },
  ],
];

test.for(forged)(
  'A1: %s, sent by whoever reaches the channel, is given to nobody',
  async ([, message]) => {
    const shared = pubSub();
    const channels = new Set<string>();
    const heard: PubSub = {
      ...shared,
      subscribe: (channel, listener) => {
        channels.add(channel);
        return shared.subscribe(channel, listener);
      },
    };
    const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
    const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk], pubsub: heard });
    onTestFinished(() => app.close());
    await app.sessions.create({ id: 's' });
    const end = new AbortController();
    const given: StreamEvent[] = [];
    const following = (async () => {
      for await (const event of app.follow('s', { signal: end.signal })) {
        given.push(event);
        // One that is given without end would let nothing else happen.
        if (given.length > 1_000) throw new Error('It is given without end.');
      }
    })();
    await eventually(() => given.length > 0 && channels.size > 0, { what: 'the following' });
    for (const channel of channels) await shared.publish(channel, JSON.stringify(message));
    await app.run(clerk, { session: 's', input: 'Go' });
    const ledger: unknown[] = [];
    for await (const event of app.sessions.events('s')) ledger.push(event);
    await eventually(() => given.filter((event) => 'seq' in event).length >= ledger.length, {
      what: 'the events',
    });
    end.abort();
    await following;
    expect(given.filter((event) => 'seq' in event)).toEqual(ledger);
    expect(given.filter(({ type }) => type === 'tool_progress')).toEqual([]);
  },
);

test.skipIf(reasonToSkip !== undefined)(
  'A1: a notification of PostgreSQL that is no list of names ends nothing',
  async () => {
    const checkProcess = watchProcess();
    const schema = newSchema();
    const store = postgres(serverUrl, { schema: schema.name });
    onTestFinished(async () => {
      await store.close();
      await schema.drop();
    });
    const scope = { tenant: 'acme', app: 'shop' };
    const writer = postgres(serverUrl, { schema: schema.name });
    onTestFinished(() => writer.close());
    await writer.for(scope).claim('s', 'me', { ttlMs: 30_000 });
    const follower = store
      .for(scope)
      .follow('s', 0, new AbortController().signal)
      [Symbol.asyncIterator]();
    const next = follower.next();
    const listening =
      `select 1 from pg_stat_activity where query like 'listen%${schema.name}%' or query ` +
      `like '%listen($1%'`;
    while ((await schema.query(listening)).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    for (const payload of ['null', '5', '{"a":1}', '[1,null]', '"names"', 'x', ''])
      await schema.query('select pg_notify($1, $2)', [schema.name, payload]);
    // Notifications come in their order, so that those before have been heard.
    await writer.for(scope).append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['news']) });
    expect((await next).value).toMatchObject({ text: 'news' });
    await follower.return?.();
    await checkProcess();
  },
);
