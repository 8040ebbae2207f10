import {
  type EventOf,
  type Fold,
  foldEvent,
  isDurable,
  type JsonValue,
  type StreamEvent,
} from 'adjutant';
import { isRoot, runOf } from '../run-state.ts';
import type { RequestDescription } from './chunk.ts';
import { grown } from './growth.ts';
import type { TextPart, ToolOutcome, ToolPart } from './part.ts';
import {
  dropUnsure,
  type OpenRound,
  ordered,
  type PlacedPart,
  type PlacedStep,
  withPart,
} from './placed-part.ts';

/**
 * One answer of an agent to a message: what the run does from it on, to its end or to the next
 * message.
 */
export interface UiAnswer {
  /**
   * Id of the message in the chat: that of the run, or of the last of the inputs that it answers.
   */
  readonly id: string;
  /**
   * The inputs that it answers: the run, which is named as the first one, or those that came while
   * it was open.
   */
  readonly to: readonly string[];
  readonly run: string;
  readonly steps: readonly PlacedStep[];
}

/** How the run of an answer is doing. */
export type AnswerRest =
  | { readonly type: 'waiting'; readonly reason: EventOf<'invocation_yield'>['reason'] }
  | { readonly type: 'ended'; readonly end: EventOf<'invocation_end'> };

/** What is known of a session's last run, as a chat shows it. */
export interface Conversation {
  readonly answer: UiAnswer | undefined;
  /** Messages of the chat that the next step answers. */
  readonly next: readonly string[];
  /** Missing while it is at work. */
  readonly rest: AnswerRest | undefined;
  /** By invocation. */
  readonly rounds: Readonly<Record<string, OpenRound>>;
  /**
   * Calls that are not shown unless they ask for something: those of agents that work inside a
   * call.
   */
  readonly hidden: Readonly<Record<string, Pick<ToolPart, 'name' | 'input'>>>;
  /** Requests that are open, with the calls that they are about. */
  readonly asked: Readonly<Record<string, EventOf<'tool_yield'>>>;
  /** Calls that were not let through. */
  readonly denied: readonly string[];
}

export const noConversation: Conversation = {
  answer: undefined,
  next: [],
  rest: undefined,
  rounds: {},
  hidden: {},
  asked: {},
  denied: [],
};

const chatKey = /^chat_[0-9a-f]{20}$/;

type PlacedText = Extract<PlacedPart, TextPart>;
type Live = Extract<
  StreamEvent,
  { readonly type: 'assistant_delta' | 'thought_delta' | 'tool_args_delta' }
>;

/** Folds one more event of a session. Large values must have been put in. */
export function conversationAfter(state: Conversation, event: StreamEvent): Conversation {
  if (isDurable(event)) {
    if (event.type === 'invocation_start' && event.mode === 'root' && isRoot(event.invocationId))
      return begun(state, event);
    if (event.invocationId === undefined || runOf(event.invocationId) !== state.answer?.run)
      return state;
    return foldEvent(handlers, state, event);
  }
  switch (event.type) {
    case 'assistant_delta':
    case 'thought_delta':
    case 'tool_args_delta':
      return streamed(state, event);
    case 'stream_reset':
      return withSteps(state, (parts) => dropUnsure(parts, event.invocationId));
    case 'tool_progress':
      return state;
  }
}

/**
 * A run that is carried on has its start only once; one that begins anew under its name does not
 * happen.
 */
function begun(state: Conversation, { invocationId }: EventOf<'invocation_start'>): Conversation {
  const run = runOf(invocationId);
  return state.answer?.run === run
    ? state
    : { ...noConversation, answer: { id: run, to: [run], run, steps: [] } };
}

/** Whether an agent works inside a call: what it says is for who made the call. */
function isInsideCall(invocationId: string): boolean {
  return /\/r\d+\.\d+(?=[/>]|$)/.test(invocationId);
}

/** Changes the parts of the last step; begins one when there is none that is open. */
function withSteps(
  state: Conversation,
  change: (parts: readonly PlacedPart[]) => readonly PlacedPart[],
  opens = false,
): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const last = answer.steps.at(-1);
  if (last === undefined || (last.isDone && opens)) {
    const parts = opens ? change([]) : [];
    return parts.length === 0
      ? state
      : {
          ...state,
          answer: { ...answer, steps: [...answer.steps, { parts: ordered(parts), isDone: false }] },
        };
  }
  const parts = change(last.parts);
  if (parts === last.parts) return state;
  return {
    ...state,
    answer: {
      ...answer,
      steps: [...answer.steps.slice(0, -1), { ...last, parts: ordered(parts) }],
    },
  };
}

function add(state: Conversation, part: PlacedPart): Conversation {
  return withSteps(state, (parts) => withPart(parts, part), true);
}

/** Changes the part of a call, in whatever step it is. */
function withCall(
  state: Conversation,
  callId: string,
  change: (part: ToolPart) => Partial<ToolPart>,
): Conversation {
  const { answer } = state;
  if (answer === undefined) return state;
  const steps = answer.steps.map((step) => {
    if (!step.parts.some((part) => part.kind === 'tool' && part.id === callId)) return step;
    return {
      ...step,
      parts: step.parts.map((part) =>
        part.kind === 'tool' && part.id === callId ? { ...part, ...change(part) } : part,
      ),
    };
  });
  return { ...state, answer: { ...answer, steps } };
}

function findCall({ answer }: Conversation, callId: string): ToolPart | undefined {
  return answer?.steps
    .flatMap(({ parts }) => parts)
    .find((part): part is ToolPart & PlacedPart => part.kind === 'tool' && part.id === callId);
}

/** The step is over when nobody is in the middle of a round. */
function settled(state: Conversation): Conversation {
  const { answer, rounds } = state;
  const last = answer?.steps.at(-1);
  if (answer === undefined || last === undefined || last.isDone || Object.keys(rounds).length > 0)
    return state;
  return {
    ...state,
    answer: { ...answer, steps: [...answer.steps.slice(0, -1), { ...last, isDone: true }] },
  };
}

function withRound(
  state: Conversation,
  invocationId: string,
  round: OpenRound | undefined,
): Conversation {
  const { [invocationId]: _, ...others } = state.rounds;
  return round === undefined
    ? settled({ ...state, rounds: others })
    : { ...state, rounds: { ...others, [invocationId]: round } };
}

function streamed(state: Conversation, event: Live): Conversation {
  const { invocationId } = event;
  const round = state.rounds[invocationId];
  if (round?.isAnswering !== true || event.delta === '') return state;
  if (event.type === 'tool_args_delta') return streamedCall(state, round, event);
  const kind = event.type === 'assistant_delta' ? 'text' : 'reasoning';
  const id = `${invocationId}/r${round.round}:${kind}`;
  return withSteps(state, (parts) => {
    const known = parts.find((part) => part.kind === kind && part.id === id);
    const growth = grown(known?.kind === kind ? known.growth : undefined, event.delta);
    if (known === undefined)
      return [
        ...parts,
        {
          kind,
          id,
          text: event.delta,
          isDone: false,
          growth,
          from: invocationId,
          since: round.since,
          sure: '',
        },
      ];
    if (known.kind !== kind || known.order !== undefined) return parts;
    return withPart(parts, { ...known, text: known.text + event.delta, growth });
  });
}

function streamedCall(
  state: Conversation,
  round: OpenRound,
  event: Extract<Live, { type: 'tool_args_delta' }>,
): Conversation {
  const { invocationId, providerCallId, name, delta } = event;
  const known = round.streamedCalls.indexOf(providerCallId);
  const index = known < 0 ? round.streamedCalls.length : known;
  const id = `${invocationId}/r${round.round}.${index}`;
  const counted =
    known < 0
      ? withRound(state, invocationId, {
          ...round,
          streamedCalls: [...round.streamedCalls, providerCallId],
        })
      : state;
  return withSteps(counted, (parts) => {
    const part = parts.find((candidate) => candidate.kind === 'tool' && candidate.id === id);
    const growth = grown(part?.kind === 'tool' ? part.growth : undefined, delta);
    if (part === undefined)
      return [
        ...parts,
        {
          kind: 'tool',
          id,
          name,
          inputText: delta,
          growth,
          from: invocationId,
          since: round.since,
        },
      ];
    if (part.kind !== 'tool' || part.order !== undefined) return parts;
    return withPart(parts, { ...part, inputText: part.inputText + delta, growth });
  });
}

function modelStart(
  state: Conversation,
  { invocationId, round, seq }: EventOf<'model_start'>,
): Conversation {
  if (isInsideCall(invocationId)) return state;
  const isBetweenSteps = Object.keys(state.rounds).length === 0;
  const { answer, next } = state;
  const id = next.at(-1);
  const isNext = isBetweenSteps && id !== undefined && answer !== undefined;
  const fresh: Conversation = isNext
    ? { ...state, next: [], answer: { id, to: next, run: answer.run, steps: [] } }
    : state;
  const clean = withSteps(fresh, (parts) => dropUnsure(parts, invocationId));
  const opened = isBetweenSteps ? withOpenStep(clean) : clean;
  return withRound(opened, invocationId, {
    round,
    since: seq,
    isAnswering: true,
    calls: [],
    streamedCalls: [],
  });
}

function withOpenStep(state: Conversation): Conversation {
  const { answer } = state;
  if (answer === undefined || answer.steps.at(-1)?.isDone === false) return state;
  return {
    ...state,
    answer: { ...answer, steps: [...answer.steps, { parts: [], isDone: false }] },
  };
}

/**
 * What is durable of a text takes the place of what was streamed of it, at the latest when all of
 * it is there.
 */
function wrote(state: Conversation, event: EventOf<'assistant' | 'thought'>): Conversation {
  const { invocationId = '', seq, round } = event;
  if (isInsideCall(invocationId)) return state;
  // Of a message whose large value is lost only the reference is there.
  const text = textOf(event.text);
  const kind: TextPart['kind'] = event.type === 'assistant' ? 'text' : 'reasoning';
  const open = state.rounds[invocationId];
  if (round === undefined || open?.round !== round) {
    return settled(
      add(state, {
        kind,
        id: `${invocationId}/m${seq}`,
        text,
        isDone: true,
        order: seq,
        from: invocationId,
        sure: text,
      }),
    );
  }
  const id = `${invocationId}/r${round}:${kind}`;
  return withSteps(
    state,
    (parts) => {
      const known = parts.find((part): part is PlacedText => part.kind === kind && part.id === id);
      const part: PlacedText = known ?? { kind, id, text: '', isDone: false, from: invocationId };
      const sure = (part.sure ?? '') + text;
      return withPart(parts, {
        ...part,
        sure,
        text: part.text.startsWith(sure) ? part.text : sure,
        growth: undefined,
        order: part.order ?? seq,
      });
    },
    true,
  );
}

function called(state: Conversation, event: EventOf<'tool_call'>): Conversation {
  const { callId, invocationId = '', name, args, seq } = event;
  const input = { value: args };
  if (isInsideCall(invocationId))
    return { ...state, hidden: { ...state.hidden, [callId]: { name, input } } };
  const shown = add(state, {
    kind: 'tool',
    id: callId,
    name,
    inputText: '',
    input,
    order: seq,
    from: invocationId,
  });
  const round = state.rounds[invocationId];
  return round === undefined
    ? settled(shown)
    : withRound(shown, invocationId, { ...round, calls: [...round.calls, callId] });
}

function modelEnd(
  state: Conversation,
  { invocationId, status, retryAfterMs }: EventOf<'model_end'>,
): Conversation {
  const round = state.rounds[invocationId];
  if (round === undefined) return state;
  const sure = withSteps(state, (parts) => closed(dropUnsure(parts, invocationId), invocationId));
  const isRepeated = status === 'error' && retryAfterMs !== undefined;
  return withRound(
    sure,
    invocationId,
    round.calls.length > 0 || isRepeated ? { ...round, isAnswering: false } : undefined,
  );
}

/** The texts of an invocation are as they were recorded. */
function closed(parts: readonly PlacedPart[], invocationId: string): readonly PlacedPart[] {
  return parts.map((part) =>
    part.from === invocationId &&
    (part.kind === 'text' || part.kind === 'reasoning') &&
    !part.isDone
      ? { ...part, text: part.sure ?? part.text, growth: undefined, isDone: true }
      : part,
  );
}

function asked(state: Conversation, event: EventOf<'tool_yield'>): Conversation {
  const { callId, requestId, name, kind, seq, invocationId = '', args } = event;
  const { hidden } = state;
  const known = findCall(state, callId);
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

/** Whether a request is leave that is asked for, which the SDK has a part for. */
function isApproval(kind: EventOf<'tool_yield'>['kind']): boolean {
  return kind === 'approval' || kind === 'repeat';
}

function descriptionOf({ request, expiresAt }: EventOf<'tool_yield'>): RequestDescription {
  const { summary, options, details, inputSchema, mayDecide } = request;
  return {
    summary,
    options,
    ...(details === undefined ? {} : { details }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(mayDecide === undefined ? {} : { mayDecide }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function answered(
  state: Conversation,
  { requestId, callId, decision, input, reason }: EventOf<'tool_input'>,
): Conversation {
  const { [requestId]: request, ...others } = state.asked;
  if (request === undefined) return state;
  const noted = { ...state, asked: others };
  if (!isApproval(request.kind)) return withRequest(noted, requestId);
  if (decision !== 'approve' && decision !== 'edit' && decision !== 'reject') return noted;
  const approved = decision !== 'reject';
  const answer = { approved, ...(reason === undefined ? {} : { reason }) };
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

function resulted(state: Conversation, event: EventOf<'tool_result'>): Conversation {
  const { callId, settled: isSettled, invocationId = '' } = event;
  if (!isSettled) return state;
  const told = withCall(state, callId, () => ({ outcome: outcomeOf(state, event) }));
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

function withoutQuestion(state: Conversation, requestId: string): Conversation {
  const { [requestId]: _, ...others } = state.asked;
  return { ...state, asked: others };
}

function outcomeOf(
  { denied }: Conversation,
  { callId, result }: EventOf<'tool_result'>,
): ToolOutcome {
  const { status, content } = result;
  if (status === 'success' || status === 'partial') return { type: 'output', output: content };
  return denied.includes(callId) ? { type: 'denied' } : { type: 'error', text: textOf(content) };
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function heard(
  state: Conversation,
  { by, clientKey, invocationId = '', id, text, seq }: EventOf<'user'>,
): Conversation {
  const { answer } = state;
  if (answer === undefined || !isRoot(invocationId) || clientKey === answer.run) return state;
  if (clientKey !== undefined && chatKey.test(clientKey))
    return { ...state, next: [...state.next, clientKey] };
  // What a run begins with is no part of its answer.
  if (answer.steps.length === 0 || !/^(user|operator|trigger)\b/.test(by)) return state;
  return settled(
    add(state, { kind: 'steering', id, text: textOf(text), order: seq, from: invocationId }),
  );
}

function ended(state: Conversation, event: EventOf<'invocation_end'>): Conversation {
  const { invocationId, next } = event;
  const clean = withSteps(state, (parts) => dropUnsure(parts, invocationId));
  const isEnd = isRoot(invocationId) && next === undefined;
  if (!isEnd)
    return invocationId in clean.rounds ? withRound(clean, invocationId, undefined) : clean;
  const over = settled({
    ...withSteps(clean, (parts) => dropUnsure(parts, undefined)),
    rounds: {},
  });
  return { ...withLastStep(over, event), asked: {}, rest: { type: 'ended', end: event } };
}

/**
 * Of a run that wrote nothing its output is the answer; and a last step without calls says that
 * there is nothing left to send.
 */
function withLastStep(
  state: Conversation,
  { status, output, seq, invocationId }: EventOf<'invocation_end'>,
): Conversation {
  const steps = state.answer?.steps ?? [];
  if (status !== 'completed') return state;
  const hasText = steps.some(({ parts }) => parts.some(({ kind }) => kind === 'text'));
  if (!hasText && output !== undefined && output !== null) {
    const text = textOf(output);
    return settled(
      add(state, {
        kind: 'text',
        id: `${invocationId}/m${seq}`,
        text,
        isDone: true,
        order: seq,
        from: invocationId,
        sure: text,
      }),
    );
  }
  return steps.at(-1)?.parts.some(({ kind }) => kind === 'tool') === true
    ? settled(withOpenStep(state))
    : state;
}

function same(state: Conversation): Conversation {
  return state;
}

const handlers: Fold<Conversation> = {
  user: heard,
  assistant: wrote,
  thought: wrote,
  tool_call: called,
  tool_attempt: same,
  tool_result: resulted,
  tool_yield: asked,
  tool_input: answered,
  state_change: same,
  invocation_start: same,
  invocation_yield: (state, { invocationId, reason }) =>
    isRoot(invocationId) ? { ...state, rest: { type: 'waiting', reason } } : state,
  invocation_resume: (state, { invocationId }) =>
    isRoot(invocationId) ? { ...state, rest: undefined } : state,
  invocation_end: ended,
  invocation_reopen: (state, { invocationId }) =>
    isRoot(invocationId) ? { ...state, rest: undefined } : state,
  model_start: modelStart,
  model_end: modelEnd,
  handoff: same,
  decision: same,
  compaction: same,
  memory: same,
  artifact: same,
  error: same,
  cancel: same,
};
