import {
  agent,
  type JsonValue,
  loop,
  type PendingRequest,
  parallel,
  type RequestAnswer,
  sequence,
  step,
  tool,
} from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { call, noting, schema } from '../engine/app/recovery/scenarios.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks the user a question',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
  finalize: (ctx) => ({
    question: (ctx.args as { question: string }).question,
    answer: (ctx.input as { answer: string }).answer,
  }),
});

export function asker(name: string) {
  return agent({
    name,
    model: roundModel([
      { toolCalls: [{ name: 'ask', args: { question: `Which colour, ${name}?` } }] },
      { text: `${name} is done` },
    ]),
    tools: [ask],
    output: name,
  });
}

export function answerInput({ args, callId }: PendingRequest): RequestAnswer {
  const { question } = args as { question?: string };
  return {
    decision: 'answer',
    input:
      question === undefined
        ? { approved: !callId.endsWith('.1') }
        : { answer: `As to “${question}”: red` },
  };
}

/**
 * Gating and confirming tools, several calls of a round, in branches, and a loop that waits for
 * messages.
 */
export const yielding: MakeScenario = () => {
  const confirm = tool({
    name: 'confirm',
    description: 'Asks before doing it',
    schema,
    recovery: 'rerun',
    yieldSchema: z.object({ approved: z.boolean() }),
    execute: ({ input, args }) => {
      return input?.approved === true ? `did ${args.n}` : { declined: args.n };
    },
  });
  const confirmer = agent({
    name: 'confirmer',
    model: roundModel([
      { toolCalls: [call('confirm', 1), call('confirm', 2), call('note', 3)] },
      { text: 'confirmed' },
    ]),
    tools: [confirm, noting('note')],
    output: 'confirmer',
  });
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        parallel({
          name: 'both',
          runnables: [
            asker('left'),
            confirmer,
            sequence({ name: 'right', runnables: [asker('inner')] }),
          ],
        }),
        loop({
          name: 'chat',
          runnable: agent({ name: 'talker', model: roundModel([{ text: 'well' }]) }),
          maxIterations: 2,
          yields: true,
        }),
      ],
    }),
    answers: answerInput,
    message: (count) => `message ${count}`,
  };
};

/** A run that names the model in the place of its agent's own, which is not to be asked. */
export const modelOfRun: MakeScenario = () => ({
  runnable: agent({
    name: 'publisher',
    model: roundModel([]),
    tools: [
      tool({
        name: 'publish',
        description: 'Publishes a page',
        schema,
        recovery: 'rerun',
        approval: { expiresInMs: 86_400_000 },
        execute: ({ args }) => `published ${args.n}`,
      }),
    ],
  }),
  input: 'Use publish {"n":2}',
  model: 'rehearsal',
  answers: () => ({ decision: 'approve' }),
});

/** Messages of the user that waiting calls of several branches can use. */
export const answeringByMessage: MakeScenario = () => {
  const collector = (name: string, yieldSchema: z.ZodType) =>
    agent({
      name,
      model: roundModel([
        { toolCalls: [{ name: `ask_${name}` }, call('note', 1)] },
        { text: `${name} is done` },
      ]),
      tools: [
        tool({
          name: `ask_${name}`,
          description: 'Asks the user',
          schema: z.object({}),
          yieldSchema,
          recovery: 'rerun',
          execute: ({ input }) => input as JsonValue,
        }),
        noting('note'),
      ],
      output: name,
    });
  return {
    runnable: parallel({
      name: 'all',
      runnables: [
        collector('booking', z.object({ name: z.string(), guests: z.number() })),
        collector('code', z.object({ code: z.number() })),
        collector('mail', z.email()),
      ],
    }),
    answers: {
      ask_booking: 'name: Ann\nguests: 2',
      ask_code: '1234',
      ask_mail: 'ann@example.com',
    },
  };
};

/** One call is allowed, one edited, one rejected. */
export function approvals(recovery: 'rerun' | 'report'): MakeScenario {
  return () => ({
    runnable: agent({
      name: 'payer',
      model: roundModel([
        { toolCalls: [call('pay', 1), call('pay', 2), call('pay', 3)] },
        { text: 'and', toolCalls: [call('pay', 4)] },
        { text: 'paid' },
      ]),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays',
          schema,
          recovery,
          approval: { expiresInMs: 7 * 86_400_000 },
          execute: ({ args, state }) => {
            state[`paid ${args.n}`] = true;
            return { paid: args.n };
          },
        }),
      ],
    }),
    answers: ({ args }): RequestAnswer => {
      const { n } = args as { n: number };
      if (n === 2) return { decision: 'edit', input: { n: 20 } };
      return n === 3 ? { decision: 'reject', reason: 'too much' } : { decision: 'approve' };
    },
    ...(recovery === 'report' ? { compares: 'end' as const } : {}),
  });
}

/** A step that asks for approval and for a value, sleeps, and lets a question race with a sleep. */
export const waitingStep: MakeScenario = () => ({
  runnable: step({
    name: 'publish',
    execute: async (ctx) => {
      const draft = await ctx.effect('draft', () => 'a text', { recovery: 'rerun' });
      const { approved, by } = await ctx.ask('publish', {
        message: 'Publish?',
        approval: true,
        expiresInMs: 7 * 86_400_000,
      });
      await ctx.sleep('a moment', 1);
      await ctx.sleep('until tomorrow', 24 * 3_600_000);
      const [title, tags] = await Promise.all([
        ctx.ask('title', 'Which title?'),
        ctx.ask('tags', { message: 'Which tags?', schema: z.array(z.string()) }),
      ]);
      ctx.state['title'] = title;
      const first = await Promise.race([
        ctx.sleep('too late', 7 * 86_400_000).then(() => 'nobody'),
        ctx.ask('reviewer', 'Who reads it?'),
      ]);
      const sent = await ctx.effect('send', () => `${draft} sent`, { recovery: 'rerun' });
      return ctx.complete({ approved, by, title, tags, first, sent });
    },
  }),
  answers: ({ kind, name }): RequestAnswer =>
    kind === 'approval'
      ? { decision: 'approve' }
      : { decision: 'answer', input: name === 'tags' ? ['new', 'short'] : `the ${name}` },
});

/** A step whose questions are answered by messages of the user: two at once, and one after them. */
export const answeringQuestions: MakeScenario = () => ({
  runnable: step({
    name: 'invite',
    execute: async (ctx) => {
      const [party, hour] = await Promise.all([
        ctx.ask('party', {
          message: 'For whom?',
          schema: z.object({ name: z.string(), guests: z.number() }),
        }),
        ctx.ask('hour', { message: 'At which hour?', schema: z.number() }),
      ]);
      ctx.state['guests'] = party.guests;
      return ctx.complete({ party, hour, title: await ctx.ask('title', 'Which title?') });
    },
  }),
  answers: { party: 'name: Ann, guests: 2', hour: '18', title: 'Our evening' },
});

/** An approval that holds for later calls of its tool in the session. */
export const standingApproval: MakeScenario = () => ({
  runnable: agent({
    name: 'editor',
    model: roundModel([
      { toolCalls: [call('change', 1)] },
      { toolCalls: [call('change', 2), call('change', 3)] },
      { text: 'changed' },
    ]),
    tools: [
      tool({
        name: 'change',
        description: 'Changes something',
        schema,
        recovery: 'rerun',
        approval: { expiresInMs: 864_000_000 },
        execute: ({ args }) => `changed ${args.n}`,
      }),
    ],
    output: 'editor',
  }),
  answers: () => ({ decision: 'approve', always: 'tool' }),
});
