import type { Event, TransientEvent } from '../../ledger/event.ts';
import { GrowingText } from './growing-text.ts';

type Progress = Extract<TransientEvent, { type: 'tool_progress' }>;
type Delta = Extract<TransientEvent, { delta: string }>;

/** One text that a model is writing. */
export interface LiveStream {
  /** The event of its parts, without the text. */
  readonly head: Delta;
  readonly text: GrowingText;
  /**
   * The last part that readers got. All readers who keep up get the same object, so that it is
   * serialized only once for them.
   */
  given?: { readonly offset: number; readonly end: number; readonly event: Delta };
}

/** Returns the text after `offset`, as an event. */
function partAfter(stream: LiveStream, offset: number): Delta {
  const { head, text, given } = stream;
  if (given?.offset === offset && given.end === text.length) return given.event;
  const event: Delta = { ...head, delta: text.from(offset) };
  stream.given = { offset, end: text.length, event };
  return event;
}

/** The text that the model of one invocation is writing. */
export interface LiveInvocation {
  readonly invocationId: string;
  readonly agent: string;
  /** Number that changes when the text begins anew. */
  readonly generation: string;
  /** True when the texts of the generation before were replaced before they became durable. */
  readonly isReset: boolean;
  /** Sequence number of the last event before it; durable events up to there come first. */
  readonly after: number;
  readonly streams: Map<string, LiveStream>;
}

export interface LiveProgress {
  readonly event: Progress;
  readonly after: number;
  /** Number that grows with every report. */
  readonly number: number;
}

/** A part of a text, with its place in it. */
export interface LivePart {
  readonly invocationId: string;
  readonly agent: string;
  readonly generation: string;
  readonly isReset: boolean;
  readonly after: number;
  readonly stream: string;
  readonly head: Delta;
  readonly offset: number;
  readonly text: string;
}

/**
 * Live text of a session that is not yet durable: the text so far of every open answer, and the
 * last report of every tool.
 */
export class LiveText {
  readonly invocations = new Map<string, LiveInvocation>();
  readonly progress = new Map<string, LiveProgress>();
  /** Sequence numbers of the ends of the last answers, by invocation. */
  readonly #ended = new Map<string, number>();
  #generations = 0;
  #reports = 0;
  readonly #name: string;

  /**
   * Makes an empty live text.
   * @param name name of the writer, so that generations of two processes differ
   */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Takes in a streamed event of a run. Returns true when there is something new for readers.
   * @param lastSeq sequence number of the last event of the ledger, durable or not
   */
  streamed(event: TransientEvent, lastSeq: number): boolean {
    switch (event.type) {
      case 'stream_reset':
        this.#begin(event, lastSeq, true);
        return true;
      case 'tool_progress':
        this.progress.set(event.callId, { event, after: lastSeq, number: ++this.#reports });
        return true;
      default: {
        const { streams } =
          this.invocations.get(event.invocationId) ?? this.#begin(event, lastSeq, false);
        const key = streamKey(event);
        const stream = streams.get(key);
        if (stream === undefined)
          streams.set(key, { head: event, text: new GrowingText(event.delta) });
        else stream.text.append(event.delta);
        return true;
      }
    }
  }

  /** Takes in a durable event: its text has become durable, or never will. */
  landed(event: Event): void {
    if (event.type === 'tool_result') this.progress.delete(event.callId);
    if (event.type !== 'model_end' && event.type !== 'invocation_end') return;
    rememberEnd(this.#ended, event);
    const live = this.invocations.get(event.invocationId);
    // Text that began after it stays.
    if (live !== undefined && live.after < event.seq) this.invocations.delete(event.invocationId);
  }

  /**
   * Takes in a part from another process.
   * @returns true when something before it is missing
   */
  received(part: LivePart): boolean {
    // The part arrived after the end of its answer.
    if (part.after < (this.#ended.get(part.invocationId) ?? 0)) return false;
    let live = this.invocations.get(part.invocationId);
    if (live?.generation !== part.generation) {
      const { invocationId, agent, generation, isReset, after } = part;
      live = { invocationId, agent, generation, isReset, after, streams: new Map() };
      this.invocations.set(invocationId, live);
    }
    if (part.stream === '') return false;
    const stream = live.streams.get(part.stream);
    const known = stream?.text.length ?? 0;
    if (part.offset > known) return true;
    const text = part.text.slice(known - part.offset);
    if (stream === undefined)
      live.streams.set(part.stream, { head: part.head, text: new GrowingText(text) });
    else if (text !== '') stream.text.append(text);
    return false;
  }

  reported({ event, after, number }: LiveProgress): void {
    this.progress.set(event.callId, { event, after, number });
  }

  /** Forgets the ends of answers: the next events may belong to another session. */
  forgetEnds(): void {
    this.#ended.clear();
  }

  clear(): void {
    this.invocations.clear();
    this.progress.clear();
  }

  #begin(
    { invocationId, agent }: { readonly invocationId: string; readonly agent: string },
    lastSeq: number,
    isReset: boolean,
  ): LiveInvocation {
    const generation = `${this.#name}.${++this.#generations}`;
    const live: LiveInvocation = {
      invocationId,
      agent,
      generation,
      isReset,
      after: lastSeq,
      streams: new Map(),
    };
    this.invocations.set(invocationId, live);
    return live;
  }
}

function streamKey(event: Delta): string {
  return event.type === 'tool_args_delta' ? `${event.type}:${event.providerCallId}` : event.type;
}

/** Number of remembered ends of answers, far above the number of answers at one time. */
const rememberedEnds = 1_000;

function rememberEnd(
  ended: Map<string, number>,
  { invocationId, seq }: { readonly invocationId: string; readonly seq: number },
): void {
  ended.delete(invocationId);
  ended.set(invocationId, seq);
  if (ended.size > rememberedEnds) ended.delete(ended.keys().next().value as string);
}

/** The place in a ledger where an answer begins or ends. */
export interface AnswerMark {
  readonly type: 'model_start' | 'model_end' | 'invocation_end';
  readonly invocationId: string;
  readonly seq: number;
}

interface Place {
  generation: string;
  /** True when a part was given that no durable event has replaced. */
  isGiven: boolean;
  readonly offsets: Map<string, number>;
}

/** The position of one reader in a live text. It gets the new text when it asks, in one part. */
export class LiveReader {
  readonly #places = new Map<string, Place>();
  readonly #reports = new Map<string, number>();
  /** Sequence numbers of the ends of the last answers that the reader has got, by invocation. */
  readonly #ended = new Map<string, number>();
  /**
   * Invocations with an answer whose begin or end the reader has got. The reader has no earlier
   * parts of their next answer.
   */
  readonly #begun = new Set<string>();
  /** Answers that were open when the reader came: it may have earlier parts of them. */
  #before: Set<string> | undefined;

  /** Notes that the reader has all events that were durable when it came. */
  arrived(live: LiveText): void {
    this.#before ??= new Set([...live.invocations.values()].map(({ generation }) => generation));
  }

  /** Notes that the reader got a durable event. */
  passed(event: Event): void {
    if (event.type === 'tool_result') this.#reports.delete(event.callId);
    if (event.type === 'model_start' || event.type === 'model_end')
      this.#begins(event.invocationId);
    if (event.type !== 'model_end' && event.type !== 'invocation_end') return;
    const { invocationId } = event;
    this.#places.delete(invocationId);
    rememberEnd(this.#ended, event);
  }

  /** Notes that the reader knows the begin or end of an answer by other means. */
  knows({ type, invocationId, seq }: AnswerMark): void {
    if (type !== 'invocation_end') this.#begins(invocationId);
    if (type !== 'model_start') rememberEnd(this.#ended, { invocationId, seq });
  }

  #begins(invocationId: string): void {
    this.#begun.delete(invocationId);
    this.#begun.add(invocationId);
    if (this.#begun.size > rememberedEnds)
      this.#begun.delete(this.#begun.values().next().value as string);
  }

  /**
   * Returns the next transient event for a reader that has all durable events up to `seq`;
   * `undefined` when nothing is new.
   */
  next(live: LiveText, seq: number): TransientEvent | undefined {
    for (const invocation of live.invocations.values()) {
      // The reader may be ahead of this process.
      if (
        invocation.after > seq ||
        invocation.after < (this.#ended.get(invocation.invocationId) ?? 0)
      )
        continue;
      const event = this.#nextOf(invocation);
      if (event !== undefined) return event;
    }
    for (const [callId, { event, after, number }] of live.progress) {
      if (after > seq || (this.#reports.get(callId) ?? 0) >= number) continue;
      this.#reports.set(callId, number);
      return event;
    }
    return undefined;
  }

  #nextOf({
    invocationId,
    agent,
    generation,
    isReset,
    streams,
  }: LiveInvocation): TransientEvent | undefined {
    let place = this.#places.get(invocationId);
    if (place?.generation !== generation) {
      // A reader that has lost another connection may have parts of an answer that is new to this
      // process.
      const mayHaveParts = !this.#begun.has(invocationId) || this.#before?.has(generation) === true;
      const isReplaced = isReset || place?.isGiven === true || mayHaveParts;
      place = { generation, isGiven: false, offsets: new Map() };
      this.#places.set(invocationId, place);
      if (isReplaced) return { type: 'stream_reset', invocationId, agent };
    }
    for (const [key, stream] of streams) {
      const { length } = stream.text;
      const offset = place.offsets.get(key) ?? 0;
      if (offset >= length && place.offsets.has(key)) continue;
      place.offsets.set(key, length);
      place.isGiven = true;
      return partAfter(stream, offset);
    }
    return undefined;
  }
}

/** Live text that another process has not got yet. */
export class LiveSender {
  readonly #sent = new Map<string, { generation: string; readonly offsets: Map<string, number> }>();
  readonly #reports = new Map<string, number>();

  /** Sends everything again. */
  restart(): void {
    this.#sent.clear();
    this.#reports.clear();
  }

  /** Returns all text that is new since the last call. */
  take(live: LiveText): {
    readonly parts: readonly LivePart[];
    readonly reports: readonly LiveProgress[];
  } {
    const parts: LivePart[] = [];
    for (const path of this.#sent.keys()) if (!live.invocations.has(path)) this.#sent.delete(path);
    for (const { streams, ...invocation } of live.invocations.values()) {
      let sent = this.#sent.get(invocation.invocationId);
      const isNew = sent?.generation !== invocation.generation;
      if (sent === undefined || isNew) {
        sent = { generation: invocation.generation, offsets: new Map() };
        this.#sent.set(invocation.invocationId, sent);
      }
      for (const [stream, { head, text }] of streams) {
        const offset = sent.offsets.get(stream) ?? 0;
        if (offset >= text.length && sent.offsets.has(stream)) continue;
        sent.offsets.set(stream, text.length);
        parts.push({
          ...invocation,
          stream,
          head: { ...head, delta: '' },
          offset,
          text: text.from(offset),
        });
      }
      // A replaced text is over, also before the next one has begun.
      if (isNew && streams.size === 0)
        parts.push({ ...invocation, stream: '', head: emptyHead(invocation), offset: 0, text: '' });
    }
    const reports = [...live.progress.values()].filter(
      ({ event, number }) => (this.#reports.get(event.callId) ?? 0) < number,
    );
    for (const { event, number } of reports) this.#reports.set(event.callId, number);
    return { parts, reports };
  }
}

function emptyHead({
  invocationId,
  agent,
}: {
  readonly invocationId: string;
  readonly agent: string;
}): Delta {
  return { type: 'assistant_delta', invocationId, agent, delta: '' };
}
