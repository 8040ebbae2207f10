import { agent } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { ask } from './asking-tool.ts';

export type Prompt = readonly { readonly role: string; readonly content: unknown }[];

export const textsOf = (prompt: Prompt, role: string): string[] =>
  prompt.flatMap((message) =>
    message.role === role && Array.isArray(message.content)
      ? [(message.content[0] as { text: string }).text]
      : [],
  );

/** Says which message this is; asks first what to do at the second one. */
export function shop(): ReturnType<typeof agent> {
  const model = scriptedModel((prompt: Prompt) => {
    const said = textsOf(prompt, 'user');
    const isAnswered = prompt
      .slice(prompt.findLastIndex(({ role }) => role === 'user'))
      .some(({ role }) => role === 'tool');
    if (said.length === 2 && !isAnswered)
      return { toolCalls: [{ name: 'ask', args: { question: 'Which size?' } }] };
    return { text: `Shop ${said.length}: ${said.at(-1)}` };
  });
  return agent({ name: 'shop', model, tools: [ask] }) as ReturnType<typeof agent>;
}
