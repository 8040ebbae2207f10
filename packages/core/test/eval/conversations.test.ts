import { agent, loop, type Runtime, runtime, tool } from 'adjutant';
import {
  type EvalCaseInput,
  type EvalOptions,
  type EvalReport,
  evaluate,
  scorer,
  type TrialRecord,
  type TrialReport,
  toolTrajectory,
} from 'adjutant/eval';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { talker } from './judges.ts';
import { saidLast, weather } from './weather.ts';

const app = (): Runtime => runtime({ app: 'evals' });

async function report(
  dataset: readonly EvalCaseInput[],
  more: Partial<EvalOptions> = {},
): Promise<{ report: EvalReport; trial: TrialReport }> {
  const found = await evaluate({
    name: 'talks',
    dataset,
    variants: [{ name: 'v', app: app(), runnable: weather().agent }],
    ...more,
  });
  return { report: found, trial: found.variants[0]?.cases[0]?.trials[0] as TrialReport };
}

describe('turns', () => {
  test('follow each other in one session, each with its own expectations', async () => {
    const seen: TrialRecord[] = [];
    const look = scorer({
      name: 'look',
      score: (trial) => {
        seen.push(trial);
        return true;
      },
    });
    const { trial } = await report(
      [
        {
          id: 'two',
          turns: [
            { user: 'Pune', expect: { tools: [{ name: 'weather', args: { city: 'Pune' } }] } },
            { user: 'Oslo', expect: { tools: [{ name: 'weather', args: { city: 'Bonn' } }] } },
          ],
          expect: { tools: ['weather', 'weather'].map((name) => ({ name })) },
        },
      ],
      { scorers: [toolTrajectory(), look] },
    );
    expect(trial.turns.map(({ user, assistant }) => [user, assistant])).toEqual([
      ['Pune', 'It is 28 degrees in Pune.'],
      ['Oslo', 'It is 28 degrees in Oslo.'],
    ]);
    expect(trial.scores[0]).toMatchObject({
      score: 2 / 3,
      explanation: expect.stringMatching(/^In turn 2: .*"Oslo" instead of "Bonn"/),
    });
    expect(seen[0]).toMatchObject({
      answer: 'It is 28 degrees in Oslo.',
      output: 'It is 28 degrees in Oslo.',
      steps: 4,
    });
    expect(seen[0]?.turns.map(({ output }) => output)).toEqual([
      'It is 28 degrees in Pune.',
      'It is 28 degrees in Oslo.',
    ]);
  });

  test('end with one that fails', async () => {
    const failing = weather({
      answers: (city) => (city === 'Oslo' ? { error: new Error('Down.') } : undefined),
    });
    const { trial } = await report([{ id: 'three', turns: ['Pune', 'Oslo', 'Bonn'] }], {
      variants: [{ name: 'v', app: app(), runnable: failing.agent }],
    });
    expect(trial).toMatchObject({ status: 'error', passed: false });
    expect(trial.turns.map(({ user }) => user)).toEqual(['Pune', 'Oslo']);
  });

  test('are what a loop waits for', async () => {
    const chat = loop({ name: 'chat', runnable: weather().agent, yields: true, maxIterations: 9 });
    const { trial } = await report([{ id: 'loop', turns: ['Pune', 'Oslo'] }], {
      variants: [{ name: 'v', app: app(), runnable: chat }],
    });
    expect(trial).toMatchObject({ status: 'completed', passed: true });
    expect(trial.turns.map(({ assistant }) => assistant)).toEqual([
      'It is 28 degrees in Pune.',
      'It is 28 degrees in Oslo.',
    ]);
  });

  test('have the first message with the data', async () => {
    const told = agent({
      name: 'told',
      input: { type: 'object', properties: { unit: { type: 'string' } }, required: ['unit'] },
      model: scriptedModel((prompt) => ({
        text: JSON.stringify(prompt).includes('kelvin') ? 'In kelvin.' : 'In no unit.',
      })),
    });
    const dataset = [
      {
        id: 'data',
        input: 'Weather?',
        data: { unit: 'kelvin' },
        expect: { response: { equals: 'In kelvin.' } },
      },
    ];
    expect(
      (await report(dataset, { variants: [{ name: 'v', app: app(), runnable: told }] })).trial,
    ).toMatchObject({ passed: true });
  });
});

describe('questions of tools', () => {
  const refunds: unknown[] = [];
  const refund = tool({
    name: 'refund',
    description: 'Pays money back',
    schema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    approval: { allowEdit: true },
    execute: ({ args }) => {
      refunds.push(args);
      return 'paid';
    },
  });
  const ask = tool({
    name: 'ask',
    description: 'Asks the user',
    schema: { type: 'object' },
    yieldSchema: {
      type: 'object',
      properties: { reason: { type: 'string' } },
      required: ['reason'],
    },
    execute: ({ input }) => input as { reason: string },
  });
  const clerk = () =>
    agent({
      name: 'clerk',
      tools: [refund, ask],
      model: scriptedModel((prompt) => {
        const answered = prompt.find(({ role }) => role === 'tool');
        if (answered !== undefined) return { text: `Done: ${JSON.stringify(answered.content)}` };
        return {
          toolCalls: [
            { name: saidLast(prompt), args: saidLast(prompt) === 'refund' ? { amount: 100 } : {} },
          ],
        };
      }),
    });
  const withClerk = (more: Partial<EvalCaseInput>) => {
    refunds.length = 0;
    return report([{ id: 'refund', input: 'refund', ...more }], {
      variants: [{ name: 'v', app: app(), runnable: clerk() }],
    });
  };

  test('are answered as the case says', async () => {
    expect((await withClerk({ approvals: 'approve' })).trial.status).toBe('completed');
    expect(refunds).toEqual([{ amount: 100 }]);
    const { trial } = await withClerk({
      approvals: [{ tool: 'refund', decision: 'edit', input: { amount: 5 } }],
      expect: { tools: [{ name: 'refund', args: { amount: 5 } }] },
    });
    expect(trial).toMatchObject({ status: 'completed', passed: true });
    expect(refunds).toEqual([{ amount: 5 }]);
    const rejected = await withClerk({
      approvals: [
        { tool: 'other', decision: 'approve' },
        { decision: 'reject', reason: 'Too dear' },
      ],
    });
    expect(rejected.trial.turns[0]?.assistant).toContain('Too dear');
    expect(refunds).toEqual([]);
    const input = await withClerk({
      input: 'ask',
      approvals: [{ decision: 'approve' }, { decision: 'answer', input: { reason: 'Broken' } }],
    });
    expect(input.trial.turns[0]?.assistant).toContain('Broken');
  });

  test('that nobody answers leave the trial waiting, which is no success', async () => {
    const { trial } = await withClerk({});
    expect(trial).toMatchObject({
      status: 'waiting',
      passed: false,
      error: {
        code: 'trial_waiting',
        message: expect.stringMatching(/refund.*`approvals` of the case/),
      },
    });
    expect(refunds).toEqual([]);
  });

  test('that are answered with what does not fit fail the trial', async () => {
    const { trial } = await withClerk({
      input: 'ask',
      approvals: [{ decision: 'answer', input: { wrong: 1 } }],
    });
    expect(trial).toMatchObject({ status: 'error', error: { code: 'user_answer_refused' } });
  });
});

describe('scenarios', () => {
  const scenario = {
    startingPrompt: 'Pune',
    conversationPlan: 'Ask about two cities.',
    maxTurns: 4,
  };

  test('are talked through by a model', async () => {
    const userModel = talker(['Oslo', 'Bonn']);
    const { trial } = await report(
      [{ id: 'plan', scenario, expect: { response: { contains: 'Bonn' } } }],
      { userModel },
    );
    expect(trial).toMatchObject({ status: 'completed', passed: true });
    expect(trial.turns.map(({ user }) => user)).toEqual(['Pune', 'Oslo', 'Bonn']);
    // The cost of the user is not the agent's.
    expect(trial.steps).toBe(6);
    const told = JSON.stringify(userModel.calls[0]?.prompt);
    expect(told).toContain('Ask about two cities.');
    expect(told).toContain('It is 28 degrees in Pune.');
  });

  test('end at their last turn', async () => {
    const userModel = talker(['Oslo', 'Bonn', 'Rome', 'Kyiv']);
    const { trial } = await report([{ id: 'plan', scenario: { ...scenario, maxTurns: 2 } }], {
      userModel,
    });
    expect(trial).toMatchObject({ status: 'completed' });
    expect(trial.turns.map(({ user }) => user)).toEqual(['Pune', 'Oslo']);
    expect(userModel.calls).toHaveLength(1);
  });

  test('need a model', async () => {
    const cases = [
      { id: 'plain', input: 'Pune' },
      { id: 'plan', scenario },
    ];
    await expect(report(cases)).rejects.toMatchObject({
      code: 'user_model_missing',
      message: expect.stringContaining('The case "plan"'),
    });
  });

  test('fail when the user cannot be played', async () => {
    const userModel = scriptedModel(() => ({ error: new Error('No user today.') }));
    const { trial } = await report([{ id: 'plan', scenario }], { userModel });
    expect(trial).toMatchObject({ status: 'error', error: { code: 'simulated_user' } });
    expect(trial.turns.map(({ user }) => user)).toEqual(['Pune']);
  });
});
