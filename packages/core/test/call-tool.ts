import type { ToolResult } from '../src/ledger/tool-result.ts';
import { classifyThrown } from '../src/tools/classify.ts';
import { toolResultWith, toToolResult } from '../src/tools/result.ts';
import type { Tool, ToolContext } from '../src/tools/tool.ts';
import { validateArgs } from '../src/tools/validate.ts';

/** Calls a tool that needs no session the way a run does: arguments are validated, what is thrown is classified. */
export async function callTool(tool: Tool, args: unknown, signal: AbortSignal = new AbortController().signal): Promise<ToolResult> {
  try {
    const checked = await validateArgs(tool, args);
    if (!checked.ok) return toolResultWith('error_permanent', checked.message, { errorType: 'validation_error' });
    return toToolResult(await tool.execute({ args: checked.args, signal } as ToolContext));
  } catch (thrown) {
    return classifyThrown(thrown).result;
  }
}
