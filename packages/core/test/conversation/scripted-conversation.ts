import { agent } from 'adjutant';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { ask } from './asking-tool.ts';

export const asking = (...questions: string[]) =>
  questions.map((question) => ({ name: 'ask', args: { question } }));

export function asker(...questions: string[]) {
  return agent({
    name: 'asker',
    model: roundModel([{ toolCalls: asking(...questions) }, { text: 'Done.' }]),
    tools: [ask],
  });
}

/** Says what it was told last, and how many messages it has seen. */
export function echo(name = 'echo') {
  return agent({
    name,
    model: scriptedModel((prompt) => {
      const said = prompt.filter(({ role }) => role === 'user');
      return {
        text:
          `${said.length}: ` +
          `${(said.at(-1)?.content as { text: string }[] | undefined)?.[0]?.text}`,
      };
    }),
  });
}

/** Contents of the results of tools, in the order of the ledger. */
export function results(talk: {
  readonly session: { readonly events: readonly { readonly type: string }[] };
}): unknown[] {
  return talk.session.events.flatMap((event) =>
    event.type === 'tool_result'
      ? [(event as unknown as { result: { content: unknown } }).result.content]
      : [],
  );
}
