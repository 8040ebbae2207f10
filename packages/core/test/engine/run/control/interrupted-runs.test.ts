import { agent, type Event, type EventOf, memoryStore, parallel, runtime, tool } from 'adjutant';
import { eventually, keptOpen, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { brokenOff } from './broken-off-model.ts';
import { gate } from './waiting-run.ts';

const work = tool({
  name: 'work',
  description: 'Works',
  schema: z.object({}),
  execute: () => 'worked',
});

function lines(events: readonly Event[]): string[] {
  return events.map((event) => {
    if (event.type === 'decision') return `${event.component}/${event.decision}`;
    if (event.type === 'assistant') return `${event.cut === true ? 'cut' : 'said'}: ${event.text}`;
    if (event.type === 'model_end') return `model_end ${event.status}`;
    if (event.type === 'invocation_yield') return `yield ${event.reason}`;
    return event.type;
  });
}

const cutTexts = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === 'assistant' && event.cut === true ? event.text : []));

describe('an answer that is interrupted', () => {
  test('is kept as far as it had come, and the run waits until it is resumed', async () => {
    const { model, prompts, said } = brokenOff('Half of it', scriptedModel([{ text: 'because.' }]));
    const coder = agent({ name: 'coder', model, tools: [work] });
    const app = runtime({ app: 'control' });
    const run = app.run(coder, { session: 's', input: 'Why?' });
    await said;
    await app.interrupt('s', { by: 'user:ann' });
    const paused = await run;
    expect(paused).toMatchObject({ status: 'yielded', awaitingInput: false, pendingCalls: [] });
    const { events } = paused.session;
    expect(lines(events).slice(-6)).toEqual([
      'model_start',
      'run/pause',
      'cut: Half of it',
      'models/cut',
      'model_end cancelled',
      'yield pause',
    ]);
    expect(events.find(({ type }) => type === 'decision')).toMatchObject({ by: 'user:ann' });
    const end = events.findLast(
      (event): event is EventOf<'model_end'> => event.type === 'model_end',
    );
    expect(end).toMatchObject({ estimated: true, retryAfterMs: 0 });
    expect(end?.usage.outputTokens).toBeGreaterThan(0);
    const result = await app.resume('s');
    expect(result).toMatchObject({ status: 'completed', output: 'because.', rounds: 1 });
    expect(prompts[1]?.slice(-2)).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Half of it' }] },
      {
        role: 'user',
        content: [{ type: 'text', text: expect.stringContaining('was cut off here') }],
      },
    ]);
  });

  test('goes on with the messages that have come', async () => {
    const { model, prompts, said } = brokenOff('Half of', scriptedModel([{ text: 'Refunds.' }]));
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'coder', model }), { session: 's', input: 'Why?' });
    await said;
    await app.send('s', 'and look at refunds, too');
    await app.interrupt('s', { next: 'continue', reason: 'read this' });
    const result = await run;
    expect(result).toMatchObject({ status: 'completed', output: 'Refunds.' });
    const told = lines(result.session.events);
    expect(told.filter((line) => line !== 'user').slice(-8)).toEqual([
      'run/interrupt',
      'cut: Half of',
      'models/cut',
      'model_end cancelled',
      'model_start',
      'said: Refunds.',
      'model_end completed',
      'invocation_end',
    ]);
    expect(JSON.stringify(prompts[1])).toContain('refunds, too');
  });

  test('by a message is kept, too, and the model is told that the message is new', async () => {
    const { model, prompts, said } = brokenOff('Half of', scriptedModel([{ text: 'Sorry.' }]));
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'coder', model }), { session: 's', input: 'Why?' });
    await said;
    await app.send('s', 'Stop that', { interrupt: true });
    const { session } = await run;
    expect(cutTexts(session.events)).toEqual(['Half of']);
    expect(JSON.stringify(prompts[1])).toContain('because a message had come');
  });

  test('leaves nothing when it had no text yet', async () => {
    const { model, said } = brokenOff('', scriptedModel([{ text: 'done' }]));
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'coder', model }), { session: 's', input: 'Go' });
    await said;
    await app.interrupt('s');
    const { session } = await run;
    expect(lines(session.events).slice(-4)).toEqual([
      'model_start',
      'run/pause',
      'model_end cancelled',
      'yield pause',
    ]);
    expect(await app.resume('s')).toMatchObject({ output: 'done' });
  });

  test('passes the guardrails and hooks of answers before it is kept', async () => {
    const secret = {
      name: 'secret',
      output: ({ text }: { text: string }) =>
        text.includes('secret') ? ({ action: 'deny', message: 'No.' } as const) : undefined,
    };
    const { model, said } = brokenOff('the secret is', scriptedModel([{ text: 'done' }]));
    const keeper = agent({ name: 'keeper', model, supervision: { guardrails: [secret] } });
    const app = runtime({ app: 'control' });
    const run = app.run(keeper, { session: 's', input: 'Go' });
    await said;
    await app.interrupt('s');
    const { session } = await run;
    expect(cutTexts(session.events)).toEqual([]);
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'done' });
  });

  test('in branches is cut in all of them, and by another process', async () => {
    const store = keptOpen(memoryStore());
    const one = brokenOff('One', scriptedModel([{ text: 'one' }]));
    const two = brokenOff('Two', scriptedModel([{ text: 'two' }]));
    const both = parallel({
      name: 'both',
      runnables: [
        agent({ name: 'first', model: one.model, output: 'first' }),
        agent({ name: 'second', model: two.model, output: 'second' }),
      ],
    });
    const app = runtime({ app: 'control', store, runnables: [both] });
    const other = runtime({ app: 'control', store, recover: 'manual' });
    const run = app.run(both, { session: 's', input: 'Go' });
    await Promise.all([one.said, two.said]);
    await other.interrupt('s', { next: 'continue' });
    const { session, status } = await run;
    expect(status).toBe('completed');
    expect(cutTexts(session.events).toSorted()).toEqual(['One', 'Two']);
  });
});

describe('an interruption', () => {
  test('lets tools that are under way come to their end, and is then a pause', async () => {
    const begun = gate();
    const goOn = gate();
    const slow = tool({
      name: 'slow',
      description: 'Takes its time',
      schema: z.object({}),
      execute: async () => {
        begun.resolve();
        await goOn.promise;
        return 'worked';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'slow', args: {} }] }, { text: 'done' }]);
    const app = runtime({ app: 'control' });
    const run = app.run(agent({ name: 'worker', model, tools: [slow] }), {
      session: 's',
      input: 'Go',
    });
    await begun.promise;
    await app.interrupt('s');
    const session = await app.sessions.open({ id: 's' });
    await eventually(() => lines(session.events).includes('run/pause'), { what: 'the pause' });
    goOn.resolve();
    expect(await run).toMatchObject({ status: 'yielded' });
    expect(lines(session.events).slice(-2)).toEqual(['tool_result', 'yield pause']);
  });

  test('that comes while a prompt is made keeps the call from being made', async () => {
    const asked = gate();
    const goOn = gate();
    const model = scriptedModel([{ text: 'done' }]);
    const careful = agent({
      name: 'careful',
      model,
      hooks: {
        beforeModel: async () => {
          asked.resolve();
          await goOn.promise;
        },
      },
    });
    const app = runtime({ app: 'control' });
    const run = app.run(careful, { session: 's', input: 'Go' });
    await asked.promise;
    await app.interrupt('s');
    const session = await app.sessions.open({ id: 's' });
    await eventually(() => lines(session.events).includes('run/pause'), { what: 'the pause' });
    goOn.resolve();
    expect(await run).toMatchObject({ status: 'yielded' });
    expect(lines(session.events)).not.toContain('model_start');
    expect(await app.resume('s')).toMatchObject({ output: 'done' });
  });

  test('that comes too late is refused in the ledger', async () => {
    const app = runtime({ app: 'control', store: keptOpen(memoryStore()), recover: 'manual' });
    const teller = agent({ name: 'teller', model: scriptedModel([{ text: 'a' }, { text: 'b' }]) });
    await app.run(teller, { session: 's', input: 'Go' });
    await app.interrupt('s', { next: 'continue' });
    const { session } = await app.run(teller, { session: 's', input: 'Again' });
    expect(session.events.find(({ type }) => type === 'decision')).toMatchObject({
      component: 'inbox',
      decision: 'refuse',
      data: { type: 'interrupt' },
    });
  });

  test('with options of other kinds, or for no session, is refused', async () => {
    const app = runtime({ app: 'control' });
    const wrong = { next: 'stop' } as unknown as { next: 'pause' };
    await expect(app.interrupt('s', wrong)).rejects.toMatchObject({ code: 'invalid_run' });
    await expect(app.interrupt('s', { by: 'model' as 'user' })).rejects.toMatchObject({
      code: 'invalid_run',
    });
    await expect(app.interrupt('nobody')).rejects.toMatchObject({ code: 'session_not_found' });
  });
});
