import { agent, agentTool, memoryStore, runtime, type Store, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { callerOf } from '../rest/caller.ts';

const usage = { inputTokens: 100, outputTokens: 10 };

/**
 * An app whose agent `boss` asks a helper, calls a tool that fails, writes state, and then waits
 * for leave to pay.
 */
export function shop(store: Store = memoryStore()) {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    readOnly: true,
    execute: () => {
      throw new Error('nothing is there');
    },
  });
  const note = tool({
    name: 'note',
    description: 'Notes',
    schema: z.object({ text: z.string() }),
    execute: ({ args, state }) => {
      state['noted'] = args.text;
      return 'noted';
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const helper = agent({
    name: 'helper',
    model: roundModel([
      { toolCalls: [{ name: 'look', args: {} }], usage },
      { text: 'No.', usage },
    ]),
    tools: [look],
  });
  const boss = agent({
    name: 'boss',
    model: roundModel([
      { toolCalls: [{ name: 'helper', args: { message: 'Is it there?' } }], usage },
      { toolCalls: [{ name: 'note', args: { text: 'not there' } }], usage },
      { toolCalls: [{ name: 'pay', args: { cents: 5 } }], usage },
      { text: 'Paid.', usage },
    ]),
    tools: [agentTool(helper), note, pay],
  });
  const app = runtime({ app: 'shop', store, runnables: [boss, helper] });
  return { app, boss, helper, ...callerOf(app) };
}
