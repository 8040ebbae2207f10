import { agent, agentTool, readToolResult, runtime, tool } from 'adjutant';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const pages = Array.from({ length: 100_000 }, (_, line) => `line ${line}`).join('\n');
const large = tool({
  name: 'large',
  description: 'Gives much',
  schema: z.object({}),
  execute: () => pages,
});

/** The call id that the model was told of. */
function callIdIn(prompt: unknown): string {
  return /Call id: ([^"\\]+)/.exec(JSON.stringify(prompt))?.[1] ?? 'none';
}

test(
  'a model reads the rest of a shortened result, also of one that is kept outside ' + 'the ledger',
  async () => {
    const model = scriptedModel((prompt, call): ScriptedResponse => {
      if (call === 0) return { toolCalls: [{ name: 'large' }] };
      if (call === 1)
        return {
          toolCalls: [
            {
              name: 'read_tool_result',
              args: { callId: callIdIn(prompt), offset: pages.length - 12, length: 50 },
            },
          ],
        };
      return { text: 'read' };
    });
    const { session } = await runtime({ app: 'reading' }).run(
      agent({ name: 'reader', model, tools: [large, readToolResult()] }),
      'Go',
    );
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('[...truncated] The whole result has');
    const results = session.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result] : [],
    );
    const rest =
      `[Characters ${pages.length - 12} to ${pages.length} of ` +
      `${pages.length}.]\n${pages.slice(-12)}`;
    expect(results[1]).toMatchObject({ status: 'success', content: rest });
  },
);

test('a result of a call that the agent does not see is not there for it', async () => {
  const inner = agent({
    name: 'inner',
    model: scriptedModel([{ toolCalls: [{ name: 'large' }] }, { text: 'secret' }]),
    tools: [large],
  });
  let hidden = '';
  const model = scriptedModel((_prompt, call): ScriptedResponse => {
    if (call === 0) return { toolCalls: [{ name: 'inner', args: { message: 'look' } }] };
    if (call === 1)
      return {
        toolCalls: [
          { name: 'read_tool_result', args: { callId: hidden } },
          { name: 'read_tool_result', args: { callId: 'run/r1.0/../x' } },
        ],
      };
    return { text: 'done' };
  });
  const app = runtime({ app: 'reading' });
  const watched = agentTool(inner);
  const outer = agent({ name: 'outer', model, tools: [watched, readToolResult()] });
  hidden = 'run/r1.0/inner#0/r1.0';
  const run = app.run(outer, { input: 'Go', runId: 'run' });
  for await (const event of run)
    if (event.type === 'tool_call' && event.name === 'large') hidden = event.callId;
  const { session } = await run;
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' && event.name === 'read_tool_result'
      ? [event.result.errorType]
      : [],
  );
  expect(hidden).toContain('/inner');
  expect(results).toEqual(['not_found', 'not_found']);
});

test(
  'no prompt has half a character, wherever a result is cut and whatever part of ' + 'it is read',
  async () => {
    // Single characters of two halves behind one another: half of all places part one.
    const faces = '😀'.repeat(300_000);
    const tools = [0, 1].map((shift) =>
      tool({
        name: `faces${shift}`,
        description: 'Gives much',
        schema: z.object({}),
        execute: () => 'x'.repeat(shift) + faces,
      }),
    );
    const model = scriptedModel((prompt, call): ScriptedResponse => {
      if (call === 0) return { toolCalls: [{ name: 'faces0' }, { name: 'faces1' }] };
      const callId = callIdIn(prompt);
      const parts = [
        { offset: 1, length: 1 },
        { offset: 0, length: 1 },
        { offset: 3, length: 4 },
        { offset: 599_999 },
      ];
      return call === 1
        ? {
            toolCalls: parts.map((part) => ({
              name: 'read_tool_result',
              args: { callId, ...part },
            })),
          }
        : { text: 'read' };
    });
    const { session } = await runtime({ app: 'reading' }).run(
      agent({ name: 'reader', model, tools: [...tools, readToolResult()] }),
      'Go',
    );
    const prompts = model.calls.flatMap(({ prompt }) => prompt);
    const texts = prompts.flatMap(({ role, content }) =>
      role === 'tool'
        ? content.flatMap((part) =>
            part.type === 'tool-result' && part.output.type === 'text' ? [part.output.value] : [],
          )
        : [],
    );
    expect(texts.filter((text) => text.includes('[...truncated]'))).toHaveLength(2);
    expect(texts.filter((text) => text.startsWith('[Characters'))).toHaveLength(4);
    for (const text of texts) expect(text.isWellFormed()).toBe(true);
    const read = session.events.flatMap((event) =>
      event.type === 'tool_result' && event.name === 'read_tool_result'
        ? [event.result.content]
        : [],
    );
    const head = (from: number, to: number): string => `[Characters ${from} to ${to} of 600000.]\n`;
    expect(read).toEqual([
      `${head(0, 2)}😀`,
      `${head(0, 2)}😀`,
      `${head(2, 6)}😀😀`,
      `${head(599_998, 600_000)}😀`,
    ]);
  },
);
