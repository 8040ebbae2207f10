import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { CallState } from '../../loop/call-state.ts';
import { validateArgs } from '../../tools/validate.ts';
import { fallbackArgs } from './fallback-args.ts';
import type { ToolCallPorts } from './ports.ts';
import { refusalDraft } from './refusal-draft.ts';
import { unknownOutcome } from './result-texts.ts';
/**
 * Settles a call that has begun children or effects and cannot continue with the present code.
 * Their effects are not undone. The result therefore says that the outcome is unknown, and not that
 * nothing has happened. Returns false when the call has begun nothing.
 * @throws LedgerMismatchError when a child or an effect of the call is open
 */
export function settleBegun(state: CallState, ports: ToolCallPorts, found: string): boolean {
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

/** Finding that the tool of a call is missing. */
export const noTool = ({ call, fallback }: CallState): string =>
  `no tool ${fallback ?? call.name} of the agent ${call.agent}`;
/** Finding that the tool of a call no longer takes its arguments. */
export const unfitTool = ({ call, fallback }: CallState): string =>
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
