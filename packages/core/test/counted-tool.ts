import { type JsonValue, type Tool, tool } from 'adjutant';
import { z } from 'zod';

/** A tool that counts how often it is entered. */
export function countedTool(
  name: string,
  execute: (args: JsonValue, times: number) => unknown,
  more: object = {},
): { readonly tool: Tool; readonly entered: readonly JsonValue[] } {
  const entered: JsonValue[] = [];
  const counted = tool({
    name,
    description: `Does ${name}`,
    schema: z.looseObject({}),
    execute: ({ args }) => {
      entered.push(args as JsonValue);
      return execute(args as JsonValue, entered.length);
    },
    ...more,
  }) as Tool;
  return { tool: counted, entered };
}

/** Throws as `fetch` does for a page that answers 403. */
export function forbidden(): never {
  throw Object.assign(new Error('403 Forbidden'), { status: 403 });
}
