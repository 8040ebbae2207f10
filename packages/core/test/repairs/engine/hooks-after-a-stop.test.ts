import {
  type Agent,
  type AgentOptions,
  agent,
  type Event,
  memoryStore,
  runtime,
  tool,
} from 'adjutant';
import { appendBoundaries, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fastClock } from './fast-clock.ts';

const add = (n: unknown): number => Number(n ?? 0) + 1;

/** An agent whose hooks before the work, before each round and after the end count in the state. */
function counting(
  answers: readonly ScriptedResponse[],
  options: Partial<AgentOptions> = {},
): Agent {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    recovery: 'rerun',
    execute: () => 'seen',
  });
  return agent({
    name: 'counter',
    model: scriptedModel(answers),
    tools: [look],
    hooks: {
      beforeAgent: ({ state }) => {
        state['plan'] = 'made';
        state.update('agents', add);
      },
      beforeModel: ({ state }) => void state.update('rounds', add),
      afterAgent: ({ state }) => void state.update('ends', add),
    },
    ...options,
  });
}

function appOf(counter: Agent) {
  return runtime({
    app: 'hooks',
    store: memoryStore(),
    recover: 'manual',
    runnables: [counter],
    ports: { clock: fastClock() },
  });
}

async function recorded(counter: Agent): Promise<readonly Event[]> {
  const app = appOf(counter);
  const { session, status } = await app.run(counter, { runId: 'run', session: 's', input: 'Go' });
  expect(status).toBe('completed');
  const { events } = session;
  await app.close();
  return events;
}

async function stateAfterStopAt(
  events: readonly Event[],
  counter: Agent,
): Promise<Record<string, unknown>> {
  const app = appOf(counter);
  const session = await app.sessions.restore({ app: 'hooks', id: 's', events: [...events] });
  const { status } = await app.run(counter, { session, runId: 'run', input: 'Go' });
  expect(status).toBe('completed');
  const state = { ...session.state };
  await app.close();
  return state;
}

const look = { toolCalls: [{ name: 'look', args: {} }] };
const done = { text: 'done' };
const overloaded = { error: Object.assign(new Error('overloaded'), { isRetryable: true }) };

test.each([
  { name: 'one answer', answers: [done], rounds: 1 },
  { name: 'two rounds', answers: [look, done], rounds: 2 },
  { name: 'a model call that fails first', answers: [overloaded, look, done], rounds: 3 },
])(
  'B18: what hooks write is there once, wherever a run with $name stopped',
  async ({ answers, rounds }) => {
    const events = await recorded(counting(answers));

    for (const stop of appendBoundaries(events)) {
      const before = events.slice(0, stop);
      const answered = before.filter(
        (event) => event.type === 'model_end' && event.status === 'completed',
      ).length;
      const left = answers.filter((answer) => answer !== overloaded).slice(answered);
      const state = await stateAfterStopAt(before, counting(left));
      expect(
        state,
        `stopped after ${stop} of ${events.length} events: ${before.at(-1)?.type}`,
      ).toMatchObject({ plan: 'made', agents: 1, ends: 1 });
      expect(state['rounds']).toBeLessThanOrEqual(rounds);
    }
  },
);

test(
  'B18: a hook that answers after a stop in the first model call closes the call that was ' +
    'open',
  async () => {
    const events = await recorded(counting([done]));
    const open = events.slice(0, events.findIndex(({ type }) => type === 'model_start') + 1);

    const answering = counting([], { hooks: { beforeAgent: () => 'Answered by the hook.' } });
    const app = appOf(answering);
    const session = await app.sessions.restore({ app: 'hooks', id: 's', events: [...open] });
    const { output } = await app.run(answering, { session, runId: 'run', input: 'Go' });
    await app.close();

    expect(output).toBe('Answered by the hook.');
    const count = (type: Event['type']) =>
      session.events.filter((event) => event.type === type).length;
    expect(count('model_end')).toBe(count('model_start'));
  },
);
