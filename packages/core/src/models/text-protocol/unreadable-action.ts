import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { unreadableAction } from '../../ledger/tool-name.ts';
import type { Action } from './spellings/call-object.ts';
import {
  type Argument,
  isRecord,
  type OfferedTool,
  OfferedTools,
} from './spellings/offered-tools.ts';

/**
 * The call that an unreadable action becomes, so that the model gets an answer to it. Its text is
 * an argument, because the prompts of later rounds show arguments only when they are JSON.
 */
export function unreadableCall(text: string, problem: string): Extract<Action, { type: 'call' }> {
  return { type: 'call', tool: unreadableAction, input: JSON.stringify({ text, problem }) };
}

/** An unreadable action as the model wrote it. */
export function unreadableText(input: unknown): string {
  const text = (input as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : JSON.stringify(input);
}

const mostNames = 30;
/** The name of a tool stands near the beginning of its call. */
const longestSearched = 4_000;

/** Tells the model that its action could not be read, where it broke, and how to write it. */
export function unreadableObservation(
  input: unknown,
  offered: readonly LanguageModelV4FunctionTool[],
): string {
  const tools = new OfferedTools(offered);
  const problem = (input as { problem?: unknown } | null | undefined)?.problem;
  const lines = [
    'Observation: Your last action could not be read, so nothing was run.',
    ...(typeof problem === 'string' ? [`What is wrong: ${problem}`] : []),
  ];
  const tool = meantTool(unreadableText(input), tools);
  if (tool !== undefined) {
    const names = tools.list.slice(0, mostNames).map(({ name }) => name);
    const more = tools.list.length - names.length;
    lines.push(
      'Write it again in one line, in exactly this form, with your own values:',
      `Action: ${JSON.stringify({ tool: tool.name, arguments: exampleOf(tool) })}`,
      `Tools that you can call: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
    );
  }
  return lines.join('\n');
}

/** The tool whose name stands in the text first, or else the first tool. */
function meantTool(text: string, { list }: OfferedTools): OfferedTool | undefined {
  const lower = text.slice(0, longestSearched).toLowerCase();
  let meant = list[0];
  let first = Number.POSITIVE_INFINITY;
  for (const tool of list) {
    const at = lower.indexOf(tool.name.toLowerCase());
    const isLonger = at === first && tool.name.length > (meant?.name.length ?? 0);
    if (at >= 0 && (at < first || isLonger)) {
      first = at;
      meant = tool;
    }
  }
  return meant;
}

function exampleOf(tool: OfferedTool): JsonObject {
  const needed = tool.arguments.filter(({ isRequired }) => isRequired);
  const shown = needed.length > 0 ? needed : tool.arguments.slice(0, 1);
  return Object.fromEntries(shown.map((one) => [one.name, exampleValue(one)]));
}

function exampleValue({ name, types, schema }: Argument): JsonValue {
  const { enum: values, default: preset } = schema;
  if (Array.isArray(values) && values.length > 0) return values[0] as JsonValue;
  if (preset !== undefined && !isRecord(preset)) return preset;
  if (types.includes('string') || types.length === 0) return `value of ${name}`;
  if (types.includes('integer') || types.includes('number')) return 1;
  if (types.includes('boolean')) return true;
  return types.includes('array') ? [] : {};
}
