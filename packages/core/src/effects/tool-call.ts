import type { ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/position.ts';
import { toolResult } from '../tools/result.ts';
import { unknownToolMessage } from '../tools/toolset.ts';
import { validateArgs } from '../tools/validate.ts';
import { AttemptRun } from './tool-attempt.ts';
import { isGivenBack, type ToolCallPorts } from './tool-ports.ts';
import { refusalDraft } from './tool-result-draft.ts';
import { cancelledBefore } from './tool-result-texts.ts';

/**
 * Performs one attempt of a tool call and records what became of it:
 * validate → prepare → attempt (durable first, unless the tool may be run again) → execute → classify → finalize → record.
 */
export async function performToolCall(state: CallState, attempt: number, ports: ToolCallPorts): Promise<void> {
  const { call } = state;
  if (ports.scope.aborted) return void (isGivenBack(ports) || refuse(state, ports, cancelledBefore()));
  const tool = ports.find(call.name);
  if (tool === undefined)
    return refuse(state, ports, toolResult.permanent(unknownToolMessage(call.name, ports.names), { errorType: 'unknown_tool' }));
  if (call.invalid !== undefined) {
    return refuse(
      state,
      ports,
      toolResult.permanent(`The arguments are not JSON: ${call.invalid}. Call the tool again with a JSON object.`, { errorType: 'validation_error' }),
    );
  }
  const given = ports.ledger.resolve(call.args);
  const validating = validateArgs(tool, given);
  const validated = validating instanceof Promise ? await validating : validating;
  if (!validated.ok) return refuse(state, ports, toolResult.permanent(validated.message, { errorType: 'validation_error' }));
  await new AttemptRun(state, tool, attempt, validated.args, ports).run();
}

function refuse(state: CallState, ports: ToolCallPorts, result: ToolResult): void {
  ports.ledger.append([refusalDraft(state, ports.path, result)]);
}
