import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, type Event, isDurable, type StreamEvent, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  type AdjutantClient,
  isServerProblem,
  noText,
  streamedText,
} from '../../src/client/index.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { impatient, serving } from './serving.ts';

const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({ at: z.string() }),
  readOnly: true,
  execute: ({ args }) => `nothing at ${args.at}`,
});

const words = Array.from({ length: 60 }, (_, index) => `word${index} `);

/** Looks thrice, then talks for a while. */
function talker() {
  const model = scriptedModel(
    (prompt) => {
      const looks = prompt.filter(({ role }) => role === 'tool').length;
      return looks < 3
        ? {
            thoughts: 'I look.',
            chunks: ['Wait', ' for', ' me'],
            toolCalls: [{ name: 'look', args: { at: `${looks}` } }],
          }
        : { chunks: words, chunkDelayMs: 2 };
    },
    { record: false },
  );
  return agent({ name: 'talker', model, tools: [look] });
}

/** A whole number from 0 that depends on nothing but the seed. */
function numberOf(seed: string, below: number): number {
  return createHash('sha256').update(seed).digest().readUInt32LE() % below;
}

/** Follows a session up to the end of its run; checks the text on its way. */
async function untilEnd(
  follower: AdjutantClient,
  session: string,
  after = 0,
): Promise<{ events: Event[]; streamed: StreamEvent[] }> {
  const streamed: StreamEvent[] = [];
  let texts = noText;
  for await (const event of follower.sessions.follow(session, { after })) {
    if (event.type === 'assistant') {
      const before = texts.get(event.invocationId ?? '');
      // The streamed text is always a beginning of the recorded one.
      if (before?.isComplete === false) expect(event.text.startsWith(before.text)).toBe(true);
    }
    texts = streamedText(texts, event);
    if (event.type === 'assistant')
      expect(texts.get(event.invocationId ?? '')?.text).toBe(event.text);
    streamed.push(event);
    if (event.type === 'invocation_end') break;
  }
  return { events: streamed.filter(isDurable), streamed };
}

describe('following a session', () => {
  test.each([1, 2, 3, 4])(
    'gives each event once and in order, through a proxy that cuts connections (%i)',
    async (seed) => {
      const clerk = talker();
      const { app, listening } = await serving({ runnables: [clerk] });
      const proxy = await cuttingProxy({
        target: () => listening.port,
        cutAfter: (connection) => 700 + numberOf(`${seed}/${connection}`, 5_000),
      });
      await app.sessions.create({ id: 'talk' });
      const following = untilEnd(impatient(proxy.url), 'talk');
      const { session } = await app.run(clerk, { session: 'talk', input: 'Look around' });
      const { events, streamed } = await following;
      expect(events).toEqual(session.events.slice(0, events.length));
      expect(events.at(-1)?.type).toBe('invocation_end');
      expect(proxy.cuts).toBeGreaterThan(2);
      expect(streamed.some(({ type }) => type === 'assistant_delta')).toBe(true);
    },
  );

  test('goes on behind the event that it is given, and ends by the signal', async () => {
    const clerk = talker();
    const { app, url } = await serving({ runnables: [clerk] });
    const { session } = await app.run(clerk, { input: 'Look around' });
    const { events } = await untilEnd(impatient(url), session.id, 5);
    expect(events).toEqual(session.events.slice(5));

    const ending = new AbortController();
    const seen: StreamEvent[] = [];
    for await (const event of impatient(url).sessions.follow(session.id, {
      signal: ending.signal,
    })) {
      seen.push(event);
      if (seen.length === session.events.length) ending.abort();
    }
    expect(seen).toEqual(session.events);
  });

  test('can be left while nothing comes', async () => {
    const { app, url } = await serving({ runnables: [] });
    await app.sessions.create({ id: 'quiet' });
    const following = impatient(url).sessions.follow('quiet');
    expect((await following.next()).value).toMatchObject({ type: 'decision', seq: 1 });
    const next = following.next();
    await following.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('rejects with the problem of the server, and does not try again', async () => {
    const { url } = await serving({ runnables: [] });
    const error = await impatient(url)
      .sessions.follow('nobody')
      .next()
      .catch((thrown: unknown) => thrown);
    expect(isServerProblem(error, 'session_not_found')).toBe(true);
    expect(error).toMatchObject({ status: 404, message: expect.stringContaining('nobody') });
  });

  test('gives up when the server stays away, and says where it stood', async () => {
    const { app, url, listening } = await serving({ runnables: [] });
    await app.sessions.create({ id: 'quiet' });
    const following = impatient(url, {
      retry: { initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 50 },
    }).sessions.follow('quiet');
    await following.next();
    await listening.close();
    await expect(following.next()).rejects.toMatchObject({
      name: 'ConnectionLostError',
      code: 'connection_lost',
      after: 1,
    });
  });

  test('misses nothing of a run that another process takes over after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adjutant-client-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = () => sqlite(join(folder, 'served.db'));
    const first = await serving({ runnables: [talker()], store: store() });
    const { port } = first.listening;
    await first.app.sessions.create({ id: 'talk' });
    const following = untilEnd(impatient(first.url), 'talk');
    const clerk = talker();
    const run = first.app.run(first.app.runnables[0] ?? clerk, {
      session: 'talk',
      input: 'Look around',
    });
    run.catch(() => undefined);
    for await (const event of run)
      if (event.type === 'assistant_delta' && event.delta === 'word3 ') break;
    await first.listening.close({ closeApp: true });
    const second = await serving({ runnables: [clerk], store: store() }, { port });
    const { events } = await following;
    const ledger = [];
    for await (const event of second.app.sessions.events('talk')) ledger.push(event);
    expect(events).toEqual(ledger.slice(0, events.length));
    expect(events.filter(({ type }) => type === 'invocation_resume')).toHaveLength(1);
  });
});
