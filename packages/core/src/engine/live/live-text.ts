import type { Event, TransientEvent } from '../../ledger/event.ts';
import { GrowingText } from './growing-text.ts';

type Progress = Extract<TransientEvent, { type: 'tool_progress' }>;
type Delta = Extract<TransientEvent, { delta: string }>;

/** One text that a model is writing. */
export interface LiveStream {
  /** The event that its parts come as, without the part. */
  readonly head: Delta;
  readonly text: GrowingText;
  /**
   * The part that was given last: all readers who keep up get the same object, so that it need be
   * written out only once for them.
   */
  given?: { readonly offset: number; readonly end: number; readonly event: Delta };
}

/** What stands in a text behind `offset`, as an event. */
function partAfter(stream: LiveStream, offset: number): Delta {
  const { head, text, given } = stream;
  if (given?.offset === offset && given.end === text.length) return given.event;
  const event: Delta = { ...head, delta: text.from(offset) };
  stream.given = { offset, end: text.length, event };
  return event;
}

/** What one invocation's model is writing now. */
export interface LiveInvocation {
  readonly invocationId: string;
  readonly agent: string;
  /** Changes when the text begins anew. */
  readonly generation: string;
  /** The texts of the generation before were replaced before they had become durable. */
  readonly isReset: boolean;
  /** `seq` of the last event before it: what is durable up to there comes first. */
  readonly after: number;
  readonly streams: Map<string, LiveStream>;
}

export interface LiveProgress {
  readonly event: Progress;
  readonly after: number;
  /** Grows with every report. */
  readonly number: number;
}

/** A part of a text, and where in it it belongs. */
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
 * What is being written in a session and not yet durable: the text so far of every answer under
 * way, and the last report of every tool.
 */
export class LiveText {
  readonly invocations = new Map<string, LiveInvocation>();
  readonly progress = new Map<string, LiveProgress>();
  /** `seq` by which the last answer of an invocation ended. */
  readonly #ended = new Map<string, number>();
  #generations = 0;
  #reports = 0;
  readonly #name: string;

  /** @param name of whoever writes, so that generations of two processes differ */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Takes in what a run streams. @param lastSeq of the last event of the ledger, durable or not.
   * Returns whether there is something to tell.
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

  /** Takes in a durable event: what was being written has become durable, or never will. */
  landed(event: Event): void {
    if (event.type === 'tool_result') this.progress.delete(event.callId);
    if (event.type !== 'model_end' && event.type !== 'invocation_end') return;
    rememberEnd(this.#ended, event);
    const live = this.invocations.get(event.invocationId);
    // What was begun after it stays.
    if (live !== undefined && live.after < event.seq) this.invocations.delete(event.invocationId);
  }

  /**
   * Takes in a part that another process has sent.
   * @returns whether something before it is missing
   */
  received(part: LivePart): boolean {
    // It was under way for longer than the end of the answer that it is of.
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

  /** What is told from now on may be of another session. */
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

/** How many ends of answers are remembered: many more than answer at the same time. */
const rememberedEnds = 1_000;

function rememberEnd(
  ended: Map<string, number>,
  { invocationId, seq }: { readonly invocationId: string; readonly seq: number },
): void {
  ended.delete(invocationId);
  ended.set(invocationId, seq);
  if (ended.size > rememberedEnds) ended.delete(ended.keys().next().value as string);
}

/** Where in a ledger an answer begins or ends. */
export interface AnswerMark {
  readonly type: 'model_start' | 'model_end' | 'invocation_end';
  readonly invocationId: string;
  readonly seq: number;
}

interface Place {
  generation: string;
  /** Whether something was given that no durable event has taken the place of. */
  isGiven: boolean;
  readonly offsets: Map<string, number>;
}

/**
 * Where one reader stands in a live text. It is given what is new when it asks, in one part however
 * many there were.
 */
export class LiveReader {
  readonly #places = new Map<string, Place>();
  readonly #reports = new Map<string, number>();
  /** `seq` by which the last answer of an invocation ended, as the reader was told. */
  readonly #ended = new Map<string, number>();
  /**
   * Invocations of which the reader was told that an answer begins or ends: it has no parts of the
   * next one from before.
   */
  readonly #begun = new Set<string>();
  /** Answers that were under way when the reader came: it may have parts of them from before. */
  #before: Set<string> | undefined;

  /** The reader has everything durable that there was when it came. */
  arrived(live: LiveText): void {
    this.#before ??= new Set([...live.invocations.values()].map(({ generation }) => generation));
  }

  /** The reader was given a durable event. */
  passed(event: Event): void {
    if (event.type === 'tool_result') this.#reports.delete(event.callId);
    if (event.type === 'model_start' || event.type === 'model_end')
      this.#begins(event.invocationId);
    if (event.type !== 'model_end' && event.type !== 'invocation_end') return;
    const { invocationId } = event;
    this.#places.delete(invocationId);
    rememberEnd(this.#ended, event);
  }

  /** The reader was told by other means where an answer begins or ends. */
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
   * The next transient event for a reader that was given all durable events up to `seq`;
   * `undefined`: nothing is new.
   */
  next(live: LiveText, seq: number): TransientEvent | undefined {
    for (const invocation of live.invocations.values()) {
      // The reader may be ahead of what this process has noticed.
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
      // A reader that has lost another connection may have parts of an answer that this process
      // hears of only now.
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

/** What another process has not been sent yet. */
export class LiveSender {
  readonly #sent = new Map<string, { generation: string; readonly offsets: Map<string, number> }>();
  readonly #reports = new Map<string, number>();

  /** Sends everything again. */
  restart(): void {
    this.#sent.clear();
    this.#reports.clear();
  }

  /** Everything that is new since the last time. */
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
      // A text that was replaced is over, also before the next one has begun.
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
