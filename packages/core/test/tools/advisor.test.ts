import { agent, requestAlternativeApproach, runtime, step, tool } from 'adjutant';
import {
  appendBoundaries,
  continueFrom,
  type MakeScenario,
  roundModel,
  runWhole,
  scriptedModel,
} from 'adjutant/testing';
import { expect, test } from 'vitest';

const fetchPage = tool({
  name: 'fetch_page',
  description: 'Fetches a page',
  schema: { type: 'object' },
  readOnly: true,
  execute: () => 'a page',
});
const searchArchive = tool({
  name: 'search_archive',
  description: 'Searches old pages',
  schema: { type: 'object' },
  readOnly: true,
  execute: () => 'old',
});

const problem = {
  task: 'read example.com',
  attempts: 'fetch_page three times, each gave 403',
  error_details: 'http_403',
};
const asks = { toolCalls: [{ name: 'request_alternative_approach', args: problem }] };

test(
  'the advisor is told of the problem and of the tools, and its answer is ' + 'the result',
  async () => {
    const advisorModel = scriptedModel([{ text: 'Use search_archive for example.com.' }]);
    const advisor = agent({ name: 'advisor', model: advisorModel });
    const model = scriptedModel([asks, { text: 'done' }]);
    const tools = [fetchPage, searchArchive];
    const worker = agent({
      name: 'worker',
      model,
      tools: [...tools, requestAlternativeApproach({ advisor, tools })],
    });
    const { session, output, usage } = await runtime({ app: 'test', runnables: [worker] }).run(
      worker,
      'Read it.',
    );
    expect(output).toBe('done');

    const asked = JSON.stringify(advisorModel.calls[0]?.prompt);
    for (const part of [
      problem.task,
      problem.attempts,
      problem.error_details,
      '- fetch_page: Fetches a page',
      '- search_archive: Searches old pages',
    ]) {
      expect(asked).toContain(part);
    }
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('Use search_archive for example.com.');
    const started = session.events.find(
      (event) => event.type === 'invocation_start' && event.name === 'advisor',
    );
    expect(started).toMatchObject({
      mode: 'call',
      invocationId: expect.stringContaining('/r1.0/advisor'),
    });
    // The advisor's call counts like any other.
    expect(usage.inputTokens).toBe(30);
  },
);

test('the parameters are those that models are shown', () => {
  const { name, inputSchema } = requestAlternativeApproach({
    advisor: agent({ name: 'advisor', model: scriptedModel([]) }),
  });
  expect(name).toBe('request_alternative_approach');
  expect(Object.keys(inputSchema['properties'] as object)).toEqual([
    'task',
    'attempts',
    'error_details',
  ]);
  expect(inputSchema['required']).toEqual(['task', 'attempts']);
});

test('a call without the attempts reaches nobody', async () => {
  const advisorModel = scriptedModel([]);
  const advisor = agent({ name: 'advisor', model: advisorModel });
  const model = scriptedModel([
    {
      toolCalls: [{ name: 'request_alternative_approach', args: { task: 'x', error_details: 7 } }],
    },
    { text: 'done' },
  ]);
  const worker = agent({ name: 'worker', model, tools: [requestAlternativeApproach({ advisor })] });
  const { session } = await runtime({ app: 'test', runnables: [worker] }).run(worker, 'Go.');
  expect(advisorModel.calls).toHaveLength(0);
  expect(session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { errorType: 'validation_error' },
  });
});

test('any runnable can be the advisor; one that fails is a failed call', async () => {
  const advisor = step({
    name: 'advisor',
    execute: () => {
      throw new Error('no idea');
    },
  });
  const model = scriptedModel([asks, { text: 'done' }]);
  const worker = agent({ name: 'worker', model, tools: [requestAlternativeApproach({ advisor })] });
  const { session, output } = await runtime({ app: 'test', runnables: [worker] }).run(
    worker,
    'Go.',
  );
  expect(output).toBe('done');
  expect(session.events.findLast(({ type }) => type === 'tool_result')).toMatchObject({
    result: {
      status: 'error_permanent',
      content: expect.stringContaining('The advisor advisor ended as error: no idea'),
    },
  });
});

test(
  'after a stop the advisor goes on where it was, and one that has answered is not asked ' +
    'again',
  async () => {
    let asked = 0;
    const make: MakeScenario = () => {
      const advisor = agent({
        name: 'advisor',
        model: scriptedModel(() => ({ text: `Approach ${++asked}.` })),
      });
      return {
        runnable: agent({
          name: 'worker',
          model: roundModel([asks, { text: 'done' }]),
          tools: [requestAlternativeApproach({ advisor })],
        }),
      };
    };
    const whole = await runWhole(make);
    expect(asked).toBe(1);
    const answered = whole.events.findIndex(
      (event) => event.type === 'assistant' && event.agent === 'advisor',
    );
    let continued = 0;
    for (const cut of appendBoundaries(whole.events)) {
      if (cut === whole.events.length) continue;
      asked = 0;
      const { outcome } = await continueFrom(make, whole.events.slice(0, cut));
      expect(outcome.result).toMatchObject({ status: 'completed', output: 'done' });
      expect(asked, `stopped after ${cut} events`).toBe(cut > answered ? 0 : 1);
      continued++;
    }
    expect(continued).toBeGreaterThan(4);
  },
);

test('options that cannot work are refused', () => {
  expect(() => requestAlternativeApproach({} as never)).toThrow(
    'requestAlternativeApproach() cannot be set up: `advisor` is needed',
  );
  const advisor = agent({ name: 'advisor', model: scriptedModel([]) });
  expect(() => requestAlternativeApproach({ advisor, tools: ['x'] as never })).toThrow(
    '`tools` must be a list of tools',
  );
});
