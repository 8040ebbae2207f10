import type { ToolResult } from '../ledger/tool-result.ts';
import type { AnsweredRequest, AttemptState, CallState } from '../loop/position.ts';
import { toolResult } from '../tools/result.ts';
import type { Tool } from '../tools/tool.ts';
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

/** Says what became of an attempt that a stopped process left open, for a tool that asks somebody or finds it out. */
export async function performRecovery(state: CallState, attempt: AttemptState, tool: Tool, ports: ToolCallPorts): Promise<void> {
  await (await attemptRun(state, attempt, tool, ports)).recover(attempt);
}

/** Does what was answered about an attempt. */
export async function performResolution(
  state: CallState,
  attempt: AttemptState,
  answered: AnsweredRequest,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<void> {
  await (await attemptRun(state, attempt, tool, ports)).resolve(answered);
}

async function attemptRun(state: CallState, { attempt }: AttemptState, tool: Tool, ports: ToolCallPorts): Promise<AttemptRun> {
  const given = ports.ledger.resolve(state.call.args);
  const validated = await validateArgs(tool, given);
  return new AttemptRun(state, tool, attempt, validated.ok ? validated.args : given, ports);
}

function refuse(state: CallState, ports: ToolCallPorts, result: ToolResult): void {
  ports.ledger.append([refusalDraft(state, ports.path, result)]);
}
