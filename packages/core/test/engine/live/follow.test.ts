import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agent,
  type Event,
  isDurable,
  memoryStore,
  type PubSub,
  type Runtime,
  runtime,
  type Store,
  type StreamEvent,
  tool,
} from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import type { LedgerStore } from 'adjutant/store';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { pubSub } from '../../pub-sub.ts';

/** A clock whose timers fire one by one, when the test says so. */
function steppedClock() {
  const waiting: (() => void)[] = [];
  return {
    ...systemClock,
    setTimer: (_ms: number, task: () => void) => {
      waiting.push(task);
      return () => void waiting.splice(waiting.indexOf(task), 1);
    },
    get waits() {
      return waiting.length > 0;
    },
    /** Lets the next part come, as soon as it waits. */
    step: async () => {
      await eventually(() => waiting.length > 0, { what: 'the next part' });
      waiting.shift()?.();
    },
  };
}

/**
 * A writer whose answer comes part by part, as the test lets time pass; its second answer follows a
 * tool call.
 */
function story() {
  const clock = steppedClock();
  const model = scriptedModel(
    [
      { chunks: ['Once ', 'upon ', 'a ', 'time'], chunkDelayMs: 1, toolCalls: [{ name: 'look' }] },
      { chunks: ['The ', 'end.'], chunkDelayMs: 1 },
    ],
    { clock },
  );
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    readOnly: true,
    execute: () => 'seen',
  });
  return { clock, writer: agent({ name: 'writer', model, tools: [look] }) };
}

/** Reads what is followed into a list, until the test ends. */
function followed(app: Runtime, session: string, after = 0) {
  const events: StreamEvent[] = [];
  const over = new AbortController();
  const reading = (async () => {
    for await (const event of app.follow(session, { after, signal: over.signal }))
      events.push(event);
  })();
  reading.catch(() => undefined);
  onTestFinished(async () => {
    over.abort();
    await reading.catch(() => undefined);
  });
  return { events, over, reading };
}

/** Returns the view of a client: durable texts, and behind them what is being written. */
function shown(events: readonly StreamEvent[]): string[] {
  const texts: string[] = [];
  let live = '';
  for (const event of events) {
    if (event.type === 'stream_reset' || event.type === 'model_end') live = '';
    if (event.type === 'assistant_delta') live += event.delta;
    if (event.type === 'assistant') texts.push(event.text as string);
  }
  return live === '' ? texts : [...texts, `${live}…`];
}

const durable = (events: readonly StreamEvent[]): Event[] => events.filter(isDurable);
const untilShown = (events: readonly StreamEvent[], texts: readonly string[]): Promise<void> =>
  eventually(() => JSON.stringify(shown(events)) === JSON.stringify(texts), {
    what: `${JSON.stringify(texts)}`,
  });
const isEnded = (events: readonly StreamEvent[]): boolean =>
  events.some(({ type }) => type === 'invocation_end');

function numbered(events: readonly StreamEvent[], from = 1): void {
  const seqs = durable(events).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + from));
}

test(
  'who follows from the start sees parts of answers between the events, in the order in ' +
    'which they were made',
  async () => {
    const { clock, writer } = story();
    const app = runtime({ app: 'tales', runnables: [writer] });
    await app.sessions.create({ id: 's' });
    const { events } = followed(app, 's');
    const run = app.run(writer, { session: 's', input: 'Tell' });
    await untilShown(events, ['Once …']);
    await clock.step();
    await untilShown(events, ['Once upon …']);
    for (let left = 3; left > 0; left--) {
      await clock.step();
    }
    await run;
    await eventually(() => isEnded(events));
    numbered(events);
    expect(shown(events)).toEqual(['Once upon a time', 'The end.']);
    const firstOfSecond = events.findIndex(
      (event) => event.type === 'assistant_delta' && event.delta.startsWith('The'),
    );
    expect(events.slice(0, firstOfSecond).map(({ type }) => type)).toContain('tool_result');
    await app.close();
  },
);

/** A store that writes nothing while it is held. */
function heldStore() {
  const store = memoryStore();
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const held = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = target[name as keyof LedgerStore] as (...values: unknown[]) => unknown;
        if (name === 'append')
          return async (...values: unknown[]) =>
            gate.promise.then(() => method.apply(target, values));
        return method.bind(target);
      },
    });
  const hold = (): void => {
    gate = Promise.withResolvers<void>();
  };
  return {
    store: {
      ...store,
      admin: store.admin,
      for: (scope: Parameters<Store['for']>[0]) => held(store.for(scope)),
      close: () => store.close(),
    },
    hold,
    release: () => gate.resolve(),
  };
}

test(
  'parts belong to the answer that is being written, also when it begins before the last one ' +
    'is durable',
  async () => {
    const { clock, writer } = story();
    const { store, hold, release } = heldStore();
    const app = runtime({ app: 'tales', runnables: [writer], store, recover: 'manual' });
    await app.sessions.create({ id: 's' });
    const { events } = followed(app, 's');
    const run = app.run(writer, { session: 's', input: 'Tell' });
    await eventually(() => events.some(({ type }) => type === 'model_start'));
    hold();
    for (let left = 3; left > 0; left--) await clock.step();
    // The last part of the second answer waits, and nothing of the first one is stored.
    await eventually(() => clock.waits);
    expect(shown(events)).toEqual(['Once upon a time…']);
    release();
    await untilShown(events, ['Once upon a time', 'The …']);
    await clock.step();
    await run;
    await app.close();
  },
);

test(
  'who comes in the middle of an answer gets the text so far, once, and goes on ' + 'from there',
  async () => {
    const { clock, writer } = story();
    const app = runtime({ app: 'tales', runnables: [writer] });
    await app.sessions.create({ id: 's' });
    const early = followed(app, 's');
    const run = app.run(writer, { session: 's', input: 'Tell' });
    await untilShown(early.events, ['Once …']);
    await clock.step();
    await untilShown(early.events, ['Once upon …']);
    early.over.abort();
    await early.reading;
    const known = durable(early.events).at(-1)?.seq ?? 0;
    const late = followed(app, 's', known);
    await untilShown(late.events, ['Once upon …']);
    expect(late.events.map(({ type }) => type)).toEqual(['stream_reset', 'assistant_delta']);
    // As the client that was cut off: what it had and what it gets.
    expect(shown([...early.events, ...late.events])).toEqual(['Once upon …']);
    run.stop();
    await expect(run).rejects.toThrow();
    await app.close();
  },
);

test('who does not read holds nobody up, and gets what was missed in one part', async () => {
  const chunks = Array.from({ length: 500 }, (_, index) => `${index} `);
  const clock = steppedClock();
  const writer = agent({
    name: 'writer',
    model: scriptedModel([{ chunks: [...chunks, 'last'], chunkDelayMs: 1 }], { clock }),
  });
  const app = runtime({ app: 'tales', runnables: [writer] });
  await app.sessions.create({ id: 's' });
  const slow = app.follow('s')[Symbol.asyncIterator]();
  const events: StreamEvent[] = [];
  const read = async (): Promise<void> =>
    void events.push((await slow.next()).value as StreamEvent);
  await read();
  const fast = followed(app, 's');
  const run = app.run(writer, { session: 's', input: 'Tell' });
  for (let left = chunks.length - 1; left > 0; left--) {
    await clock.step();
  }
  await untilShown(fast.events, [`${chunks.join('')}…`]);
  while (events.at(-1)?.type !== 'assistant_delta') await read();
  expect(events.filter(({ type }) => type === 'assistant_delta')).toHaveLength(1);
  expect(shown(events)).toEqual([`${chunks.join('')}…`]);
  await slow.return?.(undefined);
  await clock.step();
  await run;
  await app.close();
});

function twoProcesses(pubsub: () => PubSub | undefined, loses?: (message: string) => boolean) {
  const path = join(mkdtempSync(join(tmpdir(), 'follow-')), 'app.db');
  const { clock, writer } = story();
  const shared = pubsub() ?? pubSub(loses);
  const [here, there] = [0, 1].map(() =>
    runtime({
      app: 'tales',
      runnables: [writer],
      store: sqlite(path),
      recover: 'manual',
      pubsub: shared,
    }),
  );
  return { clock, writer, here: here as Runtime, there: there as Runtime };
}

test.each([
  ['', undefined],
  [', of messages that get lost, too', 3],
])('with pub/sub other processes see parts of answers%s', async (_, lost) => {
  let sent = 0;
  const { clock, writer, here, there } = twoProcesses(
    () => undefined,
    (message) => lost !== undefined && message.includes('"parts"') && ++sent % lost === 0,
  );
  await here.sessions.create({ id: 's' });
  const early = followed(there, 's');
  const run = here.run(writer, { session: 's', input: 'Tell' });
  await eventually(() => early.events.length > 2);
  await clock.step();
  const late = followed(there, 's');
  if (lost === undefined) {
    await untilShown(early.events, ['Once upon …']);
    await untilShown(late.events, ['Once upon …']);
  }
  for (let left = 3; left > 0; left--) await clock.step();
  await run;
  for (const { events } of [early, late]) {
    await eventually(() => isEnded(events));
    numbered(events);
    expect(shown(events)).toEqual(['Once upon a time', 'The end.']);
  }
  await Promise.all([here.close(), there.close()]);
});

test('without pub/sub other processes see what is durable', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'follow-')), 'app.db');
  const writer = agent({ name: 'writer', model: scriptedModel([{ chunks: ['a', 'b'] }]) });
  const [here, there] = [0, 1].map(() =>
    runtime({ app: 'tales', runnables: [writer], store: sqlite(path), recover: 'manual' }),
  ) as [Runtime, Runtime];
  expect(there.streams.reach).toBe('process');
  await here.sessions.create({ id: 's' });
  const { events } = followed(there, 's');
  await here.run(writer, { session: 's', input: 'Tell' });
  await eventually(() => isEnded(events));
  numbered(events);
  expect(events.every(isDurable)).toBe(true);
  await Promise.all([here.close(), there.close()]);
});

test('many follow at once, from different places, and each gets all', async () => {
  const writer = agent({ name: 'writer', model: scriptedModel(() => ({ text: 'yes' })) });
  const app = runtime({ app: 'tales', runnables: [writer] });
  await app.sessions.create({ id: 's' });
  for (let turn = 0; turn < 20; turn++) await app.run(writer, { session: 's', input: `${turn}` });
  const last = (await app.sessions.list({ id: 's' })).sessions[0]?.seq ?? 0;
  const all = Array.from({ length: 50 }, (_, index) =>
    followed(app, 's', Math.min(last, index * 3)),
  );
  await app.run(writer, { session: 's', input: 'more' });
  const end = (await app.sessions.list({ id: 's' })).sessions[0]?.seq ?? 0;
  for (const [index, { events }] of all.entries()) {
    await eventually(() => durable(events).at(-1)?.seq === end);
    numbered(events, Math.min(last, index * 3) + 1);
  }
  await app.close();
});

test('what cannot be followed says so', async () => {
  const app = runtime({ app: 'tales' });
  await app.sessions.create({ id: 's' });
  const first = (session: string, options?: object): Promise<unknown> =>
    app.follow(session, options)[Symbol.asyncIterator]().next();
  await expect(first('nobody')).rejects.toMatchObject({ code: 'session_not_found' });
  await expect(first('s', { after: 99 })).rejects.toMatchObject({
    code: 'seq_out_of_range',
    data: { seq: 99, last: 1 },
  });
  await expect(first('s', { after: -1 })).rejects.toMatchObject({ code: 'invalid_run' });
  await expect(first('s', { from: 1 })).rejects.toMatchObject({ code: 'invalid_run' });
  const rest = followed(app, 's', 1);
  await app.close();
  await expect(rest.reading).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a session that is deleted ends its followers', async () => {
  const app = runtime({ app: 'tales' });
  await app.sessions.create({ id: 's' });
  const { reading, events } = followed(app, 's');
  await eventually(() => events.length === 1);
  await app.sessions.delete('s');
  await expect(reading).rejects.toMatchObject({ code: 'session_not_found' });
  await app.close();
});

test(
  'of a session that was deleted nobody is told anything who follows another one of its ' +
    'name, though somebody still reads the first',
  async () => {
    const writer = agent({ name: 'writer', model: scriptedModel(() => ({ text: 'Written.' })) });
    const app = runtime({ app: 'tales', runnables: [writer], recover: 'manual' });
    const tell = async (input: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) await app.run(writer, { session: 's', input });
    };
    await app.sessions.create({ id: 's' });
    const behind = app.follow('s')[Symbol.asyncIterator]();
    await behind.next();
    const { events, reading } = followed(app, 's');
    await tell('the old one', 2);
    await eventually(() => durable(events).length > 12);
    await app.sessions.delete('s');
    await expect(reading).rejects.toMatchObject({ code: 'session_not_found' });
    await app.sessions.create({ id: 's' });
    await tell('the new one', 3);
    const { events: later } = followed(app, 's', 5);
    await eventually(() => later.filter(({ type }) => type === 'invocation_end').length >= 3);
    expect(later.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual([
      'the new one',
      'the new one',
    ]);
    await expect(behind.next()).rejects.toMatchObject({ code: 'session_not_found' });
    await app.close();
  },
);
