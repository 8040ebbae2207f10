import { defined } from '../../base/defined.ts';
import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isNonEmptyText,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { isSaidBy, kindOf, namedActor } from '../../ledger/actor.ts';
import type { StandingExtent } from '../../ledger/decisions/runtime-decisions.ts';
import { NotJsonError, RequestSettledError } from '../../ledger/errors.ts';
import type { Actor, RequestDecision } from '../../ledger/event.ts';
import type { RequestRow } from '../../ledger/port.ts';
import type { Answer } from '../../session/answer.ts';
import { isQuestion } from '../../session/pending-request.ts';
import { isToolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool.ts';
import {
  mismatchWithShown,
  validateArgs,
  validateInput,
  validateOutput,
} from '../../tools/validate.ts';
import { explainPlaces } from '../../tools/validation-issue.ts';
import { isStandingExtent } from '../frame/standing-extent.ts';
import {
  DecisionNotOfferedError,
  InputMismatchError,
  InvalidAnswerError,
  MayNotDecideError,
} from './errors.ts';
import { assertMayStand } from './standing.ts';

/** Author of an answer, and the reason for it. */
export interface AnsweredBy {
  /**
   * Actor such as `user:ann` or `operator:cfo`; a name without a kind is the name of a user.
   * @default 'user'
   */
  readonly by?: string;
  readonly reason?: string;
}

/** Answer to a request. */
export interface RequestAnswer extends AnsweredBy {
  /** One of the request's options. @default 'answer', where that is an option */
  readonly decision?: RequestDecision;
  /**
   * The input, the edited arguments, the result, or the amount by which a limit may be exceeded.
   */
  readonly input?: JsonValue;
  /**
   * Key of the message that gives the answer. A run that is then asked for under this name, with
   * the answer as its `input`, is the one that got it: the message counts once.
   */
  readonly clientKey?: string;
  /**
   * Later calls of the tool in this session that an approval allows as well: equal ones (`call`),
   * all (`tool`), or those whose paths lie in a folder. @default none
   */
  readonly always?: StandingExtent;
}

const answerChecks: OptionChecks<RequestAnswer> = {
  decision: isNonEmptyText,
  input: isAnything,
  by: isNonEmptyText,
  reason: isText,
  clientKey: isNonEmptyText,
  always: isStandingExtent,
};

const insiders: ReadonlySet<string | undefined> = new Set(['runtime', 'model', 'tool']);

/**
 * Returns the actor in its full form: a name without a kind is the name of a user.
 * @throws InvalidAnswerError for an actor inside the runtime, which cannot answer
 */
export function actorOf(by: string = 'user'): Actor {
  // Also when no name follows the colon.
  const kind = kindOf(by.replace(/:$/, ''));
  if (insiders.has(kind))
    throw new InvalidAnswerError({
      reason: `\`by\` must be a user, operator or trigger, not ${by}`,
    });
  return namedActor(by);
}

/** Time and tools for the check of an answer. */
export interface CheckPorts {
  readonly now: number;
  /** Finds the tool of an agent, when this process knows it. */
  findTool(agent: string, name: string): Tool | undefined;
}

/**
 * Checks an answer before it is posted, so that its author learns of mistakes and the request stays
 * pending. The process that works on the session checks it again.
 * @throws InvalidAnswerError, RequestSettledError, DecisionNotOfferedError, MayNotDecideError,
 * InputMismatchError, NotJsonError
 */
export async function checkedAnswer(
  row: RequestRow,
  given: RequestAnswer,
  ports: CheckPorts,
): Promise<Answer> {
  const invalid = findInvalidOption(given, answerChecks);
  if (invalid !== undefined) throw new InvalidAnswerError({ reason: invalid.reason });
  const by = actorOf(given.by);
  assertPending(row, ports.now);
  const decision = decisionOf(row, given);
  assertMayDecide(row, by);
  await checkInput(row, decision, given.input, ports);
  const { input, reason, clientKey, always } = given;
  if (always !== undefined) checkStanding(row, decision, always, ports);
  return defined({ decision, by, input, reason, clientKey, always });
}

function checkStanding(
  row: RequestRow,
  decision: RequestDecision,
  always: StandingExtent,
  { findTool }: CheckPorts,
): void {
  if (decision !== 'approve')
    throw new InvalidAnswerError({ reason: `\`always\` goes with 'approve', not '${decision}'` });
  const tool = isQuestion(row) ? undefined : findTool(row.request.agent, row.name);
  assertMayStand(row, always, tool);
}

/** @throws RequestSettledError */
export function assertPending(
  { requestId, status, settledBy, expiresAt }: RequestRow,
  now: number,
): void {
  if (status !== 'pending') throw new RequestSettledError({ requestId, status, by: settledBy });
  if (expiresAt !== undefined && expiresAt <= now)
    throw new RequestSettledError({ requestId, status: 'expired' });
}

/** @throws MayNotDecideError */
export function assertMayDecide({ requestId, mayDecide }: RequestRow, by: Actor): void {
  if (mayDecide === undefined || mayDecide.some((id) => isSaidBy(by, id))) return;
  throw new MayNotDecideError({ requestId, by, mayDecide });
}

function decisionOf(
  { requestId, request: { options } }: RequestRow,
  { decision }: RequestAnswer,
): RequestDecision {
  const chosen = decision ?? (options.includes('answer') ? 'answer' : undefined);
  if (chosen !== undefined && options.includes(chosen)) return chosen;
  throw new DecisionNotOfferedError({ requestId, decision: chosen ?? 'no decision', options });
}

async function checkInput(
  row: RequestRow,
  decision: RequestDecision,
  input: JsonValue | undefined,
  ports: CheckPorts,
): Promise<void> {
  const { requestId, name } = row;
  const refuse = (reason: string): never => {
    throw new InputMismatchError({ requestId, name, reason });
  };
  const defect = input === undefined ? undefined : findJsonDefect(input);
  if (defect !== undefined)
    throw new NotJsonError({ what: `The input for request "${requestId}"`, ...defect });
  if (decision === 'edit' || decision === 'answer') {
    if (input === undefined)
      refuse(decision === 'edit' ? '`input` must be the edited arguments' : '`input` is missing');
  } else if (input !== undefined && decision !== 'succeeded' && decision !== 'continue')
    refuse(`'${decision}' takes no input`);
  if (decision === 'continue' && input !== undefined && !(typeof input === 'number' && input > 0))
    refuse('`input` must be a number greater than 0');
  const tool = isQuestion(row) ? undefined : ports.findTool(row.request.agent, name);
  const mismatch = await (tool === undefined
    ? mismatchUnseen(row, decision, input)
    : mismatchWith(tool, row, decision, input));
  if (mismatch !== undefined) refuse(mismatch);
}

/** Like `mismatchWith`, without the tool: uses the schema in the request. */
async function mismatchUnseen(
  { kind, name, request }: RequestRow,
  decision: RequestDecision,
  input: JsonValue | undefined,
): Promise<string | undefined> {
  const { inputSchema } = request;
  const what =
    decision === 'edit'
      ? 'the arguments do'
      : decision === 'answer' && kind === 'input'
        ? 'the input does'
        : undefined;
  if (what === undefined || inputSchema === undefined) return undefined;
  const places = await mismatchWithShown(name, inputSchema, input);
  return places === undefined ? undefined : `${what} not fit: ${places}`;
}

/** Returns the places that do not fit the schema of the tool, with the expected values. */
async function mismatchWith(
  tool: Tool,
  { kind }: RequestRow,
  decision: RequestDecision,
  input: JsonValue | undefined,
): Promise<string | undefined> {
  if (decision === 'edit') {
    const checked = await validateArgs(tool, input);
    return checked.ok ? undefined : `the arguments do not fit: ${explainPlaces(checked.issues)}`;
  }
  if (decision === 'answer' && kind === 'input') {
    const checked = await validateInput(tool, input);
    return checked.ok ? undefined : checked.message;
  }
  const isResult = (decision === 'answer' && kind === 'result') || decision === 'succeeded';
  if (!isResult || isToolResult(input)) return undefined;
  const checked = await validateOutput(tool, input ?? null);
  return checked.ok ? undefined : `the result does not fit: ${explainPlaces(checked.issues)}`;
}
