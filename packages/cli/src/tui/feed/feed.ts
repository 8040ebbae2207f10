import {
  type Event,
  type EventOf,
  isDurable,
  type StreamEvent,
  type TransientEvent,
} from 'adjutant';
import { AnswerText } from './answer-text.ts';
import type { Block, BlockContent, Note } from './block.ts';
import { CallFeed, type ToolEvent } from './call-feed.ts';
import type { CallRecord, OpenRequest, SettledRequest } from './call-record.ts';
import { childText, endNotes, interruptedNote } from './end-notes.ts';
import { eventNote } from './event-notes.ts';
import { failureWords } from './failure-words.ts';
import { type ChildWork, Places } from './places.ts';
import { noTotals, type Totals, usageSince, withUsage } from './totals.ts';

/** Work of the model that is under way. */
export interface ModelWork {
  readonly state: 'thinking' | 'preparing' | 'retries';
  readonly model: string;
  readonly startedAt: number;
  /** The end of the thought, the name of the call in preparation, or the error. */
  readonly text: string;
  readonly attempt: number;
  readonly retryAt?: number;
}

/** State of the run: between `idle` and the others lies a message of a person. */
export type RunState = 'idle' | 'working' | 'waiting' | 'paused' | 'failed';

type InvocationEvent = Extract<Event, { readonly type: `invocation_${string}` }>;
/** Set on answers that were cut off. */
interface CutAnswer {
  readonly cut?: true;
}

interface RunningRun {
  readonly path: string;
  readonly startedAt: number;
  readonly resumedAt: number;
  readonly before: Totals;
}

/**
 * Fold of the events of a session, and of what is streamed, into blocks that are finished and what
 * may still change. A block is given out once, when nothing in it can change any more.
 */
export class Feed {
  readonly #places = new Places();
  readonly #calls = new CallFeed();
  #blocks: Block[] = [];
  #turn = 0;
  #lastKind: BlockContent['kind'] | undefined;
  #lastSeq = 0;
  #agent: string | undefined;
  #model: ModelWork | undefined;
  #streaming: { readonly path: string; readonly text: AnswerText } | undefined;
  #run: RunningRun | undefined;
  #runState: RunState = 'idle';
  #totals: Totals = noTotals;
  /** Messages that came while a round was open: the next prompt has them. */
  readonly #unread: EventOf<'user'>[] = [];
  #isCut = false;
  #isCutOff = false;
  #pausedBy: string | undefined;

  /** Takes the next event. Returns the blocks that it finished. */
  take(event: StreamEvent): readonly Block[] {
    this.#blocks = [];
    if (!isDurable(event)) this.#transient(event);
    else if (event.seq > this.#lastSeq) {
      this.#lastSeq = event.seq;
      this.#isCutOff = false;
      this.#durable(event);
    }
    return this.#blocks;
  }

  /** Notes that nobody works on the open run: nothing moves until it is asked to go on. */
  cutOff(): void {
    this.#isCutOff = true;
    this.#runState = 'paused';
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }
  get turn(): number {
    return this.#turn;
  }
  get runState(): RunState {
    return this.#runState;
  }
  get model(): ModelWork | undefined {
    return this.#isCutOff ? undefined : this.#model;
  }
  get totals(): Totals {
    return this.#totals;
  }
  /** Name of the agent that answered last. */
  get agent(): string | undefined {
    return this.#agent;
  }
  /** Messages that are in the ledger and that no prompt has had. */
  get unread(): readonly string[] {
    return this.#unread.map(({ text }) => text);
  }
  /** The part of the answer that is being written. */
  get openText(): string {
    return this.#streaming?.text.open ?? '';
  }
  /** True when an empty line stands before the part that is being written. */
  get hasOpenGap(): boolean {
    return this.#lastKind === 'user' || this.#lastKind === 'text';
  }
  /** Calls that have not been given out. */
  get calls(): readonly CallRecord[] {
    return this.#isCutOff ? [] : this.#calls.calls;
  }
  /** Requests without an answer, oldest first. */
  get requests(): readonly OpenRequest[] {
    return this.#calls.requests;
  }
  /** Requests with an answer, while their round goes on. */
  get settledRequests(): readonly SettledRequest[] {
    return this.#calls.settledRequests;
  }
  get children(): readonly ChildWork[] {
    return this.#isCutOff ? [] : this.#places.children;
  }

  #add(content: BlockContent, isContinued = false): void {
    const gap =
      this.#lastKind !== undefined &&
      !isContinued &&
      (content.kind === 'user' ||
        this.#lastKind === 'user' ||
        (content.kind === 'text' && this.#lastKind === 'text'));
    this.#lastKind = content.kind;
    this.#blocks.push({ ...content, turn: this.#turn, gap });
  }

  #transient(event: TransientEvent): void {
    switch (event.type) {
      case 'assistant_delta':
        this.#delta(event.invocationId, event.agent, event.delta);
        break;
      case 'thought_delta':
        this.#thinks(event.invocationId, event.delta);
        break;
      case 'tool_args_delta':
        if (this.#model !== undefined && this.#places.isShown(event.invocationId))
          this.#model = { ...this.#model, state: 'preparing', text: event.name };
        break;
      case 'tool_progress':
        this.#calls.progress(event.callId, event.data);
        break;
      case 'stream_reset':
        this.#reset(event.invocationId);
    }
  }

  #delta(path: string, agent: string, delta: string): void {
    if (!this.#places.isShown(path)) return;
    this.#streaming ??= { path, text: new AnswerText() };
    // Of parts that answer beside each other only one is streamed; the others follow whole.
    if (this.#streaming.path !== path) return;
    for (const { markdown, isContinued } of this.#streaming.text.push(delta)) {
      this.#speaks(agent);
      this.#add({ kind: 'text', markdown }, isContinued);
    }
  }

  #thinks(path: string, delta: string): void {
    const model = this.#model;
    if (model === undefined || !this.#places.isShown(path)) return;
    const before = model.state === 'thinking' ? model.text : '';
    const text = `${before}${delta}`.split('\n').slice(-2).join('\n');
    this.#model = { ...model, state: 'thinking', text };
  }

  #reset(path: string): void {
    if (this.#streaming?.path !== path) return;
    if (this.#streaming.text.isBegun)
      this.#note('again', 'attention', 'The model starts again; the answer above is not recorded.');
    this.#streaming = undefined;
  }

  #durable(event: Event): void {
    this.#places.take(event);
    switch (event.type) {
      case 'user':
        this.#user(event);
        break;
      case 'assistant':
        this.#assistant(event);
        break;
      case 'model_start':
      case 'model_end':
        this.#modelCall(event);
        break;
      case 'invocation_start':
      case 'invocation_yield':
      case 'invocation_resume':
      case 'invocation_end':
      case 'invocation_reopen':
        this.#invocation(event);
        break;
      case 'tool_call':
      case 'tool_attempt':
      case 'tool_yield':
      case 'tool_input':
      case 'tool_result':
        this.#toolCall(event);
        break;
      default:
        this.#other(event);
    }
  }

  #user(event: EventOf<'user'>): void {
    if (!this.#places.isShown(event.invocationId)) return;
    const isBusy = this.#model !== undefined || this.#calls.calls.length > 0;
    if (this.#runState === 'working' && isBusy) this.#unread.push(event);
    else this.#says(event);
  }

  /** Gives out the messages that no prompt had, because one has them now. */
  #readAll(): void {
    for (const event of this.#unread.splice(0)) this.#says(event);
  }

  #says({ text, by, seq, parts = [] }: EventOf<'user'>): void {
    this.#turn++;
    const files = parts.flatMap((part) =>
      part.type === 'file' ? [part.name ?? part.artifact] : [],
    );
    const author = by === 'user' || by.startsWith('user:') ? {} : { by };
    this.#add({ kind: 'user', text, files, seq, ...author });
  }

  #assistant({
    invocationId = '',
    agent,
    text,
    output,
    cut,
  }: EventOf<'assistant'> & CutAnswer): void {
    if (!this.#places.isShown(invocationId)) return;
    this.#isCut ||= cut === true;
    const streamed = this.#streaming?.path === invocationId ? this.#streaming.text : undefined;
    if (streamed !== undefined) this.#streaming = undefined;
    if (streamed === undefined || !text.startsWith(streamed.all.trimEnd()))
      this.#recorded(agent, text, streamed?.isBegun === true);
    else this.#rest(agent, streamed, text);
    if (output !== undefined && text.trim() === '') this.#add({ kind: 'output', value: output });
  }

  /** The answer as it is recorded, where nothing or something else was streamed. */
  #recorded(agent: string, text: string, differs: boolean): void {
    if (differs)
      this.#note('attention', 'attention', 'The recorded answer differs from what was streamed:');
    this.#rest(agent, new AnswerText(), text);
  }

  #rest(agent: string, streamed: AnswerText, text: string): void {
    const parts = [...streamed.push(text.slice(streamed.all.length)), ...streamed.end()];
    for (const { markdown, isContinued } of parts) {
      this.#speaks(agent);
      this.#add({ kind: 'text', markdown }, isContinued);
    }
  }

  #speaks(agent: string): void {
    if (this.#agent !== undefined && this.#agent !== agent)
      this.#add({ kind: 'agent', name: agent });
    this.#agent = agent;
  }

  #modelCall(event: EventOf<'model_start'> | EventOf<'model_end'>): void {
    const isShown = this.#places.isShown(event.invocationId);
    if (event.type === 'model_start') {
      if (!isShown) return;
      this.#readAll();
      const { model, at, attempt } = event;
      this.#model = { state: 'thinking', model, startedAt: at, text: '', attempt };
      return;
    }
    this.#totals = withUsage(this.#totals, event);
    if (!isShown) return;
    const { error, retryAfterMs, at, attempt } = event;
    this.#model =
      this.#model === undefined || error === undefined || retryAfterMs === undefined
        ? undefined
        : {
            ...this.#model,
            state: 'retries',
            text: failureWords(error),
            attempt: attempt + 1,
            retryAt: at + retryAfterMs,
          };
  }

  #invocation(event: InvocationEvent): void {
    const { invocationId: path, at } = event;
    if (event.type === 'invocation_start') this.#places.start(event);
    if (event.type === 'invocation_end') this.#childEnd(event);
    if (path.includes('/') || path.includes('>')) return;
    switch (event.type) {
      case 'invocation_start':
        this.#run = { path, startedAt: at, resumedAt: at, before: this.#totals };
        this.#agent ??= event.name;
        this.#goesOn();
        break;
      case 'invocation_resume':
      case 'invocation_reopen':
        this.#run = this.#run && { ...this.#run, resumedAt: at };
        if (event.type === 'invocation_reopen')
          this.#note('note', 'plain', `Opened again: ${event.reason}`, event.seq);
        this.#goesOn();
        break;
      case 'invocation_yield':
        this.#rests(event);
        break;
      case 'invocation_end':
        if (event.next === undefined) this.#ends(event);
    }
  }

  #goesOn(): void {
    this.#runState = 'working';
    this.#isCut = false;
    this.#pausedBy = undefined;
  }

  #rests({ reason, at, seq }: EventOf<'invocation_yield'>): void {
    this.#model = undefined;
    if (this.#calls.calls.length === 0) this.#readAll();
    this.#runState = reason === 'pause' ? 'paused' : 'waiting';
    if (reason !== 'pause') return;
    this.#flushAnswer();
    const tookMs = at - (this.#run?.resumedAt ?? at);
    this.#add(interruptedNote({ by: this.#pausedBy, tookMs, isCut: this.#isCut, seq }));
  }

  #ends(event: EventOf<'invocation_end'>): void {
    this.#flushAnswer();
    for (const content of this.#calls.end()) this.#add(content);
    this.#places.clear();
    this.#readAll();
    this.#model = undefined;
    const run = this.#run;
    const used = usageSince(this.#totals, run?.before ?? noTotals);
    const durationMs = event.at - (run?.startedAt ?? event.at);
    for (const note of endNotes(event, used, durationMs)) this.#add(note);
    this.#runState = event.status === 'error' ? 'failed' : 'idle';
    this.#run = undefined;
  }

  /** Gives out what was streamed of an answer that nobody recorded. */
  #flushAnswer(): void {
    const streamed = this.#streaming?.text;
    this.#streaming = undefined;
    for (const { markdown, isContinued } of streamed?.end() ?? [])
      this.#add({ kind: 'text', markdown }, isContinued);
  }

  #childEnd({ invocationId, status, at, seq }: EventOf<'invocation_end'>): void {
    const child = this.#places.end(invocationId);
    if (child === undefined) return;
    const isGood = status === 'completed' || status === 'transferred';
    this.#add({
      kind: 'note',
      sign: isGood ? 'done' : 'failed',
      tone: isGood ? 'success' : 'failure',
      text: childText(child, at),
      seq,
    });
  }

  #toolCall(event: ToolEvent): void {
    if (event.type === 'tool_call') {
      if (!this.#places.isShown(event.invocationId)) return;
      if (this.#model?.state !== 'retries') this.#model = undefined;
    }
    for (const content of this.#calls.take(event)) this.#add(content);
  }

  #other(event: Event): void {
    if (event.type === 'decision' && event.component === 'run' && event.decision === 'pause')
      this.#pausedBy = event.by;
    const note = eventNote(event);
    if (note !== undefined) this.#add(note);
  }

  #note(sign: Note['sign'], tone: Note['tone'], text: string, seq?: number): void {
    this.#add({ kind: 'note', sign, tone, text, ...(seq === undefined ? {} : { seq }) });
  }
}
