import { type Agent, agent, tool } from 'adjutant';
import { type ScriptedModel, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: z.object({}),
  execute: (ctx) => {
    ctx.state['looks'] = Number(ctx.state['looks'] ?? 0) + 1;
    return `looked, in a ${String(ctx.state['mood'] ?? 'plain')} mood`;
  },
});

const script = [
  { toolCalls: [{ name: 'look' }] },
  { text: 'It is blue.' },
  { toolCalls: [{ name: 'look' }] },
  { text: 'It is red.' },
  ...Array.from({ length: 20 }, (_, n) => ({ text: `Answer ${n}.` })),
];

/** An agent that looks and answers, with its model. */
export interface Clerk {
  readonly clerk: Agent;
  readonly model: ScriptedModel;
}

export const clerkOf = (): Clerk => {
  const model = scriptedModel(script);
  const clerk = agent({
    name: 'clerk',
    model,
    instructions: 'You are a clerk.',
    tools: [look],
  });
  return { clerk, model };
};
