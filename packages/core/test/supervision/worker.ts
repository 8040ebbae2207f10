import {
  type AgentOptions,
  agent,
  type Event,
  type JsonValue,
  openai,
  type Tool,
  type ToolOptions,
  tool,
  toolResult,
} from 'adjutant';
import { model, type TestStep } from 'adjutant/testing';
import { z } from 'zod';

export const asks = (name: string, args: JsonValue = { page: 'a' }): TestStep =>
  model({ toolCalls: [{ name, args }] });
export const worker = (tools: AgentOptions['tools'] & object, more: Partial<AgentOptions> = {}) =>
  agent({ name: 'worker', model: openai('gpt-5'), tools, ...more });
export const results = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'tool_result');

export type Options = Partial<ToolOptions<unknown, unknown, unknown, never>>;

/** A tool that does what it is told, and what it was called with. */
export function working(
  execute: (times: number) => unknown = () => 'written',
  options: Options = {},
): { tool: Tool; seen: unknown[] } {
  const seen: unknown[] = [];
  const made = tool({
    name: 'write',
    description: 'Writes',
    schema: z.looseObject({}),
    execute: ({ args }) => {
      seen.push(args);
      return execute(seen.length);
    },
    ...(options as object),
  });
  return { tool: made, seen };
}

export const fails = (errorType = 'odd') => toolResult.permanent('It failed.', { errorType });
