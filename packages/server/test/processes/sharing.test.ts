import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { front } from './front.ts';
import { expectWhole, isSkipped, ledgerOf, Place, patience } from './place.ts';
import { heard, plan, tale, thanks } from './story.ts';

const isModelEnd = ({ type }: { readonly type: string }): boolean => type === 'model_end';

test.skipIf(isSkipped)(
  'a run is started on one process, streamed by two others while it writes, and approved ' +
    'on the first',
  patience,
  async (context) => {
    const place = new Place(context);
    const { 0: a, 1: b, 2: c } = await place.start(3);
    const run = a.client.runs.start({ agent: 'payer', input: 'Pay' });
    const { session, id } = await run.accepted();
    const watchers = [place.watch(b.url, session), place.watch(c.url, session)];
    for (const pieces of [1, 4, 11]) {
      // The model on A waits behind each: nothing of its answer is durable.
      await Promise.all(
        watchers.map((watcher) => watcher.untilText(plan.slice(0, pieces).join(''))),
      );
      expect(watchers.flatMap(({ events }) => events).some(isModelEnd)).toBe(false);
      a.server.tell({ type: 'write', pieces: pieces === 1 ? 3 : 7 });
    }
    a.server.tell({ type: 'write', pieces: 'all' });
    const [asked] = await Promise.all(
      watchers.map((watcher) => watcher.until(({ type }) => type === 'tool_yield')),
    );
    if (asked?.type !== 'tool_yield') throw new Error('It asked for nothing.');
    expect((await b.client.approvals.list().page()).requests).toMatchObject([
      { requestId: asked.requestId, status: 'pending' },
    ]);
    for (const { server } of [b, c]) server.tell({ type: 'write', pieces: 'all' });
    await a.client.approvals.answer(asked.requestId, { decision: 'approve' });
    await Promise.all(watchers.map((watcher) => watcher.untilEnd(id)));
    const results = await Promise.all([a, b, c].map(({ client }) => client.runs.get(session, id)));
    expect(results[0]).toMatchObject({ status: 'completed', output: thanks.join('') });
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
    for (const watcher of watchers)
      await expectWhole(watcher, a, session, [plan.join(''), thanks.join('')]);
    expect(watchers.map(({ connections }) => connections)).toEqual([1, 1]);
    expect(place.effects.length).toBe(1);
  },
);

test.skipIf(isSkipped)(
  'without Redis other processes get what is durable, and readiness says so',
  patience,
  async (context) => {
    const place = new Place(context, { redis: false });
    const { 0: a, 1: b } = await place.start(2);
    const deltas = async (url: string) =>
      ((await (await fetch(`${url}/v1/ready`)).json()) as { deltas: string }).deltas;
    expect(await Promise.all([deltas(a.url), deltas(b.url)])).toEqual(['process', 'process']);
    const withRedis = await new Place(context).start(1);
    expect(await deltas(withRedis[0].url)).toBe('everywhere');
    const { session, id } = await a.client.runs
      .start({ agent: 'teller', input: 'Tell' })
      .accepted();
    const [near, far] = [place.watch(a.url, session), place.watch(b.url, session)];
    a.server.tell({ type: 'write', pieces: 3 });
    await near.untilText(tale.slice(0, 4).join(''));
    a.server.tell({ type: 'write', pieces: 'all' });
    await Promise.all([near.untilEnd(id), far.untilEnd(id)]);
    for (const watcher of [near, far]) await expectWhole(watcher, b, session, [tale.join('')]);
    expect(far.events).toEqual(far.durable);
    expect(near.events.length).toBeGreaterThan(near.durable.length);
  },
);

test.skipIf(isSkipped)(
  'a run is told something and cancelled from the process that does not carry it out',
  patience,
  async (context) => {
    const place = new Place(context);
    const { 0: a, 1: b } = await place.start(2);
    const told = await a.client.runs.start({ agent: 'reporter', input: 'Go' }).accepted();
    const listening = place.watch(b.url, told.session);
    await listening.until(({ type }) => type === 'tool_attempt');
    await b.client.sessions.send(told.session, 'And this');
    await listening.until((event) => event.type === 'user' && event.text === 'And this');
    a.server.tell({ type: 'finish' });
    await listening.untilEnd(told.id);
    const answer = heard(['Go', 'And this']);
    expect(await b.client.runs.get(told.session, told.id)).toMatchObject({
      status: 'completed',
      output: answer,
    });
    await expectWhole(listening, a, told.session, [answer]);

    const { session, id } = await a.client.runs
      .start({ agent: 'teller', input: 'Tell' })
      .accepted();
    const watcher = place.watch(b.url, session);
    a.server.tell({ type: 'write', pieces: 2 });
    await watcher.untilText(tale.slice(0, 3).join(''));
    await b.client.runs.cancel(session, id, { reason: 'Enough.' });
    await watcher.untilEnd(id);
    expect(await a.client.runs.get(session, id)).toMatchObject({ status: 'cancelled' });
    await expectWhole(watcher, a, session, [tale.join('')]);
    expect(watcher.events.filter(({ type }) => type === 'assistant')).toEqual([]);
  },
);

test.skipIf(isSkipped)(
  'a write with one Idempotency-Key is done once, at whichever processes it arrives',
  patience,
  async (context) => {
    const place = new Place(context);
    const { 0: a, 1: b } = await place.start(2);
    const send = async (url: string) => {
      const response = await fetch(`${url}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'one' },
        body: JSON.stringify({ agent: 'teller', input: 'Tell' }),
      });
      const { headers, status } = response;
      return {
        status,
        body: await response.text(),
        location: headers.get('location'),
        isReplayed: headers.get('idempotency-replayed'),
      };
    };
    const first = await send(a.url);
    expect(first).toMatchObject({ status: 202, isReplayed: null });
    expect(await send(b.url)).toEqual({ ...first, isReplayed: 'true' });
    await a.server.kill();
    expect(await send(b.url)).toEqual({ ...first, isReplayed: 'true' });
    const { session } = JSON.parse(first.body) as { session: string };
    expect((await ledgerOf(b, session)).filter(({ type }) => type === 'user').length).toBe(1);
    expect((await b.client.sessions.list().page()).sessions.map(({ id }) => id)).toEqual([session]);
  },
);

test.skipIf(isSkipped)(
  'whoever comes in the middle of an answer to a process that has not heard of it shows it once',
  patience,
  async (context) => {
    const place = new Place(context);
    const { 0: a, 1: b } = await place.start(2);
    let isMoved = false;
    const balancer = await front(() => [isMoved ? b.url : a.url]);
    context.onTestFinished(() => balancer.close());
    const { session, id } = await a.client.runs
      .start({ agent: 'teller', input: 'Tell' })
      .accepted();
    const watcher = place.watch(balancer.url, session);
    a.server.tell({ type: 'write', pieces: 3 });
    await watcher.untilText(tale.slice(0, 4).join(''));
    isMoved = true;
    balancer.cut();
    await eventually(() => watcher.connections === 2, {
      what: 'the second connection',
      patienceMs: 100_000,
    });
    a.server.tell({ type: 'write', pieces: 3 });
    await watcher.untilText(tale.slice(0, 7).join(''));
    a.server.tell({ type: 'write', pieces: 'all' });
    await watcher.untilEnd(id);
    await expectWhole(watcher, a, session, [tale.join('')]);
  },
);
