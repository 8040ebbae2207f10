import { toErrorRecord } from '../../base/error.ts';
import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { AnsweredRequest, AttemptState, CallState } from '../../loop/call-state.ts';
import { toolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool.ts';
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
import { AttemptRun } from './attempt.ts';
import { attemptsOf } from './made-attempts.ts';
import type { ToolCallPorts } from './ports.ts';
import { refuseCall } from './preparation.ts';
import { refusalDraft, supervisedRefusal } from './refusal-draft.ts';
import { cancelledBefore, requestRejected, unknownOutcome } from './result-texts.ts';

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
  if (ports.scope.aborted)
    return void (
      isReleased(ports) || ports.ledger.append([refusalDraft(state, ports.path, cancelledBefore())])
    );
  if (state.fallback !== undefined) return performFallback(state, state.fallback, attempt, ports);
  const tool = ports.find(call.name);
  const refuse = (result: ToolResult) => refuseCall(state, tool, result, ports);
  const given = givenAnswer(state, call.name);
  if (tool === undefined) {
    if (given?.answer.decision === 'reject') return refuseRejected(state, given, ports);
    assertToolIsThere(ports.ledger, given, call.agent);
    if (settleBegun(state, ports, noTool(state))) return;
    return refuse(
      toolResult.permanent(unknownToolMessage(call.name, ports.names), {
        errorType: 'unknown_tool',
      }),
    );
  }
  if (call.invalid !== undefined) {
    const why = `The arguments are not JSON: ${call.invalid}. Call the tool again with a JSON object.`;
    return refuse(toolResult.permanent(why, { errorType: 'validation_error' }));
  }
  const validating = validateArgs(tool, ports.ledger.resolve(call.args));
  const validated =
    validating instanceof Promise ? (await untilAborted(validating, ports))?.value : validating;
  if (validated === undefined)
    return void (
      isReleased(ports) || ports.ledger.append([refusalDraft(state, ports.path, cancelledBefore())])
    );
  if (validated.ok) return new AttemptRun(state, tool, attempt, validated.args, ports).run();
  if (given === undefined) {
    if (settleBegun(state, ports, unfitTool(state))) return;
    return refuse(toolResult.permanent(validated.message, { errorType: 'validation_error' }));
  }
  if (given.answer.decision === 'reject') return refuseRejected(state, given, ports);
  const answered = await answeredArgs(ports.ledger, given, tool);
  if (isReleased(ports)) return;
  if (answered !== undefined)
    return new AttemptRun(state, tool, attempt, answered.args, ports).run();
  assertArgsFit(ports.ledger, given);
  refuse(toolResult.permanent(validated.message, { errorType: 'validation_error' }));
}

/**
 * Settles a call that has begun children or effects and cannot continue with the present code.
 * Their effects are not undone. The result therefore says that the outcome is unknown, and not that
 * nothing has happened. Returns false when the call has begun nothing.
 * @throws LedgerMismatchError when a child or an effect of the call is open
 */
function settleBegun(state: CallState, ports: ToolCallPorts, found: string): boolean {
  if (ports.begunBelow(state.call.callId) === undefined) return false;
  assertNothingOpen(state, ports, found);
  const result = unknownOutcome(`it had begun children or effects, and there is ${found} any more`);
  ports.ledger.append([refusalDraft(state, ports.path, result)]);
  return true;
}

/**
 * Asserts that a call with an open child or effect can continue with the present code. Called
 * before anything is recorded of its attempt.
 * @throws LedgerMismatchError (or rejects with it) when its tool is gone or no longer takes the
 * arguments
 */
export function assertContinuable(
  state: CallState,
  ports: ToolCallPorts,
): Promise<void> | undefined {
  if (ports.begunBelow(state.call.callId)?.open === undefined) return undefined;
  const tool = ports.find(state.fallback ?? state.call.name);
  if (tool === undefined) return void assertNothingOpen(state, ports, noTool(state));
  const judge = (fits: boolean): undefined =>
    void (fits || assertNothingOpen(state, ports, unfitTool(state)));
  if (state.fallback !== undefined)
    return fallbackArgs(state, tool, ports).then((found) => judge('args' in found));
  const validating = validateArgs(tool, ports.ledger.resolve(state.call.args));
  return validating instanceof Promise
    ? validating.then(({ ok }) => judge(ok))
    : judge(validating.ok);
}

const noTool = ({ call, fallback }: CallState): string =>
  `no tool ${fallback ?? call.name} of the agent ${call.agent}`;
const unfitTool = ({ call, fallback }: CallState): string =>
  `a tool ${fallback ?? call.name} that does not take the recorded arguments`;

/**
 * Asserts that no child or effect of the call is open, with which only its tool could go on.
 * @throws LedgerMismatchError when one is open
 */
function assertNothingOpen(
  { call }: CallState,
  { begunBelow }: Pick<ToolCallPorts, 'begunBelow'>,
  found: string,
): void {
  const open = begunBelow(call.callId)?.open;
  if (open !== undefined)
    throw new LedgerMismatchError({
      path: call.callId,
      recorded: `${open} of the tool ${call.name}`,
      found,
    });
}

/** Refuses a call that a person rejected. That needs no tool. */
function refuseRejected(
  state: CallState,
  { answer }: AnsweredRequest,
  { ledger, path }: ToolCallPorts,
): void {
  ledger.append([refusalDraft(state, path, requestRejected(answer.reason))]);
}

/** Makes the attempt with the fallback tool. */
async function performFallback(
  state: CallState,
  name: string,
  attempt: number,
  ports: ToolCallPorts,
): Promise<void> {
  const tool = ports.find(name);
  if (tool === undefined)
    assertToolIsThere(ports.ledger, givenAnswer(state, name), state.call.agent);
  const found =
    tool === undefined
      ? { why: `there is no tool ${name}` }
      : await fallbackArgs(state, tool, ports);
  if (isReleased(ports)) return;
  if (tool !== undefined && 'args' in found)
    return new AttemptRun(state, tool, attempt, found.args, ports).run();
  if (
    attemptsOf(state).length > 0 &&
    settleBegun(state, ports, tool === undefined ? noTool(state) : unfitTool(state))
  )
    return;
  const why = 'why' in found ? found.why : '';
  const supervised = ports.supervisor?.withoutFallback(state, why);
  // Without supervision, a missing fallback tool counts as an unknown tool.
  if (supervised === undefined)
    return void ports.ledger.append([
      refusalDraft(
        state,
        ports.path,
        toolResult.permanent(`The call failed, and ${why}.`, { errorType: 'unknown_tool' }),
      ),
    ]);
  ports.ledger.append(
    [...supervised.writes.drafts, supervisedRefusal(state, ports.path, supervised)],
    supervised.writes.extras,
  );
}

/** Returns the arguments for a fallback tool, or the reason why there are none. */
async function fallbackArgs(
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

/**
 * Records the outcome of an attempt that a stopped process left open. The `recovery` of its tool
 * asks a person or a probe.
 */
export async function performRecovery(
  state: CallState,
  attempt: AttemptState,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<void> {
  await (await attemptRun(state, attempt, tool, ports)).recover(attempt);
}

/** Carries out an answer about an attempt. */
export async function performResolution(
  state: CallState,
  attempt: AttemptState,
  answered: AnsweredRequest,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<void> {
  await (await attemptRun(state, attempt, tool, ports)).resolve(answered);
}

async function attemptRun(
  state: CallState,
  { attempt }: AttemptState,
  tool: Tool,
  ports: ToolCallPorts,
): Promise<AttemptRun> {
  if (state.fallback !== undefined) {
    const found = await fallbackArgs(state, tool, ports);
    return new AttemptRun(
      state,
      tool,
      attempt,
      'args' in found ? found.args : ports.ledger.resolve(state.call.args),
      ports,
    );
  }
  const given = ports.ledger.resolve(state.call.args);
  const validated = await validateArgs(tool, given);
  return new AttemptRun(state, tool, attempt, validated.ok ? validated.args : given, ports);
}
