import { type Agent, memoryStore } from 'adjutant';
import {
  type EvalOptions,
  type EvalProgress,
  evaluate,
  rubric,
  toolTrajectory,
} from 'adjutant/eval';
import { describe, expect, test } from 'vitest';
import { inApp } from './evals-app.ts';
import { judge } from './judges.ts';
import { weather, weatherCase } from './weather.ts';

describe('what has changed is run anew', () => {
  interface Change {
    readonly agent?: Agent;
    readonly more?: Partial<EvalOptions>;
    readonly version?: string;
  }
  const first = weather();
  const changes: readonly (readonly [what: string, change: Change, isNew: boolean])[] = [
    ['nothing', {}, false],
    [
      'the instructions',
      { agent: weather({ instructions: 'You tell the weather, in verse.' }).agent },
      true,
    ],
    ['the version of the variant', { version: '2' }, true],
    [
      'what the user says',
      { more: { dataset: [{ ...weatherCase('Pune'), input: 'Oslo' }] } },
      true,
    ],
    [
      'the state at the start',
      { more: { dataset: [weatherCase('Pune', { state: { mode: 'x' } })] } },
      true,
    ],
    [
      'what is expected',
      { more: { dataset: [weatherCase('Pune', { expect: { response: 'Other words' } })] } },
      false,
    ],
    ['the scorers', { more: { scorers: [toolTrajectory({ match: 'any_order' })] } }, false],
    ['how many at a time', { more: { concurrency: 9 } }, false],
    ['the timeout', { more: { timeoutMs: 60_000 } }, true],
    ['the run', { more: { runId: 'other' } }, true],
  ];
  test.each(changes)('%s', async (_, { agent: other = first.agent, more = {}, version }, isNew) => {
    const store = memoryStore();
    const options: EvalOptions = {
      name: 'changes',
      dataset: [weatherCase('Pune')],
      variants: [{ name: 'v', app: inApp(store), runnable: first.agent }],
      runId: 'run',
    };
    const before = await evaluate(options);
    const told: EvalProgress[] = [];
    const variant = {
      name: 'v',
      app: inApp(store),
      runnable: other,
      ...(version === undefined ? {} : { version }),
    };
    const after = await evaluate({
      ...options,
      ...more,
      variants: [variant],
      onProgress: (progress) => told.push(progress),
    });
    expect(told.at(-1)).toMatchObject({ type: 'trial_end', recorded: !isNew });
    const sessions = [before, after].map(
      ({ variants }) => variants[0]?.cases[0]?.trials[0]?.session,
    );
    expect(sessions[0] !== sessions[1]).toBe(isNew);
  });

  test('another expectation gives another score for the same run', async () => {
    const app = inApp(memoryStore());
    const options: EvalOptions = {
      name: 'scores',
      dataset: [weatherCase('Pune')],
      variants: [{ name: 'v', app, runnable: first.agent }],
      runId: 'run',
    };
    expect((await evaluate(options)).passed).toBe(true);
    const calls = first.model.calls.length;
    expect(
      (await evaluate({ ...options, dataset: [weatherCase('Pune', { expect: { tools: [] } })] }))
        .passed,
    ).toBe(false);
    expect(first.model.calls).toHaveLength(calls);
  });

  test('a judge is asked again when it is asked something else', async () => {
    const app = inApp(memoryStore());
    const judging = judge();
    const options: EvalOptions = {
      name: 'judged',
      dataset: [weatherCase('Pune')],
      variants: [{ name: 'v', app, runnable: first.agent }],
      runId: 'run',
    };
    const judged = (text: string): EvalOptions => ({
      ...options,
      scorers: [rubric({ criteria: { a: text }, model: judging })],
    });
    for (const text of ['One.', 'One.', 'Two.', 'Two.', 'One.']) await evaluate(judged(text));
    expect(judging.calls).toHaveLength(2);
  });
});
