import { agent, parallel, type Runnable, sequence, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { calls } from './agent-ledgers.ts';
import type { KeptLedger } from './recording.ts';

export const speaker = (name: string): Runnable =>
  agent({ name, model: roundModel([{ text: `${name} is done` }]), output: name });

export const asking: KeptLedger = {
  name: 'asking',
  holds: 'a question that waits in a branch while another process crashes',
  define: (edit) => {
    const ask = tool({
      name: 'ask',
      description: 'Asks the user',
      schema: z.object({ question: z.string() }),
      yieldSchema: z.object({ answer: z.string() }),
      finalize: ({ input }) => (input as { answer: string }).answer,
    });
    const asker = agent({
      name: 'asker',
      model: roundModel([calls(['ask', { question: 'Which colour?' }]), { text: 'Thank you.' }]),
      tools: [ask],
      hooks:
        edit === 'a hook that changes the answer'
          ? { afterAgent: (_ctx, output) => `${String(output)}!` }
          : {},
    });
    return { runnable: parallel({ name: 'both', runnables: [asker, speaker('beside')] }) };
  },
  record: async (recording) => {
    await recording.crashAt('Go', (event) => event.type === 'tool_yield');
    const session = await recording.goOn();
    return recording.answer(session, { decision: 'answer', input: { answer: 'red' } });
  },
  edits: {
    'a hook that changes the answer': {
      seq: 26,
      path: 'run/asker',
      kind: 'control_flow',
      subject:
        'The decision "change_output" of hooks is not recorded; what is recorded there is ' +
        'the end of run/asker as completed',
    },
  },
};

/** Number of questions to the probe of `repaired` during its recording. A replay asks no probe. */
let timesAsked = 0;

export const repaired: KeptLedger = {
  name: 'repaired',
  holds: 'effects of unknown outcome: told in time, told after the failure, judged again',
  define: (edit) => {
    const order = step({
      name: 'order',
      execute: async (ctx) => {
        const charged = await ctx.effect('charge', () => 'never');
        const mailed = await ctx.effect('mail', () => 'never');
        const booked = await ctx.effect(
          'book',
          () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' })),
          {
            recovery: () =>
              timesAsked++ === 0 ? { happened: 'unknown' } : { happened: true, result: 'booked' },
          },
        );
        if (edit === 'another effect behind them') await ctx.effect('note', () => 'noted');
        return ctx.complete([charged, mailed, booked]);
      },
    });
    return { runnable: sequence({ name: 'line', runnables: [order] }) };
  },
  record: async (recording) => {
    timesAsked = 0;
    const cutOff = (key: string) =>
      recording.crashAt(
        'Go',
        (event) => event.type === 'tool_attempt' && event.callId === `run/order/${key}`,
      );
    const tell = (key: string) =>
      recording.app.sessions.resolveUnknown('the-session', `run/order/${key}`, {
        happened: true,
        result: `${key} was found`,
      });
    await cutOff('charge');
    recording.process();
    await tell('charge');
    await cutOff('mail');
    const { id } = await recording.goOn();
    await tell('mail');
    await recording.app.sessions.reopen(id, { reason: 'The mail is there.' });
    await recording.goOn();
    await recording.app.sessions.reopen(id, { reason: 'The hotel answers again.' });
    return recording.goOn();
  },
  edits: {
    'another effect behind them': {
      seq: 28,
      path: 'run/order',
      kind: 'control_flow',
      subject:
        'Attempt 1 of run/order/note is not recorded; what is recorded there is the end of ' +
        'run/order as completed',
    },
  },
};
