import {
  type Agent,
  agent,
  type Event,
  isAdjutantError,
  memoryStore,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  step,
  tool,
} from 'adjutant';
import { keptOpen, roundModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const publish = tool({
  name: 'publish',
  description: 'Publishes',
  schema: z.object({}),
  approval: true,
  execute: () => 'published',
});
const report = agent({
  name: 'report',
  model: roundModel([{ toolCalls: [{ name: 'publish', args: {} }] }, { text: 'It is out.' }]),
  tools: [publish],
});
const chat = agent({ name: 'chat', model: roundModel([{ text: 'Hello.' }]) });

/** A step that ends when its gate opens. */
function gated(name = 'gated') {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const runnable = step({
    name,
    execute: async (ctx) => {
      begun.resolve();
      await gate.promise;
      return ctx.complete(`${name} is done`);
    },
  });
  return { runnable, begun: begun.promise, open: () => gate.resolve() };
}

const appOf = (runnables: readonly Runnable[], options: Partial<RuntimeOptions> = {}): Runtime =>
  runtime({ app: 'lanes', store: memoryStore(), recover: 'manual', runnables, ...options });

const lanesOf = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode === 'root' ? [[event.name, event.lane]] : [],
  );

/** How the first runs of the session ended, as a process that follows it sees. */
async function ended(app: Runtime, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const event of app.follow('s', { after: 0 })) {
    if (event.type === 'invocation_end' && !event.invocationId.includes('/'))
      found.push(event.status);
    if (found.length === count) break;
  }
  return found;
}

describe('a run in a lane of its own', () => {
  test('waits for an approval while the chat goes on, and the ledger names its lane', async () => {
    const app = appOf([chat, report]);
    const waiting = await app.run(report, { session: 's', input: 'Report', lane: 'background' });
    expect(waiting.status).toBe('yielded');
    const said = await app.run(chat, { session: 's', input: 'Hi' });
    expect(said).toMatchObject({ status: 'completed', output: 'Hello.' });
    await app.requests.approve(waiting.pendingApprovals[0]?.requestId ?? '');
    const done = await app.resume(report, 's', { lane: 'background' });
    expect(done).toMatchObject({ status: 'completed', output: 'It is out.' });
    expect(done.runId).toBe(waiting.runId);
    expect(lanesOf(done.session.events)).toEqual([
      ['report', 'background'],
      ['chat', undefined],
    ]);
    await app.close();
  });

  test('goes on at the same time as the run of the default lane, and streams only itself', async () => {
    const { runnable, begun, open } = gated();
    const app = appOf([chat, runnable]);
    const slow = app.run(runnable, { session: 's', input: 'Work', lane: 'background' });
    const heard: string[] = [];
    slow.listen(({ type, invocationId }) => heard.push(`${type} ${invocationId}`));
    await begun;
    const quick = await app.run(chat, { session: 's', runId: 'quick', input: 'Hi' });
    expect(quick.status).toBe('completed');
    open();
    const { output, runId } = await slow;
    expect(output).toBe('gated is done');
    expect(heard.filter((line) => line.endsWith('quick'))).toEqual([]);
    expect(heard).toContain(`invocation_end ${runId}`);
    await app.close();
  });

  test('is the only one of its lane: another runnable is refused there, and only there', async () => {
    const { runnable, begun, open } = gated();
    const app = appOf([chat, report, runnable]);
    const slow = app.run(runnable, { session: 's', input: 'Work', lane: 'background' });
    await begun;
    await expect(
      app.run(report, { session: 's', input: 'Report', lane: 'background' }),
    ).rejects.toMatchObject({ code: 'session_busy' });
    const other = await app.run(report, { session: 's', input: 'Report', lane: 'night' });
    expect(other.status).toBe('yielded');
    open();
    await slow;
    await app.close();
  });

  test('gets the messages that name it, and the default lane gets the others', async () => {
    const asks = (name: string) =>
      agent({
        name,
        model: roundModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: `${name} ends` }]),
        tools: [
          tool({ name: 'ask', description: 'Asks', schema: z.object({}), yieldSchema: z.string() }),
        ],
      });
    const [left, right] = [asks('left'), asks('right')];
    const app = appOf([left, right]);
    await app.run(left, { session: 's', runId: 'l', input: 'Go' });
    await app.run(right, { session: 's', runId: 'r', input: 'Go', lane: 'b' });
    await app.send('s', 'for b', { lane: 'b' });
    await app.send('s', 'for all');
    expect(await app.resume('s', { lane: 'b' })).toMatchObject({ output: 'right ends' });
    const { session, output } = await app.resume('s');
    expect(output).toBe('left ends');
    const answers = session.events.flatMap((event) =>
      event.type === 'tool_input' ? [[event.invocationId, event.input]] : [],
    );
    expect(answers).toEqual([
      ['r', 'for b'],
      ['l', 'for all'],
    ]);
    await app.close();
  });

  test('is cancelled and paused by its lane, and the other one is not', async () => {
    const [one, two] = [gated('one'), gated('two')];
    const app = appOf([one.runnable, two.runnable]);
    const first = app.run(one.runnable, { session: 's', runId: 'first', input: 'Go' });
    const second = app.run(two.runnable, { session: 's', runId: 'second', input: 'Go', lane: 'b' });
    await Promise.all([one.begun, two.begun]);
    await app.cancel('s', { lane: 'b', reason: 'Enough.' });
    two.open();
    expect(await second).toMatchObject({ status: 'cancelled' });
    one.open();
    expect(await first).toMatchObject({ status: 'completed' });
    await app.close();
  });

  test('has its own name for `runId`: the same request in another lane is refused', async () => {
    const app = appOf([report]);
    const asked = { session: 's', runId: 'once', input: 'Report' };
    const first = await app.run(report, { ...asked, lane: 'b' });
    const again = await app.run(report, { ...asked, lane: 'b' });
    expect(again.runId).toBe(first.runId);
    await expect(app.run(report, asked)).rejects.toThrow(
      'the run "once" is in the lane "b", not in the default lane',
    );
    await app.close();
  });

  test('is reopened by its lane: without one, the last run of the default lane is', async () => {
    const failing = step({ name: 'failing', execute: (ctx) => ctx.fail('not yet') });
    const app = appOf([failing]);
    await app.run(failing, { session: 's', runId: 'first', input: 'Go' });
    await app.run(failing, { session: 's', runId: 'second', input: 'Go', lane: 'b' });
    const why = { reason: 'It is there now.' };
    await app.sessions.reopen('s', why);
    await app.sessions.reopen('s', { ...why, lane: 'b' });
    const { events } = await app.sessions.open({ id: 's' });
    const reopened = events.filter(({ type }) => type === 'invocation_reopen');
    expect(reopened.map(({ invocationId }) => invocationId)).toEqual(['first', 'second']);
    await app.close();
  });

  test('is not found by a resume of another lane', async () => {
    const app = appOf([report]);
    await app.run(report, { session: 's', input: 'Report', lane: 'b' });
    await expect(app.resume('s')).rejects.toMatchObject({ code: 'no_open_run' });
    await expect(app.resume('s', { lane: 'c' })).rejects.toMatchObject({ code: 'no_open_run' });
    await app.close();
  });
});

describe('what an agent sees', () => {
  test('are turns of its lane, and turns of others that had ended when it began', async () => {
    const model = scriptedModel([{ text: 'EARLY' }, { text: 'LATE' }, { text: 'AGAIN' }]);
    const lastPrompt = (): string => JSON.stringify(model.calls.at(-1)?.prompt);
    const [early, late] = ['early', 'late'].map((name) => agent({ name, model })) as [Agent, Agent];
    const { runnable, begun, open } = gated();
    const app = appOf([early, late, runnable]);
    await app.run(early, { session: 's', input: 'one', lane: 'b' });
    await app.send('s', 'MESSAGE FOR B', { lane: 'b' });
    const slow = app.run(runnable, { session: 's', input: 'SLOW', lane: 'c' });
    await begun;
    await app.run(late, { session: 's', input: 'two' });
    open();
    await slow;
    const last = lastPrompt();
    expect(last).toContain('EARLY');
    expect(last).not.toContain('SLOW');
    expect(last).not.toContain('MESSAGE FOR B');
    await app.run(early, { session: 's', input: 'three', lane: 'b' });
    expect(lastPrompt()).toContain('MESSAGE FOR B');
    expect(lastPrompt()).toContain('LATE');
    await app.close();
  });
});

describe('the name of a lane', () => {
  test.each<[string, unknown, string]>([
    ['no string', 7, 'a name of 1 to 64 letters, digits, _ and -'],
    ['empty', '', 'a name of 1 to 64 letters'],
    ['too long', 'x'.repeat(65), 'a name of 1 to 64 letters'],
    ['with a slash', 'a/b', 'a name of 1 to 64 letters'],
    ['reserved', 'default', 'a name other than "default"'],
  ])('is refused: %s', async (_what, lane, why) => {
    const app = appOf([chat]);
    await app.sessions.create({ id: 's' });
    const options = { lane } as { lane: string };
    expect(() => app.run(chat, { session: 's', input: 'Hi', ...options })).toThrow(why);
    expect(() => app.resume('s', options)).toThrow(why);
    const refusals = await Promise.allSettled([
      app.send('s', 'Hi', options),
      app.cancel('s', options),
      app.pause('s', options),
      app.advance('s', options),
    ]);
    for (const refusal of refusals) {
      const reason: unknown = refusal.status === 'rejected' ? refusal.reason : undefined;
      expect(isAdjutantError(reason, 'invalid_run')).toBe(true);
      expect(String(reason)).toContain(why);
    }
    await app.close();
  });
});

describe('several processes', () => {
  test('the next process continues every lane', async () => {
    const store = keptOpen(memoryStore());
    const [one, two] = [gated('one'), gated('two')];
    const stopped = appOf([one.runnable, two.runnable], { store });
    const runs = [
      stopped.run(one.runnable, { session: 's', runId: 'one', input: 'Go' }),
      stopped.run(two.runnable, { session: 's', runId: 'two', input: 'Go', lane: 'b' }),
    ];
    for (const run of runs) run.catch(() => undefined);
    await Promise.all([one.begun, two.begun]);
    for (const run of runs) run.stop();
    await Promise.all(runs.map((run) => run.settled()));
    one.open();
    two.open();
    const next = appOf([one.runnable, two.runnable], { store, recover: 'auto' });
    expect(await ended(next, 2)).toEqual(['completed', 'completed']);
    await next.close();
  });

  test('the process that holds the session begins what another asks for in a new lane', async () => {
    const store = keptOpen(memoryStore());
    const { runnable, begun, open } = gated();
    const holder = appOf([chat, runnable], { store, recover: 'auto' });
    const other = appOf([chat, runnable], { store });
    const slow = holder.run(runnable, { session: 's', input: 'Work' });
    await begun;
    const said = await other.run(chat, { session: 's', input: 'Hi', lane: 'b' });
    expect(said).toMatchObject({ status: 'completed', output: 'Hello.' });
    open();
    expect(await slow).toMatchObject({ status: 'completed' });
    await Promise.all([holder.close(), other.close()]);
  });

  test('a holder that does not know the runnable leaves it to the process that asked', async () => {
    const store = keptOpen(memoryStore());
    const { runnable, begun, open } = gated();
    const holder = appOf([runnable], { store, recover: 'auto' });
    const other = appOf([chat], { store });
    const slow = holder.run(runnable, { session: 's', input: 'Work' });
    await begun;
    const asked = other.run(chat, { session: 's', input: 'Hi', lane: 'b' });
    expect(await asked.accepted()).toMatchObject({ session: 's' });
    open();
    expect(await slow).toMatchObject({ status: 'completed' });
    expect(await asked).toMatchObject({ status: 'completed', output: 'Hello.' });
    await Promise.all([holder.close(), other.close()]);
  });

  test('a lane that waits is resumed by the process that holds the session for another', async () => {
    const store = keptOpen(memoryStore());
    const { runnable, begun, open } = gated();
    const holder = appOf([report, runnable], { store, recover: 'auto' });
    const waiting = await holder.run(report, { session: 's', input: 'Report', lane: 'b' });
    const slow = holder.run(runnable, { session: 's', input: 'Work' });
    await begun;
    const elsewhere = appOf([report, runnable], { store });
    await elsewhere.requests.approve(waiting.pendingApprovals[0]?.requestId ?? '');
    expect(await ended(elsewhere, 1)).toEqual(['completed']);
    open();
    await slow;
    await Promise.all([holder.close(), elsewhere.close()]);
  });

  test('a worker advances one lane after the other', async () => {
    const store = keptOpen(memoryStore());
    const [one, two] = [gated('one'), gated('two')];
    const stopped = appOf([one.runnable, two.runnable], { store });
    const runs = [
      stopped.run(one.runnable, { session: 's', runId: 'one', input: 'Go' }),
      stopped.run(two.runnable, { session: 's', runId: 'two', input: 'Go', lane: 'b' }),
    ];
    for (const run of runs) run.catch(() => undefined);
    await Promise.all([one.begun, two.begun]);
    await stopped.close();
    one.open();
    two.open();
    const worker = appOf([one.runnable, two.runnable], { store });
    const advances = [await worker.advance('s'), await worker.advance('s')];
    expect(advances.map(({ status }) => status)).toEqual(['done', 'done']);
    expect(advances.map(({ result }) => result?.runId)).toEqual(['one', 'two']);
    await worker.close();
  });
});
