import {
  type AgentOptions,
  agent,
  type Event,
  type EventOf,
  type Goal,
  type RunResult,
  runtime,
  tool,
} from 'adjutant';
import {
  appendBoundaries,
  continueFrom,
  type MakeScenario,
  runWhole,
  type ScriptedModel,
  type ScriptedResponse,
  scriptedModel,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const decisionsOf = (events: readonly Event[]) =>
  events.filter(
    (event): event is EventOf<'decision'> =>
      event.type === 'decision' && event.component === 'goal',
  );

async function pursue(
  goal: Goal<never>,
  responses: readonly ScriptedResponse[],
  more: Partial<AgentOptions> = {},
): Promise<{ result: RunResult; model: ScriptedModel }> {
  const model = scriptedModel(responses);
  const result = await runtime({ app: 'shop' }).run(
    agent({ name: 'writer', model, goal, ...more } as AgentOptions),
    'Write a title',
  );
  return { result, model };
}

/** The last message that a model was given. */
const lastOf = (model: ScriptedModel, call: number): string =>
  JSON.stringify(model.calls[call]?.prompt.at(-1));

const short = (output: string) =>
  output.length <= 5 || `it has ${output.length} characters, and 5 are allowed`;

test('an answer that is not good enough gives another round with the reason', async () => {
  const { result, model } = await pursue({ check: short }, [
    { text: 'A long title' },
    { text: 'Title' },
  ]);
  expect(result).toMatchObject({ status: 'completed', output: 'Title', stopReason: undefined });
  expect(lastOf(model, 1)).toContain('it has 12 characters, and 5 are allowed');
  expect(decisionsOf(result.session.events)).toMatchObject([
    {
      decision: 'again',
      reasoning: expect.stringContaining('5 are allowed. It gets another round, 1 of 3.'),
      alternatives: [expect.stringContaining('goal_unmet')],
    },
  ]);
});

test.each(['at once', 'later'])(
  'a check may say nothing when it has nothing to object: %s',
  async (when) => {
    const objection = (output: string) => (output.length > 5 ? 'it is too long' : undefined);
    const check = when === 'at once' ? objection : async (output: string) => objection(output);
    const writer = agent({
      name: 'writer',
      model: scriptedModel([{ text: 'A long title' }, { text: 'Title' }]),
      goal: { check },
    });
    const { output, stopReason } = await runtime({ app: 'shop' }).run(writer, 'Write a title');
    expect({ output, stopReason }).toEqual({ output: 'Title', stopReason: undefined });
  },
);

test('the last answer stands when the rounds for it are used up', async () => {
  const { result, model } = await pursue({ check: short, attempts: 2 }, [
    { text: 'First try' },
    { text: 'Second try' },
    { text: 'Third try' },
  ]);
  expect(result).toMatchObject({
    status: 'completed',
    output: 'Third try',
    stopReason: 'goal_unmet',
  });
  expect(decisionsOf(result.session.events).map(({ decision }) => decision)).toEqual([
    'again',
    'again',
    'unmet',
  ]);
  expect(model.calls).toHaveLength(3);
});

test('without a number it gets three more rounds', async () => {
  const { model } = await pursue(
    { check: () => false },
    Array.from({ length: 6 }, () => ({ text: 'Title' })),
  );
  expect(model.calls).toHaveLength(4);
});

test('rounds for the goal count against the limits; what is there then stands', async () => {
  const { result, model } = await pursue(
    { check: short },
    [{ text: 'First try' }, { text: 'Second try' }, { text: 'Third try' }],
    {
      limits: { rounds: 2 },
    },
  );
  expect(result).toMatchObject({
    status: 'completed',
    stopReason: 'round_limit',
    output: 'Second try',
  });
  expect(model.calls).toHaveLength(2);
});

describe('a check', () => {
  test.each([
    ['true', true, undefined],
    ['false', false, 'it does not reach the goal'],
    ['a reason', 'it is dull', 'it is dull'],
    ['an object that says yes', { ok: true }, undefined],
    ['an object with a reason', { ok: false, reason: 'it is dull' }, 'it is dull'],
    ['an object without one', { ok: false }, 'it does not reach the goal'],
    ['a promise', Promise.resolve('it is dull'), 'it is dull'],
    ['nothing at all', undefined, undefined],
  ] as [string, never, string | undefined][])('may give %s', async (_name, verdict, reason) => {
    let calls = 0;
    const { result } = await pursue({ check: () => (calls++ === 0 ? verdict : true) }, [
      { text: 'One' },
      { text: 'Two' },
    ]);
    expect(result.output).toBe(reason === undefined ? 'One' : 'Two');
    if (reason !== undefined) expect(decisionsOf(result.session.events)[0]?.tell).toContain(reason);
  });

  test('that throws counts as not content, with its message', async () => {
    let calls = 0;
    const check = () => {
      if (calls++ === 0) throw new Error('the list of titles is empty');
      return true;
    };
    const { result, model } = await pursue({ check }, [{ text: 'One' }, { text: 'Two' }]);
    expect(result.output).toBe('Two');
    expect(lastOf(model, 1)).toContain('the list of titles is empty');
  });

  test('sees the answer as its schema makes it, the state and the number of its try', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([{ text: 'x' }, { text: '7' }, { text: '8' }]);
    const counter = agent({
      name: 'counter',
      model,
      output: z.number(),
      goal: {
        check: (value, { agent: name, attempt, state, session }) => {
          seen.push([value, name, attempt, state['session']?.['least'], session.events.length > 0]);
          return value > 7;
        },
      },
    });
    const app = runtime({ app: 'shop' });
    const session = await app.sessions.open({ id: 's' });
    session.state['least'] = 8;
    const result = await app.run(counter, { input: 'Count', session });
    expect(result.output).toBe(8);
    // Values that do not fit the schema are not shown to it.
    expect(seen).toEqual([
      [7, 'counter', 1, 8, true],
      [8, 'counter', 2, 8, true],
    ]);
  });

  test('is not asked about answers that call tools', async () => {
    let checks = 0;
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema: z.object({}),
      readOnly: true,
      execute: () => 'here',
    });
    await pursue(
      { check: () => ++checks > 0 },
      [{ text: 'I look', toolCalls: [{ name: 'look' }] }, { text: 'Title' }],
      { tools: [look] },
    );
    expect(checks).toBe(1);
  });

  test('that hangs does not keep a run from being cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    const check = () => {
      asked.resolve();
      return new Promise<boolean>(() => undefined);
    };
    const run = runtime({ app: 'shop' }).run(
      agent({ name: 'writer', model: scriptedModel([{ text: 'Title' }]), goal: { check } }),
      'Write',
    );
    await asked.promise;
    run.cancel();
    expect((await run).status).toBe('cancelled');
  });
});

test('the model is told the goal first, in the same words in every prompt', async () => {
  const goal = {
    description: 'A title for the shop',
    expectedOutput: 'At most five letters',
    check: short,
  };
  const { model } = await pursue(goal, [{ text: 'Too long' }, { text: 'Shop' }]);
  const told = {
    role: 'system',
    content:
      'Your goal: A title for the shop\nWhat is expected of your answer: At most five letters',
  };
  for (const { prompt } of model.calls)
    expect(prompt.filter(({ role }) => role === 'system')).toEqual([told]);
  const [first, second] = model.calls;
  expect(second?.prompt.slice(0, first?.prompt.length)).toEqual(first?.prompt);
});

test.each([
  ['a check that is none', { check: 'yes' }],
  ['attempts that are no number', { attempts: 0 }],
  ['an unknown member', { chek: () => true }],
  ['an empty description', { description: '' }],
])('%s is refused', (_name, goal) => {
  expect(() => agent({ name: 'a', model: scriptedModel([]), goal: goal as never })).toThrow(
    expect.objectContaining({ code: 'invalid_definition' }),
  );
});

/** Answers by how many answers its prompt shows, so that it goes on the same way after a stop. */
const trying: MakeScenario = () => {
  const model = scriptedModel((prompt) => ({
    text:
      ['First try', 'Second try', 'Title'][
        prompt.filter(({ role }) => role === 'assistant').length
      ] ?? '',
  }));
  return { runnable: agent({ name: 'writer', model, goal: { check: short } }) };
};

test(
  'a process that stops between an answer and the next round is continued as if ' + 'it had not',
  async () => {
    const whole = await runWhole(trying);
    expect(whole.outcome.result).toMatchObject({ status: 'completed', output: 'Title' });
    for (const cut of appendBoundaries(whole.events)) {
      const { outcome, events } = await continueFrom(trying, whole.events.slice(0, cut));
      expect({ cut, ...outcome.result }).toEqual({ cut, ...whole.outcome.result });
      expect({ cut, again: decisionsOf(events).length }).toEqual({ cut, again: 2 });
    }
  },
);
