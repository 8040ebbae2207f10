import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { RequestDecision } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { CallState, RequestWithAnswer } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool.ts';
import { validateArgs } from '../../tools/validate.ts';
import { attemptsOf } from '../tool-call/made-attempts.ts';

/** Decisions by which nothing is done. They count without the tool. */
const withoutTool: ReadonlySet<RequestDecision | undefined> = new Set([
  'reject',
  'cancel',
  'expire',
  'escalate',
  'report',
]);

/**
 * True when a person decided that something is done, so that the tool is needed. In a copy of a
 * ledger, the answers of the original do not count.
 */
export function needsTool(
  ledger: Pick<Ledger, 'requestId'>,
  { request, answer }: RequestWithAnswer,
): boolean {
  const { requestId, callId, generation } = request;
  return (
    !withoutTool.has(answer.decision) &&
    answer.by !== 'runtime' &&
    requestId === ledger.requestId(callId, generation)
  );
}

/**
 * Returns the last unused answer about a call that is about to be attempted with the named tool.
 */
export function givenAnswer(state: CallState, name: string): RequestWithAnswer | undefined {
  if (attemptsOf(state).length > 0) return undefined;
  return state.answered.findLast(
    ({ request }) => request.attempt === undefined && request.name === name,
  );
}

/**
 * Returns arguments that fit the tool: the edited ones of an answer, else those of the request.
 * `undefined`: neither fit.
 */
export async function answeredArgs(
  ledger: Ledger,
  { request, answer }: RequestWithAnswer,
  tool: Tool,
): Promise<{ readonly args: unknown } | undefined> {
  for (const given of answer.decision === 'edit' ? [answer.input, request.args] : [request.args]) {
    const validated = await validateArgs(tool, ledger.resolve(given));
    if (validated.ok) return { args: validated.args };
  }
  return undefined;
}

/**
 * Error for an answer that cannot be used with the present code. Nothing is done instead: with the
 * right code the answer counts.
 * @param why the fault of the tool
 */
function unusableAnswer({ request, answer }: RequestWithAnswer, why: string): LedgerMismatchError {
  const { callId, name, kind, requestId } = request;
  const said = answer.decision === undefined ? 'an answer' : `the answer "${answer.decision}"`;
  return new LedgerMismatchError({
    path: callId,
    recorded:
      `${said} by ${answer.by} to the question (${kind}) about the tool ${name}, request ` +
      `"${requestId}", that has not been used yet`,
    found: why,
    advice: 'Nothing has been done. Restore the tool, and the answer counts; or cancel the run.',
  });
}

/**
 * @throws LedgerMismatchError when a person decided that something is done, but its tool is missing
 */
export function assertToolIsThere(
  ledger: Ledger,
  given: RequestWithAnswer | undefined,
  agent: string,
): void {
  if (given !== undefined && needsTool(ledger, given))
    throw unusableAnswer(given, `no tool ${given.request.name} of the agent ${agent}`);
}

/**
 * @throws LedgerMismatchError when a person decided that something is done, but the tool no longer
 * takes its arguments
 */
export function assertArgsFit(ledger: Ledger, given: RequestWithAnswer | undefined): void {
  if (given !== undefined && needsTool(ledger, given))
    throw unusableAnswer(given, `a tool ${given.request.name} that does not take these arguments`);
}
