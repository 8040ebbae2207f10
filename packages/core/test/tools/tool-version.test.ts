import { agent, run, type Tool, ToolFailure, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { runTree, transcript } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

function lookWith(version: string | undefined, execute: () => string): Tool {
  return tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    readOnly: true,
    retry: { attempts: 1 },
    execute,
    ...(version === undefined ? {} : { version }),
  });
}

async function seenWith(look: Tool) {
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]);
  const { session, toolCalls } = await run(agent({ name: 'watcher', model, tools: [look] }), 'Go');
  const result = session.events.find((event) => event.type === 'tool_result');
  const said = transcript(session.events).find(({ kind }) => kind === 'tool');
  return { result, said, called: toolCalls[0], node: runTree(session.events)[0]?.toolCalls[0] };
}

test('results have the version of the tool that ran', async () => {
  const { result, said, called, node } = await seenWith(lookWith('2.1', () => 'Nothing.'));
  expect(result).toMatchObject({ toolVersion: '2.1', durationMs: expect.any(Number) });
  expect(said).toMatchObject({ version: '2.1', durationMs: expect.any(Number) });
  expect(called).toMatchObject({ version: '2.1', durationMs: expect.any(Number) });
  expect(node).toMatchObject({ version: '2.1', durationMs: expect.any(Number) });
});

test('failures have it too, and tools without a version have none', async () => {
  const failing = lookWith('3', () => {
    throw new ToolFailure('Gone', { errorType: 'http_410' });
  });
  expect((await seenWith(failing)).result).toMatchObject({ toolVersion: '3' });
  for (const seen of Object.values(await seenWith(lookWith(undefined, () => 'Nothing.')))) {
    expect(seen).not.toHaveProperty('version');
    expect(seen).not.toHaveProperty('toolVersion');
  }
});

test('a call that never ran has no version', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'loook' }] }, { text: 'Done.' }]);
  const watcher = agent({ name: 'watcher', model, tools: [lookWith('2', () => 'Nothing.')] });
  const { toolCalls } = await run(watcher, 'Go');
  expect(toolCalls[0]).not.toHaveProperty('version');
});
