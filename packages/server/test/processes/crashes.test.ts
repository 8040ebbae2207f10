import { isDurable, type StreamEvent } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { SseReader } from '../stream/sse-reader.ts';
import { front } from './front.ts';
import { expectWhole, isSkipped, ledgerOf, Place, patience, type Served } from './place.ts';
import { heard, tale } from './story.ts';

/**
 * Returns the stream of a session for a client that has read it up to an event, and comes with its
 * id.
 */
async function streamedAfter(
  { url }: Served,
  session: string,
  after: number,
  last: number,
): Promise<readonly unknown[]> {
  const response = await fetch(`${url}/v1/sessions/${session}/stream`, {
    headers: { 'last-event-id': String(after) },
  });
  const reader = new SseReader(response);
  const frames = await reader.until(({ id }) => id === String(last));
  await reader.close();
  return frames.filter(({ id }) => id !== undefined).map(({ data }) => data);
}

/** True when the streamed part is declared void before the answer is written again. */
function isVoidedBefore(events: readonly StreamEvent[], resumed: StreamEvent): boolean {
  const at = events.indexOf(resumed);
  const again = events.findIndex(({ type }, index) => index > at && type === 'assistant_delta');
  const lastBefore = events.findLastIndex(
    ({ type }, index) => index < at && type === 'assistant_delta',
  );
  return (
    again > 0 &&
    events
      .slice(lastBefore, again)
      .some(({ type }) => type === 'stream_reset' || type === 'model_end')
  );
}

describe.skipIf(isSkipped)('when a process is killed', () => {
  test.concurrent(
    'in the middle of an answer, another one gives the answer, whoever follows it misses ' +
      'nothing, and so does who comes to its successor',
    patience,
    async (context) => {
      const place = new Place(context);
      const { 0: a, 1: b } = await place.start(2);
      const { session, id } = await a.client.runs
        .start({ agent: 'teller', input: 'Tell' })
        .accepted();
      const watcher = place.watch(b.url, session);
      a.server.tell({ type: 'write', pieces: 5 });
      await watcher.untilText(tale.slice(0, 6).join(''));
      await a.server.kill();
      b.server.tell({ type: 'write', pieces: 2 });
      const resumed = await watcher.until(({ type }) => type === 'invocation_resume');
      const { 0: next } = await place.start(1);
      const late = place.watch(next.url, session);
      for (const each of [watcher, late]) await each.untilText(tale.slice(0, 3).join(''));
      expect(watcher.events.some(({ type }) => type === 'assistant')).toBe(false);
      b.server.tell({ type: 'write', pieces: 'all' });
      for (const each of [watcher, late]) {
        await each.untilEnd(id);
        await expectWhole(each, next, session, [tale.join('')]);
      }
      expect(isVoidedBefore(watcher.events, resumed)).toBe(true);
      expect(await next.client.runs.get(session, id)).toMatchObject({
        status: 'completed',
        output: tale.join(''),
      });
      const ledger = await ledgerOf(b, session);
      expect(ledger.filter(({ type }) => type === 'assistant').length).toBe(1);
      for (const after of [1, Math.floor(ledger.length / 2), ledger.length - 1]) {
        expect(await streamedAfter(next, session, after, ledger.length)).toEqual(
          ledger.slice(after),
        );
      }
    },
  );

  test.concurrent(
    'whoever comes from it to another one does not get the new answer behind a part of the old one',
    patience,
    async (context) => {
      const place = new Place(context);
      const { 0: a, 1: b } = await place.start(2);
      const balancer = await front(() => [a.url, b.url]);
      context.onTestFinished(balancer.close);
      const { session, id } = await a.client.runs
        .start({ agent: 'teller', input: 'Tell' })
        .accepted();
      // The other process knows nothing of what was streamed, and is asked before it goes on.
      const watcher = place.watch(balancer.url, session);
      a.server.tell({ type: 'write', pieces: 5 });
      await watcher.untilText(tale.slice(0, 6).join(''));
      await a.server.kill();
      b.server.tell({ type: 'write', pieces: 'all' });
      await watcher.untilEnd(id);
      await expectWhole(watcher, b, session, [tale.join('')]);
      expect(watcher.connections).toBe(2);
    },
  );

  test.concurrent(
    'in the middle of tools, another one goes on as each of them wants it',
    patience,
    async (context) => {
      const place = new Place(context);
      const { 0: a, 1: b } = await place.start(2);
      const once = await a.client.runs.start({ agent: 'reporter', input: 'Go' }).accepted();
      const again = await a.client.runs.start({ agent: 'repeater', input: 'Go' }).accepted();
      const watchers = [once, again].map(({ session }) => place.watch(b.url, session));
      await eventually(() => place.effects.length === 2, { what: 'the begin of both tools' });
      await a.server.kill();
      for (const [index, { session, id }] of [once, again].entries()) {
        const watcher = watchers[index];
        if (index === 1) b.server.tell({ type: 'finish' });
        await watcher?.untilEnd(id);
        expect(await b.client.runs.get(session, id)).toMatchObject({
          status: 'completed',
          output: heard(['Go']),
        });
        if (watcher !== undefined) await expectWhole(watcher, b, session, [heard(['Go'])]);
      }
      const executed = (session: string) =>
        place.effects.filter((effect) => effect.session === session);
      expect(executed(once.session).map(({ attempt }) => attempt)).toEqual([1]);
      expect(executed(again.session).map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(new Set(executed(again.session).map(({ key }) => key)).size).toBe(1);
      const results = await Promise.all([once, again].map(({ session }) => ledgerOf(b, session)));
      expect(
        results.map((ledger) => ledger.filter(isResult).map(({ result }) => result.status)),
      ).toEqual([['unknown'], ['unknown', 'success']]);
    },
  );

  test.concurrent(
    'right after it has accepted runs, another one carries them out',
    patience,
    async (context) => {
      const place = new Place(context);
      const { 0: a, 1: b, 2: c } = await place.start(3);
      c.server.tell({ type: 'write', pieces: 'all' });
      const accepted = await Promise.all(
        [a, b].map(async ({ client, server }) => {
          const run = await client.runs.start({ agent: 'teller', input: 'Tell' }).accepted();
          await server.kill();
          return run;
        }),
      );
      for (const { session, id } of accepted) {
        const watcher = place.watch(c.url, session);
        await watcher.untilEnd(id);
        await expectWhole(watcher, c, session, [tale.join('')]);
        expect(await c.client.runs.get(session, id)).toMatchObject({
          status: 'completed',
          output: tale.join(''),
        });
      }
    },
  );
});

type Stored = Awaited<ReturnType<typeof ledgerOf>>[number];

function isResult(event: Stored): event is Extract<Stored, { type: 'tool_result' }> {
  return isDurable(event as StreamEvent) && event.type === 'tool_result';
}
