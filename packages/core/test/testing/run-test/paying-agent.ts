import { agent, type Model, tool } from 'adjutant';
import { z } from 'zod';

/** A model that must never be asked: it has no key, and nobody may look for one. */
export const real: Model = {
  kind: 'model',
  provider: 'openai',
  modelId: 'gpt-5',
  settings: {},
  load: () => {
    throw new Error('the real model was loaded');
  },
};

export const add = tool({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  execute: ({ args }) => args.a + args.b,
});

export function withTools(...tools: Parameters<typeof agent>[0]['tools'] & object) {
  return agent({ name: 'worker', model: real, tools });
}

export const calls = (...made: readonly (readonly [name: string, args?: object])[]) => ({
  toolCalls: made.map(([name, args = {}]) => ({ name, args: args as never })),
});
