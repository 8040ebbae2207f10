import { agent, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

export const ask = tool({
  name: 'ask',
  description: 'Ask the user a question',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
  finalize: (ctx) => ({
    question: (ctx.args as { question: string }).question,
    answer: (ctx.input as { answer: string }).answer,
  }),
});

export function asker(name = 'asker') {
  return agent({
    name,
    model: scriptedModel([
      { toolCalls: [{ name: 'ask', args: { question: `Which colour, ${name}?` } }] },
      { text: 'Thank you.' },
    ]),
    tools: [ask],
  });
}
