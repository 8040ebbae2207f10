import { toErrorRecord } from '../../base/error.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool-definition.ts';
import { validateArgs } from '../../tools/validate.ts';
import type { ToolCallPorts } from './ports.ts';
/** Returns the arguments for a fallback tool, or the reason why there are none. */
export async function fallbackArgs(
  state: CallState,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<{ readonly args: unknown } | { readonly why: string }> {
  const asked = ports.find(state.call.name);
  const edit = state.answered.findLast(
    ({ request, answer }) => answer.decision === 'edit' && request.name === state.call.name,
  );
  const given = ports.ledger.resolve(edit === undefined ? state.call.args : edit.answer.input);
  try {
    const validated = asked === undefined ? undefined : await validateArgs(asked, given);
    const args = validated?.ok === true ? validated.args : given;
    const mapped =
      asked?.fallback?.tool === tool.name && asked.fallback.args !== undefined
        ? asked.fallback.args(args)
        : given;
    const fitting = await validateArgs(tool, mapped);
    return fitting.ok
      ? { args: fitting.args }
      : { why: `the arguments do not fit the tool ${tool.name}: ${fitting.message}` };
  } catch (thrown) {
    return {
      why:
        `the arguments for the tool ${tool.name} could not be made: ` +
        `${toErrorRecord(thrown).message}`,
    };
  }
}
