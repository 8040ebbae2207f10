import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import { callTool } from 'adjutant/testing';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { isSuccess } from '../../src/ledger/tool-result.ts';
import type { ModelToolCall } from '../../src/models/answer.ts';
import { callModel } from '../../src/models/call.ts';
import { rehearsal } from '../../src/models/rehearsal/model.ts';
import { calculate } from '../../src/tools/builtin/calculate/calculate.ts';
import { queryCsv } from '../../src/tools/builtin/csv/query-csv.ts';
import { currentTime } from '../../src/tools/builtin/current-time.ts';
import { listFiles } from '../../src/tools/builtin/files/list-files.ts';
import { readFile } from '../../src/tools/builtin/files/read-file.ts';
import { searchFiles } from '../../src/tools/builtin/files/search-files.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';

type Files = Readonly<Record<string, string>>;

/** In place of the real tool, which would need the network. */
const fetchUrl = tool({
  name: 'fetchUrl',
  description: 'Fetches a page',
  schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  execute: (ctx) => ({ status: 200, text: `page of ${(ctx.args as { url: string }).url}` }),
});

function toolsFor(root: string): readonly Tool[] {
  const noon = Date.parse('2026-11-21T12:00:00Z');
  return [
    calculate(),
    currentTime({ clock: { now: () => noon }, timeZone: 'UTC' }),
    listFiles({ root }),
    readFile({ root }),
    searchFiles({ root }),
    queryCsv({ root }),
    fetchUrl,
  ];
}

export interface Conversation {
  readonly answer: string;
  /** The calls of each round that had any. */
  readonly rounds: readonly (readonly { readonly name: string; readonly args: JsonValue }[])[];
  readonly prompt: LanguageModelV4Prompt;
}

export interface ConversationOptions {
  /** Names under which tools are offered. @default all built-in ones */
  readonly offered?: readonly string[];
  /** Earlier messages. */
  readonly before?: LanguageModelV4Prompt;
  /** Results come as text, as some encoders give them. */
  readonly asText?: boolean;
}

/**
 * Asks the rehearsal model over real files and runs the built-in tools that it calls until it
 * answers.
 */
export async function converse(
  question: string,
  files: Files = {},
  options: ConversationOptions = {},
): Promise<Conversation> {
  const root = await mkdtemp(join(tmpdir(), 'adjutant-rehearsal-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return await converseWith(toolsFor(root), question, options);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function converseWith(
  tools: readonly Tool[],
  question: string,
  options: ConversationOptions,
): Promise<Conversation> {
  const model = await rehearsal().load();
  const prompt: LanguageModelV4Prompt = [
    ...(options.before ?? []),
    { role: 'user', content: [{ type: 'text', text: question }] },
  ];
  const names = options.offered ?? tools.map(({ name }) => name);
  const offered = names.map((name) => ({
    type: 'function' as const,
    name,
    inputSchema: { type: 'object' as const },
  }));
  const rounds: { name: string; args: JsonValue }[][] = [];
  while (rounds.length < 8) {
    const answer = await callModel(
      model,
      { prompt: structuredClone(prompt), tools: offered },
      systemClock,
      undefined,
    );
    const text = answer.texts.map((part) => part.text).join('');
    if (answer.toolCalls.length === 0)
      return {
        answer: text,
        rounds,
        prompt: [...prompt, { role: 'assistant', content: [{ type: 'text', text }] }],
      };
    rounds.push(answer.toolCalls.map(({ name, args }) => ({ name, args })));
    await appendRound(prompt, answer.toolCalls, tools, options.asText === true);
  }
  throw new Error('The rehearsal model does not come to an end');
}

async function appendRound(
  prompt: LanguageModelV4Prompt,
  calls: readonly ModelToolCall[],
  tools: readonly Tool[],
  asText: boolean,
): Promise<void> {
  const outputs = await Promise.all(calls.map((call) => outputOf(call, tools, asText)));
  prompt.push({
    role: 'assistant',
    content: calls.map((call) => ({
      type: 'tool-call',
      toolCallId: call.providerCallId,
      toolName: call.name,
      input: call.args,
    })),
  });
  prompt.push({
    role: 'tool',
    content: calls.map((call, i) => ({
      type: 'tool-result',
      toolCallId: call.providerCallId,
      toolName: call.name,
      output: outputs[i] ?? { type: 'text', value: '' },
    })),
  });
}

async function outputOf(
  call: ModelToolCall,
  tools: readonly Tool[],
  asText: boolean,
): Promise<LanguageModelV4ToolResultOutput> {
  const called = tools.find(({ name }) => name === call.name.replace(/^.*\./, ''));
  if (called === undefined) throw new Error(`The rehearsal model called "${call.name}"`);
  const result = await callTool(called, call.args);
  const { content } = result;
  if (!isSuccess(result))
    return {
      type: 'error-text',
      value: typeof content === 'string' ? content : JSON.stringify(content),
    };
  return asText
    ? { type: 'text', value: JSON.stringify(content) }
    : { type: 'json', value: JSON.parse(JSON.stringify(content)) };
}
