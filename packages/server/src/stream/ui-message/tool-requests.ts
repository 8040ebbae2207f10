import type { EventOf } from 'adjutant';
import { defined } from 'adjutant/text';
import type { RequestDescription } from './chunk.ts';
import {
  add,
  type Conversation,
  findCall,
  settled,
  textOf,
  withCall,
  withData,
  withNextAnswer,
  withRound,
} from './conversation-state.ts';
import { additionsOf } from './own-parts.ts';
import type { ToolOutcome } from './part.ts';

export function asked(before: Conversation, event: EventOf<'tool_yield'>): Conversation {
  const { callId, requestId, name, kind, seq, invocationId = '', args } = event;
  const known = findCall(before, callId);
  // A call that is shown already asks there, where its outcome will be.
  const state = known === undefined && before.isNextTaken ? withNextAnswer(before) : before;
  const { hidden } = state;
  const made =
    known ??
    (callId in hidden || isApproval(kind)
      ? { name, input: { value: args }, ...hidden[callId] }
      : undefined);
  const shown =
    known === undefined && made !== undefined
      ? add(state, {
          kind: 'tool',
          id: callId,
          inputText: '',
          ...made,
          order: seq,
          from: invocationId,
        })
      : state;
  const noted = { ...shown, asked: { ...shown.asked, [requestId]: event } };
  const description = descriptionOf(event);
  if (isApproval(kind))
    return withCall(noted, callId, () => ({ approval: { id: requestId, description } }));
  const data = {
    requestId,
    kind,
    toolCallId: callId,
    toolName: name,
    status: 'pending' as const,
    ...description,
  };
  return settled(
    add(noted, { kind: 'request', id: requestId, data, order: seq, from: invocationId }),
  );
}

/** True when a request asks for an approval, for which the SDK has a part. */
function isApproval(kind: EventOf<'tool_yield'>['kind']): boolean {
  return kind === 'approval' || kind === 'repeat';
}

function descriptionOf({ request, expiresAt }: EventOf<'tool_yield'>): RequestDescription {
  const { summary, options, details, inputSchema, mayDecide } = request;
  return {
    summary,
    options,
    ...defined({ details, inputSchema, mayDecide, expiresAt }),
  };
}

export function answered(
  state: Conversation,
  { requestId, callId, decision, input, reason }: EventOf<'tool_input'>,
): Conversation {
  const { [requestId]: request, ...others } = state.asked;
  if (request === undefined) return state;
  const noted = { ...state, asked: others };
  if (!isApproval(request.kind)) return withRequest(noted, requestId);
  if (decision !== 'approve' && decision !== 'edit' && decision !== 'reject') return noted;
  const approved = decision !== 'reject';
  const answer = { approved, ...defined({ reason }) };
  const denied = approved ? noted : { ...noted, denied: [...noted.denied, callId] };
  return withCall(denied, callId, ({ approval }) => ({
    ...(approval?.id === requestId ? { approval: { ...approval, answer } } : {}),
    ...(decision === 'edit' && input !== undefined ? { input: { value: input } } : {}),
  }));
}

function withRequest(state: Conversation, requestId: string): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const steps = answer.steps.map((step) => {
    if (!step.parts.some((part) => part.kind === 'request' && part.id === requestId)) return step;
    const parts = step.parts.map((part) =>
      part.kind === 'request' && part.id === requestId
        ? { ...part, data: { ...part.data, status: 'settled' as const } }
        : part,
    );
    return { ...step, parts };
  });
  return { ...state, answer: { ...answer, steps } };
}

function withoutQuestion(state: Conversation, requestId: string): Conversation {
  const { [requestId]: _, ...others } = state.asked;
  return { ...state, asked: others };
}

export function resulted(state: Conversation, event: EventOf<'tool_result'>): Conversation {
  const { callId, settled: isSettled, invocationId = '' } = event;
  if (!isSettled) return state;
  const told = withAdditions(
    withCall(state, callId, () => ({ outcome: outcomeOf(state, event) })),
    event,
  );
  const open = Object.values(told.asked).filter((request) => request.callId === callId);
  const quiet = open.reduce(
    (left, { requestId }) => withoutQuestion(withRequest(left, requestId), requestId),
    told,
  );
  const round = quiet.rounds[invocationId];
  if (round === undefined || !round.calls.includes(callId)) return quiet;
  const calls = round.calls.filter((each) => each !== callId);
  return withRound(
    quiet,
    invocationId,
    calls.length > 0 || round.isAnswering ? { ...round, calls } : undefined,
  );
}

/** Adds what the app shows besides the result: parts and metadata of the message. */
function withAdditions(state: Conversation, event: EventOf<'tool_result'>): Conversation {
  const { seq, invocationId = '' } = event;
  const { parts, metadata } = additionsOf(event);
  const shown = parts.reduce(
    (before, part) => withData(before, { ...part, order: seq, from: invocationId }),
    state,
  );
  const { answer } = shown;
  if (metadata === undefined || answer === undefined) return shown;
  return { ...shown, answer: { ...answer, metadata: { ...answer.metadata, ...metadata } } };
}

function outcomeOf(
  { denied }: Conversation,
  { callId, result }: EventOf<'tool_result'>,
): ToolOutcome {
  const { status, content } = result;
  if (status === 'success' || status === 'partial') return { type: 'output', output: content };
  return denied.includes(callId) ? { type: 'denied' } : { type: 'error', text: textOf(content) };
}
