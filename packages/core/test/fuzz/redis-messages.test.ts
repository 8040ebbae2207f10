import { type Agent, agent, type Runtime, runtime, type StreamEvent } from 'adjutant';
import { redis } from 'adjutant/redis';
import { eventually, scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { reasonToSkip, redisUrl } from '../redis/server.ts';
import { seed } from './seed.ts';
import { watchProcess } from './unhandled.ts';

/** A part of an answer and a report of a tool, as processes send them. */
const part = {
  ...{
    invocationId: 'r',
    agent: 'writer',
    generation: 'g.1',
    isReset: false,
    after: 1,
    stream: 'assistant_delta',
    offset: 0,
    text: 'Hello',
  },
  head: { type: 'assistant_delta', invocationId: 'r', agent: 'writer', delta: '' },
};
const report = {
  event: {
    type: 'tool_progress',
    invocationId: 'r',
    callId: 'c',
    name: 'count',
    data: { percent: 5 },
  },
  after: 1,
  number: 1,
};
const message = { from: 'another', parts: [part], reports: [report] };

const names = [
  'seq',
  'type',
  'event',
  'head',
  'parts',
  'after',
  'offset',
  'number',
  'text',
  '__proto__',
  'constructor',
  'toString',
  'at',
  'id',
];
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 1e308, 2 ** 53, '', '__proto__', [], {}, [null], {
    seq: 2,
    type: 'invocation_end',
  }),
  fc.constantFrom('invocation_end', 'stream_reset', 'tool_args_delta', 'another'),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The message with one value in it replaced, added or taken away. */
const damaged = fc
  .record({
    place: fc.nat(),
    name: fc.oneof(fc.constantFrom(...names), fc.string()),
    value: odd,
    how: fc.constantFrom('replace', 'add', 'remove'),
  })
  .map(({ place, name, value, how }) => {
    const copy = structuredClone(message) as Record<string, unknown>;
    const objects = objectsIn(copy);
    const target = objects[place % objects.length] as Record<string, unknown>;
    const keys = Object.keys(target);
    const key = how === 'add' || keys.length === 0 ? name : (keys[place % keys.length] as string);
    if (how === 'remove') delete target[key];
    else
      Object.defineProperty(target, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return JSON.stringify(copy);
  });

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

const deep = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
const texts = fc.oneof(
  { weight: 6, arbitrary: damaged },
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    'null',
    '5',
    '"a"',
    '[]',
    '{}',
    '{',
    deep(10_000),
    JSON.stringify(message).replace('{"percent":5}', deep(50_000)),
  ),
);

interface Followed {
  readonly app: Runtime;
  readonly writer: Agent;
  readonly given: StreamEvent[];
  /** Sends to every channel that the app listens to. */
  readonly send: (text: string) => Promise<void>;
}

async function followed(): Promise<Followed> {
  const prefix = `fuzz-${process.pid}-${Math.random()}:`;
  const raw = createClient({ url: redisUrl });
  const ear = raw.duplicate();
  await Promise.all([raw.connect(), ear.connect()]);
  const channels = new Set<string>();
  await ear.pSubscribe(`${prefix}*`, (_message, channel) => channels.add(channel));
  const writer = agent({ name: 'writer', model: scriptedModel(() => ({ text: 'Hello.' })) });
  const pubsub = redis(redisUrl, { prefix });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [writer], pubsub });
  await app.sessions.create({ id: 's' });
  const given: StreamEvent[] = [];
  const end = new AbortController();
  const following = (async () => {
    for await (const event of app.follow('s', { signal: end.signal })) given.push(event);
  })();
  onTestFinished(async () => {
    end.abort();
    await following;
    await app.close();
    await pubsub.close();
    for (const client of [raw, ear]) client.destroy();
  });
  await eventually(() => channels.size > 0, { what: 'the question for what is being written' });
  const asks = [...channels][0] as string;
  // A session's channel is heard of only when somebody writes to it; Redis knows who listens.
  const all = await raw.pubSubChannels(`${prefix}*`);
  return {
    app,
    writer,
    given,
    send: async (text) => {
      for (const channel of new Set([asks, ...all])) await raw.publish(channel, text);
    },
  };
}

test.skipIf(reasonToSkip !== undefined)(
  'whatever is sent by Redis, followers get every event of the ledger, once, and none that ' +
    'is not in it',
  async () => {
    const checkProcess = watchProcess();
    const { app, writer, given, send } = await followed();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 30 }), async (sent) => {
        for (const text of sent) await send(text);
        await app.run(writer, { session: 's', input: `Go ${++runs}` });
        const ledger: unknown[] = [];
        for await (const event of app.sessions.events('s')) ledger.push(event);
        await eventually(
          () => given.some((event) => 'seq' in event && event.seq === ledger.length),
          { what: 'the last event' },
        );
        expect(given.filter((event) => 'seq' in event)).toEqual(ledger);
        // The size of other messages is bounded by that of the sent ones.
        expect(given.length - ledger.length).toBeLessThan(sent.length * 20 + runs * 30);
      }),
      { seed, numRuns: 40 },
    );
    await checkProcess();
  },
);
