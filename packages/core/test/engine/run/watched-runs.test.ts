import {
  agent,
  isDurable,
  memoryStore,
  run,
  runtime,
  type StreamEvent,
  sequence,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { done, types } from './done-step.ts';

describe('watching', () => {
  test(
    'a run is awaited and iterated, and each durable event is handed out once, in order, ' +
      'when it is durable',
    async () => {
      const app = runtime({ app: 'run' });
      const session = await app.sessions.open();
      const model = scriptedModel([{ chunks: ['Hel', 'lo'] }]);
      const running = app.run(agent({ name: 'a', model }), { input: 'Go', session });
      const streamed: StreamEvent[] = [];
      for await (const event of running) {
        if (isDurable(event)) expect(session.ledger.durableSeq).toBeGreaterThanOrEqual(event.seq);
        streamed.push(event);
      }
      const result = await running;
      expect(result.output).toBe('Hello');
      expect(streamed.filter(isDurable)).toEqual(session.events);
      expect(
        streamed.flatMap((event) => (event.type === 'assistant_delta' ? [event.delta] : [])),
      ).toEqual(['Hel', 'lo']);
      for await (const event of running) throw new Error(`An ended run gave ${event.type}.`);
    },
  );

  test('leaving the iteration does not stop the run', async () => {
    const running = run(sequence({ name: 'all', runnables: [done('a'), done('b')] }));
    for await (const _event of running) break;
    expect(await running).toMatchObject({ status: 'completed', output: 'b is done' });
  });

  test('a run has catch and finally, as promises do', async () => {
    const ended: string[] = [];
    const greeter = agent({ name: 'greeter', model: scriptedModel([{ text: 'Hello' }]) });
    const { output } = await run(greeter, 'Hi').finally(() => void ended.push('finally'));
    expect(output).toBe('Hello');
    const app = runtime({ app: 'run' });
    const session = await app.sessions.create({ id: 'gone' });
    await app.sessions.delete('gone');
    const refused = await app
      .run(greeter, { input: 'Hi', session })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'session_deleted' });
    expect(ended).toEqual(['finally']);
  });

  test(
    'onStream gets what the iteration gets; onStep gets each round and each other ' +
      'invocation, durable, and is waited for',
    async () => {
      const streamed: StreamEvent[] = [];
      const steps: string[] = [];
      const add = tool({
        name: 'add',
        description: 'Adds',
        schema: z.object({}),
        execute: () => 1,
      });
      const model = scriptedModel([{ toolCalls: [{ name: 'add' }] }, { text: 'one' }]);
      const result = await run(
        sequence({
          name: 'all',
          runnables: [agent({ name: 'a', model, tools: [add] }), done('s')],
        }),
        {
          input: 'Go',
          onStream: (event) => streamed.push(event),
          onStep: async (events, session, runnable) => {
            expect(session.ledger.durableSeq).toBeGreaterThanOrEqual(events.at(-1)?.seq ?? 0);
            await Promise.resolve();
            steps.push(`${runnable.name}: ${types(events).join(' ')}`);
          },
        },
      );
      expect(streamed.filter(isDurable)).toEqual(result.session.events);
      expect(steps.map((text) => text.split(':')[0])).toEqual(['a', 'a', 's', 'all']);
      expect(steps[0]).toContain('tool_result');
      expect(steps[1]).toContain('assistant');
    },
  );

  test.each(['onStream', 'onStep'] as const)(
    'an %s that throws ends the run with that error, and the session can be continued',
    async (hook) => {
      const app = runtime({ app: 'run', store: memoryStore() });
      const working = sequence({ name: 'all', runnables: [done('a'), done('b')] });
      const outcome = await app
        .run(working, {
          session: 's',
          [hook]: () => {
            throw new Error('my own mistake');
          },
        })
        .then(
          (result) => result.error?.message,
          (error: unknown) => (error as Error).message,
        );
      expect(outcome).toBe('my own mistake');
      expect(await app.run(working, { session: 's' })).toMatchObject({ status: 'completed' });
    },
  );
});
