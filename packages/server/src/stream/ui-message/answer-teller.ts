import { isDurable, type JsonObject, type StreamEvent } from 'adjutant';
import { defined } from 'adjutant/text';
import type { UiChunk, UiFinishReason } from './chunk.ts';
import { conversationAfter } from './conversation.ts';
import { type AnswerRest, type Conversation, noConversation } from './conversation-state.ts';
import { ownDataOf } from './own-parts.ts';
import { allChunks, stepChunks, type UiPart, type UiStep } from './part.ts';

/** Answer to tell, and the place to begin at. */
export interface AnswerSubject {
  /** The input that it answers. */
  readonly to: string;
  /** `seq` up to which an earlier wait or end of the run is ignored. */
  readonly restsAfter: number;
  /**
   * Requests that were just answered: the run does not count as waiting until it has read the
   * answers.
   */
  readonly awaited: readonly string[];
  /** Parts that the reader has already; missing: none. */
  readonly known?: KnownAnswer;
}

export interface KnownAnswer {
  /** `seq` up to which the reader may have the answer. */
  readonly upTo: number;
  /** Names what the reader has in the last step, as `stepSignature` does. */
  readonly lastStep: string;
}

export interface ToldAnswer {
  readonly state: AnswerState;
  readonly chunks: readonly UiChunk[];
  readonly isOver: boolean;
}

/** Returns the parts of a step, without the outcomes of calls and requests. */
export function stepSignature({ parts }: Pick<UiStep, 'parts'>): string {
  return JSON.stringify(
    parts.map((part) => [
      part.kind,
      part.kind === 'text' || part.kind === 'reasoning' ? part.text : part.id,
    ]),
  );
}

/** Progress of telling an answer. */
export interface AnswerState {
  readonly conversation: Conversation;
  readonly isStarted: boolean;
  readonly told: readonly UiStep[];
  /** Metadata that the reader has. */
  readonly metadata?: JsonObject | undefined;
  readonly awaited: readonly string[];
}

export function startOfAnswer({ awaited }: AnswerSubject): AnswerState {
  return { conversation: noConversation, isStarted: false, told: [], awaited };
}

/**
 * Tells one answer as chunks of the AI SDK: what it makes of the same events is the same, and
 * whoever was told an answer anew has the same message as who was told it while it was given.
 * @param event with its large values
 */
export function tellAnswer(
  subject: AnswerSubject,
  before: AnswerState,
  event: StreamEvent,
): ToldAnswer {
  const conversation = conversationAfter(before.conversation, event);
  const isHeard =
    isDurable(event) && event.type === 'tool_input' && before.awaited.includes(event.requestId);
  const awaited = isHeard
    ? before.awaited.filter((request) => request !== event.requestId)
    : before.awaited;
  const isSame = conversation === before.conversation && awaited === before.awaited;
  const state = isSame ? before : { ...before, conversation, awaited };
  if (isOurs(subject, before) && !isOurs(subject, state) && !isNext(subject, state)) {
    return {
      state,
      chunks: [...start(subject, state), { type: 'finish', finishReason: 'stop' }],
      isOver: true,
    };
  }
  const news = newsOf(subject, state, event);
  const chunks = [...news.chunks, ...progressOf(news.state, event)];
  const rest = restOf(subject, news.state, event);
  if (rest === undefined) return { state: news.state, chunks, isOver: false };
  return {
    state: news.state,
    chunks: [
      ...chunks,
      ...start(subject, news.state),
      ...queuedChunks(subject, news.state),
      ...restChunks(rest),
    ],
    isOver: true,
  };
}

function isOurs({ to }: AnswerSubject, { conversation }: AnswerState): boolean {
  return conversation.answer?.to.includes(to) === true;
}

/** The message has come, and the step that answers it has not begun. */
function isNext({ to }: AnswerSubject, { conversation }: AnswerState): boolean {
  return conversation.next.includes(to);
}

function start(subject: AnswerSubject, state: AnswerState): readonly UiChunk[] {
  if (state.isStarted) return [];
  const own = isOurs(subject, state) ? state.conversation.answer?.id : undefined;
  return [{ type: 'start', messageId: own ?? subject.to }];
}

function newsOf(
  subject: AnswerSubject,
  state: AnswerState,
  event: StreamEvent,
): Pick<ToldAnswer, 'state' | 'chunks'> {
  const { known } = subject;
  if (
    !isOurs(subject, state) ||
    (known !== undefined && isDurable(event) && event.seq < known.upTo)
  )
    return { state, chunks: [] };
  const steps = state.conversation.answer?.steps ?? [];
  const begun = known !== undefined && !state.isStarted;
  const chunks = begun ? continued(steps, known) : stepChunks(state.told, steps);
  const { metadata } = state.conversation.answer ?? {};
  const isTold = state.isStarted && state.told === steps && state.metadata === metadata;
  const next = isTold ? state : { ...state, isStarted: true, told: steps, metadata };
  const about: readonly UiChunk[] =
    metadata === undefined || metadata === state.metadata
      ? []
      : [{ type: 'message-metadata', messageMetadata: metadata }];
  return { state: next, chunks: [...start(subject, state), ...chunks, ...about] };
}

function progressOf({ isStarted, told }: AnswerState, event: StreamEvent): readonly UiChunk[] {
  if (event.type !== 'tool_progress' || !isStarted) return [];
  const { callId, name, data } = event;
  const own = ownDataOf(data);
  const isShown = told.some(({ parts }) => parts.some(({ id }) => id === callId));
  if (isShown && own !== undefined) return [{ ...own, transient: true }];
  return isShown
    ? [
        {
          type: 'data-tool-progress',
          transient: true,
          data: { toolCallId: callId, toolName: name, progress: data },
        },
      ]
    : [];
}

function restOf(
  subject: AnswerSubject,
  state: AnswerState,
  event: StreamEvent,
): AnswerRest | undefined {
  const { rest } = state.conversation;
  if (
    rest === undefined ||
    !isDurable(event) ||
    event.seq <= subject.restsAfter ||
    !(isOurs(subject, state) || isNext(subject, state))
  )
    return undefined;
  if (rest.type === 'waiting' && (event.type !== 'invocation_yield' || state.awaited.length > 0))
    return undefined;
  return rest;
}

/**
 * Returns the chunks that the reader may lack: outcomes of calls, and all of the last step if the
 * reader's differs.
 */
function continued(steps: readonly UiStep[], { lastStep }: KnownAnswer): readonly UiChunk[] {
  const last = steps.at(-1);
  if (last === undefined) return [];
  if (stepSignature(last) !== lastStep || !last.parts.every(isWhole))
    return [{ type: 'reset-step' }, ...allChunks(last.parts)];
  const bare = last.parts.map((part) => {
    if (part.kind === 'request') return { ...part };
    if (part.kind !== 'tool') return part;
    const { outcome: _, approval, ...call } = part;
    if (approval === undefined) return call;
    const { answer, ...request } = approval;
    return { ...call, approval: answer === undefined ? approval : request };
  });
  return stepChunks([{ ...last, parts: bare }], [last]);
}

/** True when a part is complete: a new reader cannot begin in the middle of one. */
function isWhole(part: UiPart): boolean {
  if (part.kind === 'text' || part.kind === 'reasoning') return part.isDone;
  return part.kind !== 'tool' || part.input !== undefined;
}

/** Tells what a message waits for that nothing answers yet. */
function queuedChunks(subject: AnswerSubject, state: AnswerState): readonly UiChunk[] {
  const { asked, rest } = state.conversation;
  if (rest?.type !== 'waiting' || isOurs(subject, state)) return [];
  const requests = Object.values(asked).map(({ requestId, kind, request: { summary } }) => ({
    requestId,
    kind,
    summary,
  }));
  return [{ type: 'data-waiting', id: subject.to, data: { requests } }];
}

const finishOfWaiting: Readonly<
  Record<Extract<AnswerRest, { type: 'waiting' }>['reason'], UiFinishReason>
> = {
  input: 'stop',
  tool_input: 'tool-calls',
  sleep: 'other',
  pause: 'other',
};

function restChunks(rest: AnswerRest): readonly UiChunk[] {
  if (rest.type === 'waiting')
    return [{ type: 'finish', finishReason: finishOfWaiting[rest.reason] }];
  const { status, error, stopReason } = rest.end;
  if (status === 'error')
    return [{ type: 'error', errorText: error?.message ?? 'The run has failed.' }];
  if (status === 'cancelled') return [{ type: 'abort', ...defined({ reason: error?.message }) }];
  const finishReason =
    stopReason === undefined ? 'stop' : stopReason === 'output_limit' ? 'length' : 'other';
  return [{ type: 'finish', finishReason }];
}
