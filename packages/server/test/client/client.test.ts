import { isDurable, type StreamEvent } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { isServerProblem } from '../../src/client/index.ts';
import { all, clerk, refunds } from './clerk-app.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { impatient, serving } from './serving.ts';

describe('runs', () => {
  test('are started, awaited and followed', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const run = impatient(url).runs.start({ agent: 'clerk', input: 'Hi' });
    const events: StreamEvent[] = [];
    for await (const event of run) events.push(event);
    const { session, id } = await run.accepted();
    expect(await run).toMatchObject({
      id,
      session,
      status: 'completed',
      output: 'Hello.',
      agent: 'clerk',
    });
    expect(events.filter(isDurable).at(-1)).toMatchObject({
      type: 'invocation_end',
      invocationId: id,
    });
    expect(events.filter(isDurable)[0]).toMatchObject({ seq: 1 });
    // Another iteration begins anew.
    const again: StreamEvent[] = [];
    for await (const event of run) again.push(event);
    expect(again).toEqual(events.filter(isDurable));
  });

  test('are begun once, however often the answer to the start is lost', async () => {
    const { app, listening } = await serving({ runnables: [clerk()] });
    // The first answers are cut off in their heads, after the request has come through.
    const proxy = await cuttingProxy({
      target: () => listening.port,
      cutAfter: (connection) => (connection < 3 ? 20 : undefined),
    });
    const started = await impatient(proxy.url)
      .runs.start({ agent: 'clerk', input: 'Hi' })
      .accepted();
    expect(proxy.cuts).toBe(3);
    const { sessions } = await app.sessions.list();
    expect(sessions.map(({ id }) => id)).toEqual([started.session]);
    const { runs } = await impatient(listening.url).runs.list(started.session).page();
    expect(runs.map(({ id }) => id)).toEqual([started.id]);
  });

  test('that wait are answered, and go on; a second answer is refused', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { runs, approvals } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Refund order o17' });
    const waiting = await run;
    expect(waiting).toMatchObject({
      status: 'waiting',
      waitsFor: 'tool_input',
      requests: [{ kind: 'approval', name: 'refund' }],
    });
    const requestId = waiting.requests[0]?.requestId as string;
    expect(await approvals.get(requestId)).toMatchObject({ requestId, status: 'pending' });
    const following = (async () => {
      const types: string[] = [];
      for await (const event of run) types.push(event.type);
      return types;
    })();
    expect(await approvals.answer(requestId, { decision: 'approve' })).toMatchObject({
      status: 'answered',
    });
    const error = await approvals
      .answer(requestId, { decision: 'reject' })
      .catch((thrown: unknown) => thrown);
    expect(isServerProblem(error, 'request_settled')).toBe(true);
    expect(error).toMatchObject({ status: 409 });
    const { session, id } = await run.accepted();
    expect(await runs.wait(session, id, { until: 'end' })).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('refunded'),
    });
    expect(refunds).toContain('o17');
    expect(await following).toEqual(
      expect.arrayContaining(['tool_yield', 'invocation_yield', 'tool_input', 'invocation_end']),
    );
  });

  test('are waited for to their end, however long they rest in between', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { runs, operations } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Make film f1' });
    expect(await run).toMatchObject({ status: 'waiting', requests: [{ operationId: 'f1' }] });
    const { session, id } = await run.accepted();
    const ended = runs.wait(session, id, { until: 'end' });
    await operations.settle('f1', { result: 'f1.mp4' });
    expect(await ended).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('f1.mp4'),
    });
    await expect(operations.settle('f1', { result: 'f1.mp4' })).rejects.toMatchObject({
      name: 'ServerProblemError',
      code: 'request_settled',
    });
  });

  test('are cancelled', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const run = impatient(url).runs.start({ agent: 'clerk', input: 'Refund order o18' });
    await run;
    await run.cancel('Not needed');
    const { session, id } = await run.accepted();
    expect(await impatient(url).runs.wait(session, id, { until: 'end' })).toMatchObject({
      status: 'cancelled',
    });
    expect(refunds).not.toContain('o18');
  });

  test(
    'that cannot be started reject, where somebody waits for them, with ' + 'what is wrong',
    async () => {
      const { url } = await serving({ runnables: [clerk()] });
      const run = impatient(url).runs.start({ agent: 'clark', input: 'Hi' });
      await expect(run).rejects.toMatchObject({
        code: 'agent_not_found',
        status: 404,
        data: { nearest: 'clerk' },
      });
      await expect(run.accepted()).rejects.toMatchObject({ code: 'agent_not_found' });
      await expect(
        (async () => {
          for await (const _ of run);
        })(),
      ).rejects.toMatchObject({ code: 'agent_not_found' });
    },
  );
});

describe('sessions', () => {
  test('are made, listed over pages, looked at, forked and deleted', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { sessions, runs } = impatient(url);
    for (const id of ['a', 'b', 'c', 'd', 'e']) await sessions.create({ id, user: 'ann' });
    const ids: string[] = [];
    for await (const { id } of sessions.list({ limit: 2, order: 'createdAt', user: 'ann' }))
      ids.push(id);
    expect(ids).toEqual(['e', 'd', 'c', 'b', 'a']);
    const { sessions: found, cursor } = await sessions
      .list({ limit: 2, order: 'createdAt' })
      .page();
    expect(found.map(({ id }) => id)).toEqual(['e', 'd']);
    expect(typeof cursor).toBe('string');

    await runs.start({ agent: 'clerk', session: 'a', input: 'Hi' });
    expect(await sessions.get('a')).toMatchObject({
      id: 'a',
      status: 'completed',
      user: 'ann',
      waiting: 0,
    });
    const events = await all(sessions.events('a', { limit: 3 }));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect((await all(sessions.events('a', { upTo: 4 }))).length).toBe(4);
    expect(await sessions.transcript('a')).toMatchObject([
      { kind: 'user', text: 'Hi' },
      { kind: 'assistant', text: 'Hello.' },
    ]);
    expect(await sessions.state('a', { at: 1 })).toMatchObject({ seq: 1 });
    expect(await sessions.fork('a', { id: 'a2', at: 2 })).toMatchObject({ id: 'a2' });
    await sessions.delete('a', { erase: true });
    await expect(sessions.get('a')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(sessions.get('a2')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('take messages, and are paused and continued', async () => {
    const { app, url } = await serving({ runnables: [clerk()] });
    const { sessions, runs } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Refund order o19' });
    await run;
    const { session, id } = await run.accepted();
    await sessions.send(session, 'Hurry', { key: 'm1' });
    await sessions.send(session, 'Hurry', { key: 'm1' });
    await sessions.pause(session, { reason: 'Lunch' });
    await sessions.interrupt(session, { next: 'continue', reason: 'Enough' });
    expect(await sessions.continue(session)).toMatchObject({ session, id });
    await sessions.cancel(session);
    await runs.wait(session, id, { until: 'end' });
    const ledger = await all(app.sessions.events(session));
    expect(ledger.filter((event) => event.type === 'user' && event.text === 'Hurry').length).toBe(
      1,
    );
  });
});
