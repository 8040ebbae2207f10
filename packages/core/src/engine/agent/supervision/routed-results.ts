import type { ToolResult } from '../../../ledger/tool-result.ts';
import { toolResult } from '../../../tools/result.ts';

/** Returns a partial result with the raw output of the tool, which could not be read. */
export function rawOf(result: ToolResult): ToolResult {
  const { raw, ...metadata } = result.metadata ?? {};
  return toolResult.partial(raw, {
    errorType: result.errorType ?? result.status,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  });
}

/** Returns the content of a result as text. */
export function textOf({ content }: ToolResult): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
