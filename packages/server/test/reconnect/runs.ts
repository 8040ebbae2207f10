import { agent, parallel, type Runnable, sequence, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

/** Milliseconds between two pieces of an answer. */
const pauseMs = 8;
const pieces = 150;

/** A text in pieces that are told apart wherever they are cut. */
function longText(name: string): readonly string[] {
  return Array.from({ length: pieces }, (_, index) => `${name} ${index}; `);
}

const lookUp = tool({
  name: 'look_up',
  description: 'Looks something up',
  schema: z.object({ what: z.string() }),
  readOnly: true,
  execute: (ctx) => {
    ctx.progress({ half: true });
    return `found ${ctx.args.what}, ${'x'.repeat(500)}`;
  },
});

const send = tool({
  name: 'send',
  description: 'Sends it',
  schema: z.object({ to: z.string() }),
  approval: true,
  execute: ({ args: { to } }) => `sent to ${to}`,
});

const answering = (name: string) =>
  scriptedModel(() => ({ chunks: longText(name), chunkDelayMs: pauseMs }), { record: false });

const searching = scriptedModel(
  (prompt) =>
    prompt.at(-1)?.role === 'tool'
      ? { thoughts: 'Now I know.', chunks: longText('search'), chunkDelayMs: pauseMs }
      : {
          text: 'I look.',
          toolCalls: [
            { name: 'look_up', args: { what: 'one' } },
            { name: 'look_up', args: { what: 'two' } },
          ],
        },
  { record: false },
);

const sending = scriptedModel(
  (prompt) =>
    prompt.at(-1)?.role === 'tool'
      ? { chunks: longText('sent'), chunkDelayMs: pauseMs }
      : {
          chunks: longText('send'),
          chunkDelayMs: pauseMs,
          toolCalls: [{ name: 'send', args: { to: 'ann' } }],
        },
  { record: false },
);

/**
 * Three branches that write at the same time, one of them with tools; then a call that somebody
 * must approve, and a last answer.
 */
export function streamingRun(): Runnable {
  const branches = [
    agent({ name: 'writer', model: answering('write') }),
    agent({ name: 'critic', model: answering('doubt') }),
    agent({ name: 'searcher', model: searching, tools: [lookUp] }),
  ];
  return sequence({
    name: 'work',
    runnables: [
      parallel({ name: 'branches', runnables: branches }),
      agent({ name: 'sender', model: sending, tools: [send] }),
    ],
  });
}
