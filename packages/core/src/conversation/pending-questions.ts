import { defined } from '../base/defined.ts';
import { isAdjutantError } from '../base/error.ts';
import { actorOf } from '../engine/requests/check.ts';
import type { RequestEntry } from '../engine/requests/list.ts';
import { isSaidBy } from '../ledger/actor.ts';
import type { Actor } from '../ledger/event.ts';
import type { PendingRequest } from '../session/pending-request.ts';
import { refusalsInARow } from './conversation-ledger.ts';
import { UserAnswerRefusedError } from './errors.ts';
import {
  type AnsweredRequest,
  type ConversationView,
  type GivenAnswer,
  isDone,
  type User,
  type UserDone,
  type UserQuestion,
} from './user.ts';

const defaultAttempts = 2;

/** The result of the questions that were open when a run stopped to wait. */
export interface QuestionRound {
  /** Requests that are settled now, by this user or by somebody else: the run can go on. */
  readonly settled: number;
  readonly given: readonly GivenAnswer[];
  /** Requests that the user does not answer. */
  readonly left: readonly PendingRequest[];
  readonly done: UserDone | undefined;
}

export interface RoundParts {
  readonly user: User;
  /** The part that is the same in all questions. */
  readonly view: ConversationView;
  /** The answers of the user in this conversation, read from the ledger. */
  readonly answered: readonly AnsweredRequest[];
  /** Answers that may still be given. */
  readonly most: number;
  /** Gives up waiting for the user when nobody wants to know any more. */
  readonly waitFor: <Value>(said: Value | Promise<Value>) => Promise<Value>;
  /** Told of what the user has answered so far. */
  readonly onAnswer: (answered: readonly AnsweredRequest[]) => void;
}

/**
 * Asks the user everything that a run waits for, one question after the other and in the order in
 * which they were asked.
 * @throws UserAnswerRefusedError, and whatever the user throws
 */
export async function askPending(
  calls: readonly PendingRequest[],
  parts: RoundParts,
): Promise<QuestionRound> {
  const { user, view } = parts;
  const rows = await entriesOf(calls, view);
  const before = calls.filter((call) => isOwn(rows.get(call.requestId), user));
  const known = new Set(parts.answered.map(({ requestId }) => requestId));
  const answered: AnsweredRequest[] = [
    ...parts.answered,
    ...before.filter(({ requestId }) => !known.has(requestId)).map(asAnswered),
  ];
  parts.onAnswer(answered);
  const given: GivenAnswer[] = [];
  const left: PendingRequest[] = [];
  let settled = 0;
  for (const call of calls) {
    const row = rows.get(call.requestId);
    // Somebody was first, or it is a question of the ledger that this is a copy of, which the run
    // asks anew.
    if (row?.status !== 'pending') {
      settled++;
      continue;
    }
    const by = actorFor(user, row);
    if (by === undefined || given.length >= parts.most) {
      left.push(call);
      continue;
    }
    const outcome = await askOne({ call, row, by, parts, answered });
    if (outcome === 'settled') settled++;
    else if (outcome === 'left') left.push(call);
    else if (isDone(outcome)) return { settled, given, left: [...left, call], done: outcome };
    else {
      settled++;
      given.push(outcome);
      answered.push(asAnswered(call));
      parts.onAnswer(answered);
    }
  }
  return { settled, given, left, done: undefined };
}

function asAnswered({ requestId, kind, name }: PendingRequest): AnsweredRequest {
  return { requestId, kind, toolName: name };
}

/** Reads the requests from the store. An answer may be in the store and not yet in the ledger. */
async function entriesOf(
  calls: readonly PendingRequest[],
  { app }: ConversationView,
): Promise<ReadonlyMap<string, RequestEntry>> {
  const found = await Promise.all(
    calls.map(({ requestId }) =>
      app.requests.get(requestId).catch((error: unknown) => {
        if (isAdjutantError(error, 'request_not_found')) return undefined;
        throw error;
      }),
    ),
  );
  return new Map(
    found.flatMap((row) => (row === undefined ? [] : [[row.requestId, row] as const])),
  );
}

function isOwn(row: RequestEntry | undefined, { ids }: User): boolean {
  return row?.status === 'answered' && ids.some((id) => actorOf(id) === row.settledBy);
}

/** Returns the first of the user's ids that may decide; `undefined` when none may. */
function actorFor({ ids }: User, { mayDecide }: RequestEntry): Actor | undefined {
  return ids
    .map((id) => actorOf(id))
    .find((actor) => mayDecide === undefined || mayDecide.some((id) => isSaidBy(actor, id)));
}

interface Asking {
  readonly call: PendingRequest;
  readonly row: RequestEntry;
  readonly by: Actor;
  readonly parts: RoundParts;
  readonly answered: readonly AnsweredRequest[];
}

const refusals: ReadonlySet<string> = new Set([
  'input_mismatch',
  'decision_not_offered',
  'invalid_answer',
  'not_json',
  'may_not_decide',
]);

async function askOne(asking: Asking): Promise<GivenAnswer | UserDone | 'settled' | 'left'> {
  const { call, by, parts } = asking;
  const { user, view } = parts;
  const { requestId } = call;
  const attempts = user.attempts ?? defaultAttempts;
  const wasRefused = refusalsInARow(view.session, requestId, user.ids);
  let refused =
    wasRefused === 0 ? undefined : 'The run did not take the last answer, and asks again.';
  if (wasRefused >= attempts)
    throw new UserAnswerRefusedError({
      question: questionOf(asking, refused),
      reason: refused ?? '',
      times: wasRefused,
    });
  for (let attempt = 1; ; attempt++) {
    const said = await parts.waitFor(user.answer(questionOf(asking, refused)));
    if (said === undefined) return 'left';
    if (isDone(said)) return said;
    try {
      await view.app.requests.answer(requestId, { ...said, by });
      return { ...asAnswered(call), decision: said.decision, input: said.input, by };
    } catch (error) {
      if (isAdjutantError(error, 'request_settled')) return 'settled';
      if (!isAdjutantError(error) || !refusals.has(error.code)) throw error;
      refused = error.message;
      if (attempt >= attempts)
        throw new UserAnswerRefusedError({
          question: questionOf(asking, refused),
          reason: refused,
          times: attempt,
        });
    }
  }
}

function questionOf(
  { call, row, parts, answered }: Asking,
  refused: string | undefined,
): UserQuestion {
  const { requestId, callId, kind, name, args } = call;
  const { agent, summary, options, details, inputSchema, operationId, expiresAt } = row;
  return {
    ...parts.view,
    requestId,
    callId,
    kind,
    agent,
    toolName: name,
    args,
    summary,
    options,
    answered: [...answered],
    ...defined({ details, inputSchema, operationId, expiresAt, refused }),
  };
}
