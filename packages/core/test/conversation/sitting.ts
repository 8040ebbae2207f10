import { PassThrough } from 'node:stream';
import { agent, type Tool } from 'adjutant';
import { type HumanUserOptions, humanUser } from 'adjutant/conversation';
import { roundModel } from 'adjutant/testing';

/** A person at streams: what is typed at once, and all that is written. */
export function sitting(typed: string, options: HumanUserOptions = {}, isOver = true) {
  const input = new PassThrough();
  const output = new PassThrough();
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  if (isOver) input.end(typed);
  else input.write(typed);
  return { user: humanUser({ input, output, ...options }), input, output, written: () => written };
}

export function asker(asked: Tool, args: Record<string, unknown> = {}) {
  return agent({
    name: 'asker',
    model: roundModel([
      { toolCalls: [{ name: asked.name, args: args as never }] },
      { text: 'Done.' },
    ]),
    tools: [asked],
  });
}

export function answers(talk: {
  readonly answers: readonly { readonly decision?: unknown; readonly input?: unknown }[];
}): unknown[] {
  return talk.answers.map(({ decision, input }) => [decision, input]);
}
