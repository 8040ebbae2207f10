import { agent, type RequestAnswer, sequence, step, tool } from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { call, noting, schema } from '../engine/app/recovery/scenarios.ts';

/** A conversation, and in another lane a report that waits for an approval. */
export const twoLanes: MakeScenario = () => {
  const publish = tool({
    name: 'publish',
    description: 'Publishes the report',
    schema,
    recovery: 'rerun',
    approval: { expiresInMs: 86_400_000 },
    execute: ({ args }) => `published ${args.n}`,
  });
  return {
    runnable: sequence({
      name: 'talk',
      runnables: [
        agent({
          name: 'talker',
          model: roundModel([{ toolCalls: [call('note', 1)] }, { text: 'Noted.' }]),
          tools: [noting('note')],
          output: 'talker',
        }),
        step({
          name: 'count',
          execute: async (ctx) => {
            ctx.state['talked'] = true;
            return ctx.complete(await ctx.ask('mood', 'How are you?'), 'mood');
          },
        }),
      ],
    }),
    beside: {
      lane: 'background',
      runnable: agent({
        name: 'reporter',
        model: roundModel([
          { toolCalls: [call('draft', 1)] },
          { toolCalls: [call('publish', 2)] },
          { text: 'The report is out.' },
        ]),
        tools: [noting('draft'), publish],
        output: 'reporter',
      }),
    },
    answers: ({ kind }): RequestAnswer =>
      kind === 'approval'
        ? { decision: 'approve' }
        : { decision: 'answer', input: 'fine, thank you' },
  };
};
