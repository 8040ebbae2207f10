import { defined } from '../../../base/defined.ts';
import { sha256 } from '../../../base/hash.ts';
import { canonicalJson, type JsonValue } from '../../../base/json.ts';
import type { AnySchema } from '../../../base/schema.ts';
import {
  ask,
  type Question as Request,
  requestDecision,
  sameQuestion,
} from '../../../effects/request/question.ts';
import { withdrawIfStale } from '../../../effects/request/withdraw-stale.ts';
import type { ResolvedDefaults } from '../../../effects/runtime-defaults.ts';
import type { EventOf, RequestDecision } from '../../../ledger/event.ts';
import type { Approval, Question } from '../../../runnables/waits.ts';
import { checkValue } from '../../../tools/validate.ts';
import { explainPlaces } from '../../../tools/validation-issue.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { cancelledEnd, isReleased } from '../invoke.ts';

/** A question with the answer that it has got. */
interface Answered {
  readonly request: EventOf<'tool_yield'>;
  readonly answer: EventOf<'tool_input'>;
}

/** Asks people, unless the ledger has the question already, and waits for their answer. */
export async function runQuestion(
  question: Question,
  frame: BodyFrame,
): Promise<BodyEnd | undefined> {
  const { run, scope } = frame;
  for (;;) {
    if (scope.aborted) return isReleased(run, scope) ? undefined : cancelledEnd(scope);
    const { request, answer, isReopened } = lastAsked(frame);
    if (request === undefined) ask(run.ledger, requestOf(question, frame, 1));
    else if (answer !== undefined && !isReopened && countsHere(frame, request)) {
      const end = await endBy(question, frame, { request, answer });
      if (end !== undefined) return end;
    } else if (
      answer !== undefined ||
      !run.ledger.requests.has(request.requestId) ||
      isStale(question, frame, request)
    )
      ask(run.ledger, requestOf(question, frame, request.generation + 1));
    else await answerTo(frame, request);
  }
}

/** Returns the last request of a question, and its answer. A reopened question has none yet. */
function lastAsked({ record }: BodyFrame): {
  readonly request: EventOf<'tool_yield'> | undefined;
  readonly answer: EventOf<'tool_input'> | undefined;
  readonly isReopened: boolean;
} {
  const reopen = record.events.findLast((event) => event.type === 'invocation_reopen');
  const request = record.events.findLast((event) => event.type === 'tool_yield');
  const answer = record.events.findLast(
    (event) => event.type === 'tool_input' && event.requestId === request?.requestId,
  );
  return {
    request: request as EventOf<'tool_yield'> | undefined,
    answer: answer as EventOf<'tool_input'> | undefined,
    isReopened: (reopen?.seq ?? 0) > (answer?.seq ?? Number.POSITIVE_INFINITY),
  };
}

/**
 * False for an approval of the ledger that this one is a copy of: it holds once. Other answers are
 * only information.
 */
function countsHere(
  { run }: BodyFrame,
  { requestId, callId, generation, kind }: EventOf<'tool_yield'>,
): boolean {
  return kind !== 'approval' || requestId === run.ledger.requestId(callId, generation);
}

/** Withdraws a request of another ledger, or one that the code now words in another way. */
function isStale(
  question: Question,
  { run, record }: BodyFrame,
  request: EventOf<'tool_yield'>,
): boolean {
  const { ledger } = run;
  if (request.fingerprint !== fingerprintOf(question)) {
    const { requestId, callId, kind } = request;
    const why = 'The question is not waited for any more: it has changed since it was asked.';
    ledger.append([requestDecision(record.path, 'withdraw', why, { requestId, callId, kind })], {
      settles: [{ requestId, status: 'withdrawn', by: 'runtime' }],
    });
    return true;
  }
  withdrawIfStale(ledger, record.path, request, undefined);
  return !ledger.requests.has(request.requestId);
}

/** Resolves when a request has an answer, or the body is to stop. */
async function answerTo(
  { run, record, scope, activity }: BodyFrame,
  { requestId }: EventOf<'tool_yield'>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waits = true;
  activity.judgeBy(() => (waits ? 'waiting' : 'busy'), 'tool_input');
  const forgetDrafts = run.ledger.onDraft((event) => {
    if (event.type === 'tool_input' && event.requestId === requestId) resolve();
    if (event.type === 'tool_yield' && event.callId === record.path) resolve();
  });
  const forgetAbort = scope.onAbort(() => resolve());
  activity.reportWait();
  await promise;
  waits = false;
  forgetDrafts();
  forgetAbort();
}

/** Returns the end by an answer; `undefined` when the question is asked again. */
async function endBy(
  question: Question,
  frame: BodyFrame,
  { request, answer }: Answered,
): Promise<BodyEnd | undefined> {
  const { run } = frame;
  const { decision, by, reason } = answer;
  const given = request.request.onExpire;
  switch (decision) {
    case 'escalate':
      escalate(question, frame, request);
      return undefined;
    case 'cancel':
      return unanswered('cancelled', request, answer);
    case 'expire':
      if (typeof given === 'object')
        return decided(question, frame, { request, answer }, given.default);
      return question.schema === undefined
        ? approvalEnd({ approved: false, by, ...defined({ reason }) })
        : unanswered('expired', request, answer);
    case 'approve':
      return approvalEnd({ approved: true, by, ...defined({ reason }) });
    case 'reject':
      return question.schema === undefined
        ? approvalEnd({ approved: false, by, ...defined({ reason }) })
        : unanswered('rejected', request, answer);
    default:
      return decided(
        question,
        frame,
        { request, answer },
        run.ledger.resolve(answer.input) as JsonValue,
      );
  }
}

/** Checks a value, and ends the question with it. A value that does not fit is asked for again. */
async function decided(
  question: Question,
  { run, record }: BodyFrame,
  { request, answer }: Answered,
  value: JsonValue,
): Promise<BodyEnd | undefined> {
  const { edits, schema } = question;
  const isEdit = edits !== undefined && answer.decision === 'edit';
  if (schema === undefined && !isEdit)
    return approvalEnd({ approved: value === 'approve', by: answer.by });
  const checked = await checkValue(schema ?? (edits as AnySchema), value);
  if ('value' in checked) {
    const { by, reason } = answer;
    const input = checked.value as JsonValue;
    return isEdit
      ? approvalEnd({ approved: true, by, ...defined({ reason }), input })
      : { status: 'completed', output: input };
  }
  const places = 'issues' in checked ? explainPlaces(checked.issues) : checked.unusable;
  // A default that does not fit would lead to the same request again and again.
  if (answer.decision === 'expire') return unanswered('expired', request, answer);
  const { requestId, callId, kind } = request;
  const why = `The answer is not used: it does not fit: ${places}`;
  ask(run.ledger, sameQuestion(run.ledger, request), [
    requestDecision(record.path, 'ask_again', why, { requestId, callId, kind }),
  ]);
  return undefined;
}

function approvalEnd(approval: Approval): BodyEnd {
  return { status: 'completed', output: { ...approval } };
}

const ends = {
  expired: { code: 'question_expired', text: 'Nobody answered in time' },
  rejected: { code: 'question_rejected', text: 'The question was rejected' },
  cancelled: { code: 'question_cancelled', text: 'The question was cancelled' },
} as const;

/** End of a question without an answer; `ctx.ask` throws it. */
function unanswered(
  how: keyof typeof ends,
  { requestId, name }: EventOf<'tool_yield'>,
  { by, reason }: EventOf<'tool_input'>,
): BodyEnd {
  const { code, text } = ends[how];
  const told = how === 'expired' || reason === undefined ? '' : `: ${reason}`;
  return {
    status: 'error',
    error: {
      name: 'QuestionUnansweredError',
      code,
      message: `${text} ("${name}")${told}.`,
      data: { requestId, key: name, by, ...defined({ reason }) },
    },
  };
}

function fingerprintOf({ name, options, inputSchema }: Question): string {
  const { message, details = null, mayDecide = null } = options;
  return sha256(
    canonicalJson([name, message, details, mayDecide as JsonValue, inputSchema ?? null]),
  ).slice(0, 32);
}

/** Milliseconds that a question can be answered; `undefined` for no end. */
function lifetimeOf(
  { options, schema }: Question,
  { approvalExpiresInMs, inputExpiresInMs }: ResolvedDefaults,
): number | undefined {
  const usual = schema === undefined ? approvalExpiresInMs : inputExpiresInMs;
  const lasts = options.expiresInMs ?? usual;
  return lasts === false ? undefined : lasts;
}

function requestOf(question: Question, { run, record }: BodyFrame, generation: number): Request {
  const { options, schema, inputSchema, asker, name } = question;
  const isApproval = schema === undefined;
  const { details, mayDecide, onExpire, escalateTo } = options;
  const lasts = lifetimeOf(question, run.app.defaults);
  const own = options.expiresInMs === false ? undefined : options.expiresInMs;
  // The default of the app for input is no part of the request, as with tools.
  const expiresIn = isApproval ? lasts : own;
  return {
    kind: isApproval ? 'approval' : 'input',
    path: record.path,
    callId: record.path,
    name,
    args: null,
    generation,
    fingerprint: fingerprintOf(question),
    expiresAt: lasts === undefined ? undefined : run.app.clock.now() + lasts,
    request: {
      agent: asker,
      summary: options.message,
      options: optionsOf(question),
      ...defined({ details, inputSchema, mayDecide, expiresIn, onExpire, escalateTo }),
    },
  };
}

function optionsOf({ schema, edits }: Question): readonly RequestDecision[] {
  if (schema !== undefined) return ['answer', 'reject'];
  return edits === undefined ? ['approve', 'reject'] : ['approve', 'edit', 'reject'];
}

/** Asks the people that the question escalates to. */
function escalate(
  question: Question,
  frame: BodyFrame,
  { requestId, callId, kind, generation, request: { escalateTo = [] } }: EventOf<'tool_yield'>,
): void {
  const again = requestOf(question, frame, generation + 1);
  const { escalateTo: _, ...rest } = again.request;
  const request = { ...rest, mayDecide: escalateTo, onExpire: 'reject' as const };
  const why = `Nobody answered in time: it goes to ${escalateTo.join(', ')}.`;
  ask(frame.run.ledger, { ...again, request }, [
    requestDecision(frame.record.path, 'escalate', why, { requestId, callId, kind }),
  ]);
}
