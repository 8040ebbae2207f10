import {
  type AgentOptions,
  agent,
  type Event,
  type JsonValue,
  openai,
  type Tool,
  type ToolOptions,
  tool,
} from 'adjutant';
import { advanceTime, model, type TestStep } from 'adjutant/testing';
import { z } from 'zod';

/** The model asks for a call, and there is time for all its attempts. */
export const asks = (name: string, args: JsonValue = { page: 'a' }): readonly TestStep[] => [
  model({ toolCalls: [{ name, args }] }),
  advanceTime(8_000),
];

export const worker = (tools: AgentOptions['tools'] & object, more: Partial<AgentOptions> = {}) =>
  agent({ name: 'worker', model: openai('gpt-5'), tools, ...more });

export const results = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'tool_result');

export const http = (status: number, more: object = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, ...more });

export type Options = Partial<ToolOptions<unknown, unknown, unknown, never>>;

/** A tool that fails as often as it is said how, and then works. */
export function failing(
  how: () => unknown,
  { times = Number.POSITIVE_INFINITY, ...options }: Options & { times?: number } = {},
): Tool & { runs: number[] } {
  const runs: number[] = [];
  const made = tool({
    name: 'fetch',
    description: 'Fetches a page',
    schema: z.looseObject({}),
    execute: (ctx) => {
      runs.push(ctx.attempt);
      if (runs.length > times) return 'the page';
      const thrown = how();
      if (thrown instanceof Error) throw thrown;
      return thrown;
    },
    ...(options as object),
  });
  return Object.assign(Object.create(Object.prototype), made, { runs }) as Tool & {
    runs: number[];
  };
}
