import { unknownToolType, unreadableAction } from '../../ledger/tool-name.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallState, RequestWithAnswer } from '../../loop/call-state.ts';
import { misspelledArgs } from '../../tools/misspelled-args.ts';
import { toolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool-definition.ts';
import { unknownToolMessage } from '../../tools/toolset.ts';
import { validateArgs } from '../../tools/validate.ts';
import { isReleased } from '../released.ts';
import {
  answeredArgs,
  assertArgsFit,
  assertToolIsThere,
  givenAnswer,
} from '../request/unused-answer.ts';
import { untilAborted } from '../until-aborted.ts';
import { runAttempt } from './attempt/run-attempt.ts';
import { noTool, settleBegun, unfitTool } from './begun-work.ts';
import { performFallback } from './perform-fallback.ts';
import type { ToolCallPorts } from './ports.ts';
import { refuseCall } from './preparation.ts';
import { refusalDraft } from './refusal-draft.ts';
import { cancelledBefore, requestRejected, unreadable } from './result-texts.ts';

/**
 * Performs one attempt of a tool call and records its outcome. It takes these steps: validate →
 * prepare → checks → requests → attempt; execute → classify → finalize → supervision → record. The
 * attempt is durable before the tool runs, unless the tool may be run again.
 */
export async function performToolCall(
  state: CallState,
  attempt: number,
  ports: ToolCallPorts,
): Promise<void> {
  const { call } = state;
  if (ports.scope.aborted) return refuseCancelled(state, ports);
  if (state.fallback !== undefined) return performFallback(state, state.fallback, attempt, ports);
  const tool = ports.find(call.name);
  const refuse = (result: ToolResult) => refuseCall(state, tool, result, ports);
  const given = givenAnswer(state, call.name);
  if (tool === undefined) {
    if (given?.answer.decision === 'reject') return refuseRejected(state, given, ports);
    assertToolIsThere(ports.ledger, given, call.agent);
    if (settleBegun(state, ports, noTool(state))) return;
    return refuse(
      call.name === unreadableAction
        ? unreadable(ports.ledger.resolve(call.args))
        : toolResult.permanent(unknownToolMessage(call.name, ports.names, ports.hasListedNames), {
            errorType: unknownToolType,
          }),
    );
  }
  if (call.invalid !== undefined) {
    const { invalid } = call;
    const why = `The arguments are not JSON: ${invalid}. Call the tool again with a JSON object.`;
    return refuse(toolResult.permanent(why, { errorType: 'validation_error' }));
  }
  const validating = validateArgs(tool, ports.ledger.resolve(call.args));
  const validated =
    validating instanceof Promise ? (await untilAborted(validating, ports))?.value : validating;
  if (validated === undefined) return refuseCancelled(state, ports);
  const misspelled = validated.ok ? misspelledIn(state, tool, ports) : undefined;
  if (misspelled !== undefined)
    return refuse(toolResult.permanent(misspelled.message, { errorType: 'validation_error' }));
  if (validated.ok) return runAttempt({ state, tool, attempt, args: validated.args }, ports);
  if (given === undefined) {
    if (settleBegun(state, ports, unfitTool(state))) return;
    return refuse(toolResult.permanent(validated.message, { errorType: 'validation_error' }));
  }
  if (given.answer.decision === 'reject') return refuseRejected(state, given, ports);
  const answered = await answeredArgs(ports.ledger, given, tool);
  if (isReleased(ports)) return;
  if (answered !== undefined)
    return runAttempt({ state, tool, attempt, args: answered.args }, ports);
  assertArgsFit(ports.ledger, given);
  refuse(toolResult.permanent(validated.message, { errorType: 'validation_error' }));
}

/**
 * Finds misspelled arguments of a call for which nothing was done yet. A call that an earlier
 * version of this code has begun, or has asked about, goes on.
 */
function misspelledIn(
  { attempts, call, generation }: CallState,
  tool: Tool,
  { ledger }: ToolCallPorts,
): ReturnType<typeof misspelledArgs> {
  const isBegun = attempts.length > 0 || generation > 0;
  if (isBegun || ledger.ports.recording?.hasBegun(call.callId) === true) return undefined;
  return misspelledArgs(tool, ledger.resolve(call.args));
}

/** Refuses a call that a person rejected. That needs no tool. */
function refuseRejected(
  state: CallState,
  { answer }: RequestWithAnswer,
  { ledger, path }: ToolCallPorts,
): void {
  ledger.append([refusalDraft(state, path, requestRejected(answer.reason))]);
}

/** Settles a call that was cancelled before its attempt. A released run leaves the call open. */
function refuseCancelled(state: CallState, ports: ToolCallPorts): void {
  if (isReleased(ports)) return;
  ports.ledger.append([refusalDraft(state, ports.path, cancelledBefore())]);
}
