import { agent, type Event, isDurable, tool } from 'adjutant';
import { promptAt } from 'adjutant/context';
import { eventually, scriptedModel } from 'adjutant/testing';
import { runTree, transcript } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { all } from './clerk-app.ts';
import { impatient, serving } from './serving.ts';

/** An agent that counts in its state, and tells a text of more than 64 KB. */
function counter() {
  const count = tool({
    name: 'count',
    description: 'Counts',
    schema: z.object({}),
    execute: (ctx) => {
      ctx.state['n'] = Number(ctx.state['n'] ?? 0) + 1;
      return 'counted '.repeat(10_000);
    },
  });
  const counts = { toolCalls: [{ name: 'count', args: {} }] };
  const model = scriptedModel([counts, counts, { chunks: ['All ', 'counted.'] }]);
  return agent({ name: 'counter', model, tools: [count] });
}

test('prompts, run tree, transcript and each state of a session are the same as locally', async () => {
  const { app, url } = await serving({ runnables: [counter()] });
  const { runs, sessions } = impatient(url);
  const { session, id } = await runs.start({ agent: 'counter', input: 'Count' }).accepted();
  await runs.wait(session, id, { until: 'end' });
  const local = await app.sessions.get(session);
  const events = (await all(sessions.events(session, { values: 'full' }))) as readonly Event[];
  expect(runTree(events)).toEqual(runTree(local.events));
  expect(transcript(events)).toEqual(transcript(local.events, local.resolve));
  const starts = events.filter(({ type }) => type === 'model_start');
  expect(starts).toHaveLength(3);
  for (const [place] of starts.entries())
    expect(promptAt(events, place + 1)).toEqual(promptAt(local, place + 1));
  for (const { seq } of events) {
    const there = await sessions.state(session, { at: seq });
    const here = await app.sessions.stateAt(session, seq);
    expect([there.seq, there.sessionState]).toEqual([seq, here.sessionState]);
  }
});

test('a session is followed from a place on, with the parts of the answer under way', async () => {
  const goOn = Promise.withResolvers<void>();
  const scripted = scriptedModel([{ chunks: ['Half ', 'of it.'] }]);
  const doStream: typeof scripted.doStream = async (options) => {
    const { stream, ...rest } = await scripted.doStream(options);
    const held = new TransformStream({
      transform: async (part, controller) => {
        if (part.type === 'text-delta' && part.delta === 'of it.') await goOn.promise;
        controller.enqueue(part);
      },
    });
    return { ...rest, stream: stream.pipeThrough(held) };
  };
  const speaker = agent({ name: 'speaker', model: { ...scripted, doStream } });
  const { app, url } = await serving({ runnables: [speaker] });
  const { runs, sessions } = impatient(url);
  const { session } = await runs.start({ agent: 'speaker', input: 'Go' }).accepted();
  const { ledger } = await app.sessions.open({ id: session });
  const isAsked = () => ledger.events.some(({ type }) => type === 'model_start');
  await eventually(isAsked, { what: 'the call of the model' });
  const told = async (stream: AsyncIterable<{ readonly type: string }>): Promise<string[]> => {
    const lines: string[] = [];
    for await (const event of stream) {
      const delta = 'delta' in event ? `: ${String(event.delta)}` : '';
      lines.push(`${event.type}${delta}`);
      if (delta === ': Half ') goOn.resolve();
      if (event.type === 'invocation_end') break;
    }
    return lines;
  };
  const there = told(sessions.follow(session, { after: 1 }));
  const lines = await there;
  expect(lines).toContain('assistant_delta: Half ');
  expect(lines).toContain('assistant_delta: of it.');
  const durable = lines.filter((line) => !/delta|reset/.test(line));
  expect(durable).toEqual(
    ledger.events
      .filter(isDurable)
      .slice(1)
      .map(({ type }) => type),
  );
});
