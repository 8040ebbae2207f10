import type { CallState } from '../../loop/call-state.ts';
import { toolResult } from '../../tools/result.ts';
import { isReleased } from '../released.ts';
import { assertToolIsThere, givenAnswer } from '../request/unused-answer.ts';
import { runAttempt } from './attempt/run-attempt.ts';
import { noTool, settleBegun, unfitTool } from './begun-work.ts';
import { fallbackArgs } from './fallback-args.ts';
import { attemptsOf } from './made-attempts.ts';
import type { ToolCallPorts } from './ports.ts';
import { refusalDraft, supervisedRefusal } from './refusal-draft.ts';
/** Makes the attempt with the fallback tool. */
export async function performFallback(
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
    return runAttempt({ state, tool, attempt, args: found.args }, ports);
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
