import { agent, tool } from 'adjutant';
import { z } from 'zod';
import { real } from './real-tools.ts';

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
