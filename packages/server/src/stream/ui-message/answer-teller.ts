import { isDurable, type StreamEvent } from 'adjutant';
import type { UiChunk, UiFinishReason } from './chunk.ts';
import { type AnswerRest, type Conversation, conversationAfter, noConversation } from './conversation.ts';
import { allChunks, stepChunks, type UiPart, type UiStep } from './part.ts';

/** Which answer is told, and from where on. */
export interface AnswerSubject {
  /** The input that it answers. */
  readonly to: string;
  /** Up to this `seq` the run may have rested before: only what comes behind it is its rest. */
  readonly restsAfter: number;
  /** Requests that were just answered: until the run has taken them in, it does not rest. */
  readonly awaited: readonly string[];
  /** What the reader has already; missing: nothing. */
  readonly known?: KnownAnswer;
}

export interface KnownAnswer {
  /** `seq` up to which it may have been told. */
  readonly upTo: number;
  /** Names what the reader has in the last step, as `stepSignature` does. */
  readonly lastStep: string;
}

export interface ToldAnswer {
  readonly chunks: readonly UiChunk[];
  readonly isOver: boolean;
}

/** What parts a step has, without what becomes of calls and questions. */
export function stepSignature({ parts }: Pick<UiStep, 'parts'>): string {
  return JSON.stringify(parts.map((part) => [part.kind, part.kind === 'text' || part.kind === 'reasoning' ? part.text : part.id]));
}

/**
 * Tells one answer as chunks of the AI SDK: what it makes of the same events is the same, and whoever was told an answer anew has the same message
 * as who was told it while it was given.
 */
export class AnswerTeller {
  readonly #subject: AnswerSubject;
  readonly #awaited: Set<string>;
  #state: Conversation = noConversation;
  #isStarted = false;
  #told: readonly UiStep[] = [];

  constructor(subject: AnswerSubject) {
    this.#subject = subject;
    this.#awaited = new Set(subject.awaited);
  }

  /** @param event with its large values */
  tell(event: StreamEvent): ToldAnswer {
    const wasOurs = this.#isOurs;
    this.#state = conversationAfter(this.#state, event);
    if (isDurable(event) && event.type === 'tool_input') this.#awaited.delete(event.requestId);
    if (wasOurs && !this.#isOurs && !this.#isNext) return { chunks: [...this.#start(), { type: 'finish', finishReason: 'stop' }], isOver: true };
    const chunks = [...this.#news(event), ...this.#progress(event)];
    const rest = this.#rest(event);
    if (rest === undefined) return { chunks, isOver: false };
    return { chunks: [...chunks, ...this.#start(), ...restChunks(rest)], isOver: true };
  }

  get #isOurs(): boolean {
    return this.#state.answer?.to.includes(this.#subject.to) === true;
  }

  /** The message has come, and the step that answers it has not begun. */
  get #isNext(): boolean {
    return this.#state.next.includes(this.#subject.to);
  }

  #start(): readonly UiChunk[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [{ type: 'start', messageId: this.#isOurs ? (this.#state.answer?.id ?? this.#subject.to) : this.#subject.to }];
  }

  #news(event: StreamEvent): readonly UiChunk[] {
    const { known } = this.#subject;
    if (!this.#isOurs || (known !== undefined && isDurable(event) && event.seq < known.upTo)) return [];
    const steps = this.#state.answer?.steps ?? [];
    const begun = known !== undefined && !this.#isStarted;
    const chunks = begun ? continued(steps, known) : stepChunks(this.#told, steps);
    this.#told = steps;
    return [...this.#start(), ...chunks];
  }

  #progress(event: StreamEvent): readonly UiChunk[] {
    if (event.type !== 'tool_progress' || !this.#isStarted) return [];
    const { callId, name, data } = event;
    const isShown = this.#told.some(({ parts }) => parts.some(({ id }) => id === callId));
    return isShown ? [{ type: 'data-tool-progress', transient: true, data: { toolCallId: callId, toolName: name, progress: data } }] : [];
  }

  #rest(event: StreamEvent): AnswerRest | undefined {
    const { rest } = this.#state;
    if (rest === undefined || !isDurable(event) || event.seq <= this.#subject.restsAfter || !(this.#isOurs || this.#isNext)) return undefined;
    if (rest.type === 'waiting' && (event.type !== 'invocation_yield' || this.#awaited.size > 0)) return undefined;
    return rest;
  }
}

/** What the reader may lack: what became of calls; and all of the last step, if it has something else. */
function continued(steps: readonly UiStep[], { lastStep }: KnownAnswer): readonly UiChunk[] {
  const last = steps.at(-1);
  if (last === undefined) return [];
  if (stepSignature(last) !== lastStep || !last.parts.every(isWhole)) return [{ type: 'reset-step' }, ...allChunks(last.parts)];
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

/** Whether nothing more of a part is being written: who begins to read cannot go on in the middle of one. */
function isWhole(part: UiPart): boolean {
  if (part.kind === 'text' || part.kind === 'reasoning') return part.isDone;
  return part.kind !== 'tool' || part.input !== undefined;
}

const finishOfWaiting: Readonly<Record<Extract<AnswerRest, { type: 'waiting' }>['reason'], UiFinishReason>> = {
  input: 'stop',
  tool_input: 'tool-calls',
  pause: 'other',
};

function restChunks(rest: AnswerRest): readonly UiChunk[] {
  if (rest.type === 'waiting') return [{ type: 'finish', finishReason: finishOfWaiting[rest.reason] }];
  const { status, error, stopReason } = rest.end;
  if (status === 'error') return [{ type: 'error', errorText: error?.message ?? 'The run has failed.' }];
  if (status === 'cancelled') return [{ type: 'abort', ...(error === undefined ? {} : { reason: error.message }) }];
  const finishReason = stopReason === undefined ? 'stop' : stopReason === 'output_limit' ? 'length' : 'other';
  return [{ type: 'finish', finishReason }];
}
