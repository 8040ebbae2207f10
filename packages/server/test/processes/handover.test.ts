import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { SseReader } from '../stream/sse-reader.ts';
import { front } from './front.ts';
import { expectWhole, isSkipped, ledgerOf, Place, patience } from './place.ts';
import { heard, tale } from './story.ts';

describe.skipIf(isSkipped)('a process', () => {
  test.concurrent(
    'that is ended gives its runs to another one, and clients behind one address miss nothing',
    patience,
    async (context) => {
      const place = new Place(context);
      const { 0: a, 1: b } = await place.start(2);
      const balancer = await front(() => [a.url, b.url]);
      context.onTestFinished(balancer.close);
      const { session, id } = await a.client.runs
        .start({ agent: 'teller', input: 'Tell' })
        .accepted();
      const watcher = place.watch(balancer.url, session);
      const direct = new SseReader(await fetch(`${a.url}/v1/sessions/${session}/stream`));
      a.server.tell({ type: 'write', pieces: 3 });
      await watcher.untilText(tale.slice(0, 4).join(''));
      b.server.tell({ type: 'write', pieces: 'all' });
      a.server.signal('SIGTERM');
      await direct.rest();
      expect(direct.comments).toContain('the server closes');
      expect(await a.server.ended()).toBe('SIGTERM');
      await watcher.untilEnd(id);
      await expectWhole(watcher, b, session, [tale.join('')]);
      expect(watcher.connections).toBeGreaterThan(1);
      expect(await b.client.runs.get(session, id)).toMatchObject({
        status: 'completed',
        output: tale.join(''),
      });
      expect(a.server.complaints).toBe('');
    },
  );

  test.concurrent(
    'that was silent for longer than its lease stops quietly when it wakes up, and writes ' +
      'nothing more',
    patience,
    async (context) => {
      const place = new Place(context, { lease: 1_500 });
      const { 0: a, 1: b } = await place.start(2);
      const told = await a.client.runs.start({ agent: 'teller', input: 'Tell' }).accepted();
      const called = await a.client.runs.start({ agent: 'reporter', input: 'Go' }).accepted();
      const near = [told, called].map(({ session }) => place.watch(a.url, session));
      const far = [told, called].map(({ session }) => place.watch(b.url, session));
      a.server.tell({ type: 'write', pieces: 3 });
      await Promise.all(
        [...near, ...far]
          .slice(0, 3)
          .map((watcher, index) =>
            index === 1 ? undefined : watcher.untilText(tale.slice(0, 4).join('')),
          ),
      );
      await eventually(() => place.effects.length === 1, { what: 'the begin of the tool' });
      a.server.signal('SIGSTOP');
      b.server.tell({ type: 'write', pieces: 'all' });
      for (const [index, { id }] of [told, called].entries()) await far[index]?.untilEnd(id);
      const before = await Promise.all([told, called].map(({ session }) => ledgerOf(b, session)));
      a.server.signal('SIGCONT');
      a.server.tell({ type: 'write', pieces: 'all' });
      a.server.tell({ type: 'finish' });
      for (const [index, { id, session }] of [told, called].entries()) {
        await near[index]?.untilEnd(id);
        for (const watcher of [near[index], far[index]]) {
          if (watcher !== undefined)
            await expectWhole(watcher, a, session, [tale.join(''), heard(['Go'])]);
        }
      }
      // It serves and works as before.
      const { session, id } = await a.client.runs
        .start({ agent: 'teller', input: 'Tell again' })
        .accepted();
      await place.watch(b.url, session).untilEnd(id);
      expect(await Promise.all([told, called].map(({ session }) => ledgerOf(a, session)))).toEqual(
        before,
      );
      expect(place.effects.length).toBe(1);
      expect(a.server.complaints).toBe('');
    },
  );
});
