import { agent, type Event, type EventOf, memoryStore, runtime, ToolFailure, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import {
  eventually,
  type ScriptedModel,
  type ScriptedResponse,
  scriptedModel,
  testClock,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const lateOf = (events: readonly Event[]) =>
  events.filter(
    (event): event is EventOf<'tool_result'> => event.type === 'tool_result' && event.late === true,
  );

/** An agent whose first call outlives its time, on a clock that stands still. */
async function givenUp(
  responses: readonly ScriptedResponse[],
  wrap = (model: ScriptedModel) => model,
) {
  const clock = testClock();
  const app = runtime({ app: 'late', store: memoryStore(), ports: { clock } });
  const session = await app.sessions.open({ id: 's' });
  const ends: PromiseWithResolvers<unknown>[] = [];
  const transfer = tool({
    name: 'transfer',
    description: 'Transfers money',
    schema: z.object({ cents: z.int() }),
    timeoutMs: 5_000,
    execute: () => {
      const end = Promise.withResolvers<unknown>();
      ends.push(end);
      return end.promise;
    },
  });
  const slow = tool({
    name: 'slow',
    description: 'Takes its time',
    schema: z.object({}),
    timeoutMs: 600_000,
    execute: () => {
      const end = Promise.withResolvers<unknown>();
      ends.push(end);
      return end.promise;
    },
  });
  const model = scriptedModel(responses);
  const clerk = agent({ name: 'clerk', model: wrap(model), tools: [transfer, slow] });
  const running = app.run(clerk, { input: 'Go', session, runId: 'run' });
  await eventually(() => ends.length === 1);
  clock.advance(5_000);
  clock.advance(1_000);
  return { app, clock, session, ends, model, clerk, running };
}

const transferCall = { toolCalls: [{ name: 'transfer', args: { cents: 5 } }] };
const slowCall = { toolCalls: [{ name: 'slow', args: {} }] };

/** In which prompts a text stands, and how often in each. */
function countsOf(
  model: { readonly calls: readonly { readonly prompt: unknown }[] },
  text: string,
): number[] {
  return model.calls.map(({ prompt }) => JSON.stringify(prompt).split(text).length - 1);
}

test(
  'a late result is told in the next prompt, once, behind the results of ' + 'the round',
  async () => {
    const { session, ends, model, running, app } = await givenUp([
      transferCall,
      slowCall,
      { text: 'done' },
    ]);
    await eventually(() => ends.length === 2);
    ends[0]?.resolve('transferred 5 cents');
    await eventually(() => lateOf(session.events).length === 1);
    expect(lateOf(session.events)).toMatchObject([
      { callId: 'run/r1.0', settled: false, result: { content: 'transferred 5 cents' } },
    ]);
    ends[1]?.resolve('slowly done');
    expect(await running).toMatchObject({ output: 'done' });
    expect(countsOf(model, 'transferred 5 cents')).toEqual([0, 0, 1]);
    const prompt = model.calls[2]?.prompt ?? [];
    expect(prompt.at(-2)).toMatchObject({ role: 'tool' });
    expect(prompt.at(-1)).toEqual({
      role: 'user',
      content: [
        {
          type: 'text',
          text:
            'The call of the tool transfer with {"cents":5}, which was given up before, has ' +
            'ended since: it returned: transferred 5 cents',
        },
      ],
    });
    const start = session.events.findLast(
      (event) => event.type === 'model_start',
    ) as EventOf<'model_start'>;
    expect(start.recipe.encoder).toBe(3);
    expect(JSON.stringify(promptOf(session, start.seq).prompt)).toBe(JSON.stringify(prompt));
    expect(session.ledger.effects.unresolved.size).toBe(0);
    await app.close();
  },
);

test(
  'an agent that would end takes one more round for a late result that came while its model ' +
    'answered',
  async () => {
    const held = Promise.withResolvers<void>();
    let asked = 0;
    const holding = (model: ScriptedModel): ScriptedModel =>
      new Proxy(model, {
        get: (target, key) => {
          const value = Reflect.get(target, key, target) as unknown;
          if (typeof value !== 'function') return value;
          if (key !== 'doGenerate' && key !== 'doStream') return value.bind(target);
          return async (options: unknown) => {
            if (++asked === 2) await held.promise;
            return value.call(target, options);
          };
        },
      });
    const responses = [transferCall, { text: 'not known' }, { text: 'It worked after all' }];
    const { session, ends, model, running, app } = await givenUp(responses, holding);
    await eventually(() => asked === 2);
    ends[0]?.resolve('transferred 5 cents');
    await eventually(() => lateOf(session.events).length === 1);
    held.resolve();
    expect(await running).toMatchObject({ output: 'It worked after all' });
    expect(countsOf(model, 'transferred 5 cents')).toEqual([0, 0, 1]);
    expect(model.calls[2]?.prompt.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'user']);
    await app.close();
  },
);

test('a late failure without an effect is told too, one that says nothing new is not', async () => {
  for (const [thrown, counts] of [
    [new ToolFailure('no money'), [0, 0, 1]],
    [new ToolFailure('no money', { effect: 'unknown' }), [0, 0, 0]],
  ] as const) {
    const { session, ends, model, running, app } = await givenUp([
      transferCall,
      slowCall,
      { text: 'done' },
    ]);
    await eventually(() => ends.length === 2);
    ends[0]?.reject(thrown);
    await eventually(() => lateOf(session.events).length === 1);
    ends[1]?.resolve('slowly done');
    expect(await running).toMatchObject({ output: 'done' });
    expect(countsOf(model, 'no money')).toEqual(counts);
    await app.close();
  }
});

test('prompts of encoder 1 are rebuilt without late results', async () => {
  const { session, ends, running, app } = await givenUp([transferCall, slowCall, { text: 'done' }]);
  await eventually(() => ends.length === 2);
  ends[0]?.resolve('transferred 5 cents');
  await eventually(() => lateOf(session.events).length === 1);
  ends[1]?.resolve('slowly done');
  await running;
  const events = session.events.map((event) =>
    event.type === 'model_start'
      ? { ...event, recipe: { ...event.recipe, encoder: 1 as const } }
      : event,
  );
  const last = events.findLast(({ type }) => type === 'model_start');
  expect(JSON.stringify(promptOf(events, last?.seq ?? 0))).not.toContain('transferred 5 cents');
  expect(JSON.stringify(promptOf(session.events, last?.seq ?? 0))).toContain('transferred 5 cents');
  await app.close();
});
