import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { parse } from 'csv-parse/sync';
import { evaluate } from 'mathjs';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { callModel, type ModelToolCall } from '../../src/models/call.ts';
import { rehearsal } from '../../src/models/rehearsal/model.ts';

type Files = Readonly<Record<string, string>>;
type Row = Readonly<Record<string, string>>;

/** Thrown by a tool: it goes back to the model as an error. */
class ToolProblem extends Error {}

/** The contracts of the built-in tools over files in memory, independent of the tools themselves. */
const tools: { readonly [name: string]: (args: JsonObject, files: Files) => unknown } = {
  calculate: ({ expression }) => ({ expression, result: Number(evaluate(String(expression))) }),
  currentTime: ({ timeZone = 'UTC' }) => ({ iso: '2026-11-21T12:00:00Z', timeZone, text: `noon of ${String(timeZone)}` }),
  readFile: ({ path }, files) => ({ path, text: fileIn(files, path) }),
  listFiles: ({ path, pattern }, files) => ({
    files: Object.keys(files)
      .filter(
        (name) =>
          (path === undefined || name.startsWith(`${String(path).replace(/\/$/, '')}/`)) && name.endsWith(String(pattern ?? '').replace('**/*', '')),
      )
      .map((name) => ({ path: name, size: files[name]?.length ?? 0 })),
  }),
  searchFiles: ({ query, path }, files) => ({
    matches: Object.entries(files).flatMap(([name, text]) =>
      path !== undefined && !name.startsWith(String(path))
        ? []
        : text.split('\n').flatMap((line, i) => (line.includes(String(query)) ? [{ path: name, line: i + 1, text: line }] : [])),
    ),
  }),
  fetchUrl: ({ url }) => ({ status: 200, text: `page of ${String(url)}` }),
  queryCsv,
};

const allTools = Object.keys(tools);

function fileIn(files: Files, path: unknown): string {
  const text = files[String(path)];
  if (text === undefined) throw new ToolProblem(`There is no file "${String(path)}"`);
  return text;
}

interface CsvArgs {
  readonly path?: string;
  readonly where?: readonly { column: string; op: string; value?: string }[];
  readonly aggregate?: readonly { fn: string; column?: string }[];
  readonly groupBy?: string;
  readonly limit?: number;
}

function queryCsv(args: JsonObject, files: Files): unknown {
  const { path, where = [], aggregate = [], groupBy, limit = 50 } = args as CsvArgs;
  const rows: Row[] = parse(fileIn(files, path), { columns: true, skip_empty_lines: true });
  const columns = Object.keys(rows[0] ?? {});
  for (const column of [
    ...where.map((condition) => condition.column),
    ...aggregate.flatMap((one) => one.column ?? []),
    ...(groupBy === undefined ? [] : [groupBy]),
  ]) {
    if (!columns.includes(column)) throw new ToolProblem(`There is no column "${column}"`);
  }
  const matching = rows.filter((row) => where.every((condition) => holds(row[condition.column] ?? '', condition)));
  if (groupBy !== undefined) {
    const groups = Map.groupBy(matching, (row) => row[groupBy] ?? '');
    const grouped = [...groups].map(([value, members]) => ({ [groupBy]: value, 'count()': members.length }));
    return { columns: [groupBy, 'count()'], rows: grouped, rowCount: rows.length, matched: matching.length, aggregates: {} };
  }
  const aggregates = Object.fromEntries(aggregate.map(({ fn, column }) => [`${fn}(${column ?? ''})`, aggregateOf(fn, matching, column)]));
  return { columns, rows: matching.slice(0, limit), rowCount: rows.length, matched: matching.length, aggregates };
}

function holds(cell: string, { op, value = '' }: { op: string; value?: string }): boolean {
  const numeric = cell !== '' && value !== '' && !Number.isNaN(Number(cell)) && !Number.isNaN(Number(value));
  const order = numeric ? Number(cell) - Number(value) : cell.localeCompare(value);
  const tests: { readonly [op: string]: boolean } = {
    '=': cell === value || (numeric && order === 0),
    '!=': cell !== value,
    '<': order < 0,
    '<=': order <= 0,
    '>': order > 0,
    '>=': order >= 0,
    contains: cell.includes(value),
    empty: cell === '',
    not_empty: cell !== '',
  };
  return tests[op] ?? false;
}

function aggregateOf(fn: string, rows: readonly Row[], column: string | undefined): JsonValue {
  const values = rows.map((row) => Number(row[column ?? '']));
  if (fn === 'count') return rows.length;
  if (values.length === 0) return null;
  const sum = values.reduce((a, b) => a + b, 0);
  const results: { readonly [fn: string]: number } = { sum, avg: sum / values.length, min: Math.min(...values), max: Math.max(...values) };
  return results[fn] ?? null;
}

export interface Conversation {
  readonly answer: string;
  /** The calls of each round that had any. */
  readonly rounds: readonly (readonly { readonly name: string; readonly args: JsonValue }[])[];
  readonly prompt: LanguageModelV4Prompt;
}

/** Asks the rehearsal model and runs the tools that it calls until it answers. */
export async function converse(
  question: string,
  files: Files = {},
  options: { readonly offered?: readonly string[]; readonly before?: LanguageModelV4Prompt; readonly asText?: boolean } = {},
): Promise<Conversation> {
  const model = await rehearsal().load();
  const prompt: LanguageModelV4Prompt = [...(options.before ?? []), { role: 'user', content: [{ type: 'text', text: question }] }];
  const offered = (options.offered ?? allTools).map((name) => ({ type: 'function' as const, name, inputSchema: { type: 'object' as const } }));
  const rounds: { name: string; args: JsonValue }[][] = [];
  while (rounds.length < 8) {
    const answer = await callModel(model, { prompt: structuredClone(prompt), tools: offered }, systemClock, undefined);
    const text = answer.texts.map((part) => part.text).join('');
    if (answer.toolCalls.length === 0) return { answer: text, rounds, prompt: [...prompt, { role: 'assistant', content: [{ type: 'text', text }] }] };
    rounds.push(answer.toolCalls.map(({ name, args }) => ({ name, args })));
    appendRound(prompt, answer.toolCalls, files, options.asText === true);
  }
  throw new Error('The rehearsal model does not come to an end');
}

function appendRound(prompt: LanguageModelV4Prompt, calls: readonly ModelToolCall[], files: Files, asText: boolean): void {
  prompt.push({
    role: 'assistant',
    content: calls.map((call) => ({ type: 'tool-call', toolCallId: call.providerCallId, toolName: call.name, input: call.args })),
  });
  prompt.push({
    role: 'tool',
    content: calls.map((call) => ({
      type: 'tool-result',
      toolCallId: call.providerCallId,
      toolName: call.name,
      output: outputOf(call, files, asText),
    })),
  });
}

function outputOf(call: ModelToolCall, files: Files, asText: boolean) {
  try {
    const value = JSON.parse(JSON.stringify(tools[call.name.replace(/^.*\./, '')]?.(call.args as JsonObject, files))) as never;
    return asText ? { type: 'text' as const, value: JSON.stringify(value) } : { type: 'json' as const, value };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { type: 'error-text' as const, value: error.message };
  }
}
