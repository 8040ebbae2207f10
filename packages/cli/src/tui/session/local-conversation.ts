import {
  type Event,
  isAdjutantError,
  type Run,
  type Runnable,
  type RunResult,
  type Runtime,
  type Session,
  type StreamEvent,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import { defined } from 'adjutant/text';
import type { StateSnapshot } from 'adjutant/views';
import { laneOf, runOf } from '../../app/open-run.ts';
import type {
  Conversation,
  ConversationListener,
  GivenDecision,
  ModelPrompt,
  Standing,
} from './conversation.ts';

export interface LocalConversationOptions {
  readonly app: Runtime;
  readonly agent: () => Runnable;
  /** Options of a run that begins now. @default none */
  readonly runOptions?: (session: Session) => { readonly model?: string };
  readonly session: Session;
  readonly lane?: string | undefined;
  /** Called with the result of each run. */
  readonly onResult?: ((result: RunResult) => void) | undefined;
  /** Called with a session before a run begins in it. */
  readonly prepare: (session: Session) => Promise<void>;
}

/** Milliseconds between looks for answers that were given elsewhere. */
const lookEvery = 1_000;

/** A conversation in a store of this machine. Its runs are carried out in this process. */
export class LocalConversation implements Conversation {
  readonly #options: LocalConversationOptions;
  readonly #ofLane: { readonly lane?: string };
  #session: Session;
  /** The session as it was read later, where another process has worked on it. */
  #reread: Session | undefined;
  /** Lanes of the runs. */
  readonly #lanes = new Map<string, string | undefined>();
  #run: Run | undefined;
  #ended: Promise<void> = Promise.resolve();
  #listener: ConversationListener | undefined;
  #following: AbortController | undefined;
  #lastSeq = 0;
  /** Keys of the messages that were sent to the last run. */
  readonly #sent = new Set<string>();
  /** True when the last run has come to its end, here or elsewhere: it reads no message. */
  #isOver = false;
  #isStopped = false;
  /** True when somebody has deleted the session: a new one does not take its place unasked. */
  #isGone = false;

  constructor(options: LocalConversationOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#ofLane = defined({ lane: options.lane });
  }

  get session(): string {
    return this.#session.id;
  }

  get isWorking(): boolean {
    return this.#run !== undefined;
  }

  async open(): Promise<readonly Event[]> {
    const { events, resolve } = this.#session;
    return events.filter((event) => this.#isOfLane(event)).map((event) => resolve(event) as Event);
  }

  async whole(seq: number): Promise<Event> {
    const { events, resolve } = await this.#upTo(seq);
    return resolve(events[seq - 1]) as Event;
  }

  async stateAt(seq: number): Promise<StateSnapshot> {
    return (await this.#upTo(seq)).stateAt(seq);
  }

  async prompt(seq: number): Promise<ModelPrompt> {
    return promptOf(await this.#upTo(seq), seq);
  }

  /** The session with its event of a number. Another process may have written that. */
  async #upTo(seq: number): Promise<Session> {
    if (seq <= this.#session.events.length) return this.#session;
    if (seq > (this.#reread?.events.length ?? 0))
      this.#reread = await this.#options.app.sessions.open({ id: this.session, observe: false });
    return this.#reread as Session;
  }

  listen(listener: ConversationListener, after: number): void {
    this.#listener = listener;
    this.#lastSeq = after;
    if (this.#session.events.length > 0) this.#follow();
  }

  #isOfLane({ invocationId }: Event): boolean {
    if (invocationId === undefined) return true;
    const run = runOf(invocationId);
    if (!this.#lanes.has(run)) this.#lanes.set(run, laneOf(this.#session.events, run));
    return this.#lanes.get(run) === this.#options.lane;
  }

  #tell(event: StreamEvent): void {
    if ('seq' in event) {
      if (event.seq <= this.#lastSeq) return;
      this.#lastSeq = event.seq;
    }
    this.#listener?.event(event);
  }

  async say(text: string): Promise<void> {
    const clientKey = `terminal:${crypto.randomUUID()}`;
    if (this.#run === undefined) {
      this.#start((options) =>
        this.#options.app.run(this.#options.agent(), { ...this.#begun(options), input: text }),
      );
      return;
    }
    await this.#options.app.send(this.#session.id, text, { ...this.#ofLane, clientKey });
    this.#sent.add(clientKey);
    if (this.#isOver) await this.#read();
  }

  /** Begins a run with the messages that came too late for the last one. */
  async #read(): Promise<void> {
    if (this.#sent.size === 0 || this.#run !== undefined || this.#isStopped) return;
    // Another process may have ended the last run, or have begun one that reads them.
    this.#session = await this.#options.app.sessions.get(this.#session.id);
    if (this.#run !== undefined || this.#isStopped) return;
    const { events } = this.#session;
    const isMark = (event: Event): boolean =>
      (event.type === 'invocation_start' || event.type === 'invocation_end') &&
      runOf(event.invocationId) === event.invocationId &&
      this.#isOfLane(event);
    const end = events.findLastIndex(isMark);
    if (events[end]?.type === 'invocation_start') return;
    const read = new Set(
      events.slice(0, end).map((event) => (event.type === 'user' ? event.clientKey : undefined)),
    );
    const isLate = [...this.#sent].some((key) => !read.has(key));
    this.#sent.clear();
    if (isLate)
      this.#start((options) => this.#options.app.run(this.#options.agent(), this.#begun(options)));
  }

  #begun(options: StartOptions): StartOptions & { readonly model?: string } {
    return { ...options, ...this.#options.runOptions?.(this.#session) };
  }

  resume(): void {
    if (this.#run !== undefined) return;
    this.#start(({ session, ...options }) => this.#options.app.resume(session, options));
  }

  async retry(): Promise<void> {
    await this.#options.app.sessions.reopen(this.#session.id, {
      ...this.#ofLane,
      reason: 'asked again in the terminal',
      by: 'user',
    });
    this.resume();
  }

  #start(begin: (options: StartOptions) => Run): void {
    this.#following?.abort();
    this.#isOver = false;
    const starting = this.#begin(begin).then(async () => {
      if (this.#isOver) await this.#read();
    });
    this.#ended = starting.catch((error: unknown) => this.#listener?.failed(error));
  }

  async #begin(begin: (options: StartOptions) => Run): Promise<void> {
    const { app, prepare, onResult } = this.#options;
    try {
      // Another process may have continued the session meanwhile, or deleted it.
      if (this.#session.events.length > 0) this.#session = await app.sessions.get(this.#session.id);
      await prepare(this.#session);
      for (const event of await this.open()) this.#tell(event);
      const { resolve } = this.#session;
      const onStream = (event: StreamEvent): void => this.#tell(resolve(event) as StreamEvent);
      const run = begin({ ...this.#ofLane, session: this.#session, onStream });
      this.#run = run;
      this.#listener?.changed();
      const result = await run;
      onResult?.(result);
      this.#isOver = result.status === 'completed';
    } catch (error) {
      this.#isGone = isAdjutantError(error, 'session_not_found');
      // A run that another process has ended meanwhile is told by its events.
      this.#isOver = isAdjutantError(error, 'run_stopped') || isAdjutantError(error, 'no_open_run');
      if (!this.#isOver) throw error;
    } finally {
      this.#run = undefined;
      this.#listener?.changed();
      if (!this.#isStopped && !this.#isGone && this.#session.events.length > 0) this.#follow();
    }
  }

  /** Tells what others do with the session, and goes on with a run that somebody answered. */
  #follow(): void {
    this.#following?.abort();
    const following = new AbortController();
    this.#following = following;
    void this.#tellOthers(following.signal).catch((error: unknown) =>
      this.#listener?.failed(error),
    );
    this.#lookForAnswers(following.signal);
  }

  async #tellOthers(signal: AbortSignal): Promise<void> {
    const after = this.#lastSeq;
    for await (const event of this.#options.app.follow(this.#session.id, { after, signal }))
      this.#tell('seq' in event && holdsReference(event) ? await this.whole(event.seq) : event);
  }

  /** Looks for answers from elsewhere as long as requests of the run wait. */
  #lookForAnswers(signal: AbortSignal): void {
    const waiting = this.#session.pendingYieldingCalls;
    if (waiting.length === 0) return;
    const timer = setInterval(
      () => void this.#look(waiting.length).catch(() => undefined),
      lookEvery,
    );
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  async #look(before: number): Promise<void> {
    const { requests } = this.#options.app;
    const pending = await requests.list({ session: this.#session.id, status: 'pending' });
    if (pending.length < before && this.#run === undefined && !this.#isStopped) this.resume();
  }

  async pause(): Promise<void> {
    await this.#options.app.pause(this.#session.id, { ...this.#ofLane, by: 'user' });
  }

  async interrupt(next: 'pause' | 'continue'): Promise<void> {
    await this.#options.app.interrupt(this.#session.id, { ...this.#ofLane, next });
  }

  async cancel(reason?: string): Promise<void> {
    const { app } = this.#options;
    await app.cancel(this.#session.id, { ...this.#ofLane, ...defined({ reason }) });
    if (this.#run === undefined) await app.advance(this.#session.id, this.#ofLane);
  }

  async answer(requestId: string, given: GivenDecision): Promise<void> {
    await this.#options.app.requests.answer(requestId, given);
    this.resume();
  }

  async standing(): Promise<readonly Standing[]> {
    if (this.#session.events.length === 0) return [];
    return this.#options.app.requests.standing(this.#session.id);
  }

  withdraw(id: string): Promise<void> {
    return this.#options.app.requests.withdraw(id);
  }

  async fork(at?: number): Promise<string> {
    const fork = await this.#options.app.sessions.fork(this.#session.id, defined({ at }));
    return fork.id;
  }

  async comeBack(): Promise<boolean> {
    // Without a run here, others are followed all the time.
    if (this.#run === undefined || this.#session.events.length === 0) return false;
    try {
      await this.#session.claim();
      return false;
    } catch (error) {
      if (isAdjutantError(error, 'ledger_conflict')) return true;
      if (isAdjutantError(error, 'session_busy')) return false;
      throw error;
    }
  }

  async stop(): Promise<boolean> {
    this.#isStopped = true;
    this.#following?.abort();
    const worked = this.#run !== undefined;
    this.#run?.stop();
    await this.#ended;
    return worked;
  }
}

interface StartOptions {
  readonly session: Session;
  readonly lane?: string;
  readonly onStream: (event: StreamEvent) => void;
}

/** True for an event with a reference in the place of a large value, or with what looks so. */
function holdsReference(event: Event): boolean {
  return /"\$+blob"/.test(JSON.stringify(event));
}
