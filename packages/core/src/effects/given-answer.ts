import { LedgerMismatchError } from '../ledger/errors.ts';
import type { RequestDecision } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { AnsweredRequest, CallState } from '../loop/call-state.ts';
import type { Tool } from '../tools/tool.ts';
import { validateArgs } from '../tools/validate.ts';
import { attemptsOf } from './tool-ports.ts';

/** Answers that say that nothing is to be done: they count without the tool. */
const withoutTool: ReadonlySet<RequestDecision | undefined> = new Set([
  'reject',
  'cancel',
  'expire',
  'escalate',
  'report',
]);

/**
 * Whether somebody has said that something is to be done, so that the tool is needed for it. The
 * answers of another ledger do not count in its copy.
 */
export function needsTool(
  ledger: Pick<Ledger, 'requestId'>,
  { request, answer }: AnsweredRequest,
): boolean {
  const { requestId, callId, generation } = request;
  return (
    !withoutTool.has(answer.decision) &&
    answer.by !== 'runtime' &&
    requestId === ledger.requestId(callId, generation)
  );
}

/**
 * The last thing that somebody has said about a call that is about to be attempted with the tool of
 * this name, and that has not been used.
 */
export function givenAnswer(state: CallState, name: string): AnsweredRequest | undefined {
  if (attemptsOf(state).length > 0) return undefined;
  return state.answered.findLast(
    ({ request }) => request.attempt === undefined && request.name === name,
  );
}

/**
 * Arguments that the tool takes, of those that somebody has answered about: edited ones, or those
 * that were asked about.
 */
export async function answeredArgs(
  ledger: Ledger,
  { request, answer }: AnsweredRequest,
  tool: Tool,
): Promise<{ readonly args: unknown } | undefined> {
  for (const given of answer.decision === 'edit' ? [answer.input, request.args] : [request.args]) {
    const validated = await validateArgs(tool, ledger.resolve(given));
    if (validated.ok) return { args: validated.args };
  }
  return undefined;
}

/**
 * Why an answer that somebody gave cannot be used with the code as it is now. Nothing is done in
 * its place: with the right code it counts.
 * @param why of the tool
 */
function unusableAnswer({ request, answer }: AnsweredRequest, why: string): LedgerMismatchError {
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
 * @throws LedgerMismatchError when somebody has said that something is to be done, for which the
 * tool is missing
 */
export function assertToolIsThere(
  ledger: Ledger,
  given: AnsweredRequest | undefined,
  agent: string,
): void {
  if (given !== undefined && needsTool(ledger, given))
    throw unusableAnswer(given, `no tool ${given.request.name} of the agent ${agent}`);
}

/**
 * @throws LedgerMismatchError when somebody has said that something is to be done, with arguments
 * that the tool does not take any more
 */
export function assertArgsFit(ledger: Ledger, given: AnsweredRequest | undefined): void {
  if (given !== undefined && needsTool(ledger, given))
    throw unusableAnswer(given, `a tool ${given.request.name} that does not take these arguments`);
}
