import { type AdjutantClient, type Answer, isServerProblem } from '@adjutant/server/client';
import { type Event, isDurable, type Session, type StreamEvent } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { defined } from 'adjutant/text';
import type { StateSnapshot } from 'adjutant/views';
import { eventsOf, sessionOf, withLargeValues } from '../../access/server-session.ts';
import { isClientFailure } from '../../failure.ts';
import type {
  Conversation,
  ConversationListener,
  GivenDecision,
  ModelPrompt,
  Standing,
} from './conversation.ts';
import { LaneRun } from './lane-run.ts';
import { StreamContinuation } from './stream-continuation.ts';

export interface ServerConversationOptions {
  readonly client: AdjutantClient;
  /** Id of the session, also of one that is begun under this name. @default a new one */
  readonly session?: string | undefined;
  readonly lane?: string | undefined;
  /** Name of the agent that answers where no run is open. */
  readonly agent: () => string;
}

/**
 * A conversation on a server, which carries its runs out. What it does comes by the stream of the
 * session, over as many connections as that takes.
 */
export class ServerConversation implements Conversation {
  readonly #client: AdjutantClient;
  readonly #agent: () => string;
  readonly #ofLane: { readonly lane?: string };
  readonly #run: LaneRun;
  readonly #continuation = new StreamContinuation();
  #session: string | undefined;
  /** The session as it was read last, with its large values. */
  #reading: Session | undefined;
  /** True when the server has the session. */
  #isStored = false;
  #listener: ConversationListener | undefined;
  /** Aborted when the conversation is left: nothing is asked of the server any more. */
  readonly #leaving = new AbortController();
  #isFollowing = false;
  #lastSeq = 0;
  /** True from a request for work until the ledger tells of it. */
  #isAsked = false;

  constructor({ client, session, lane, agent }: ServerConversationOptions) {
    this.#client = client;
    this.#agent = agent;
    this.#session = session;
    this.#ofLane = defined({ lane });
    this.#run = new LaneRun(lane);
  }

  get #whileHere(): { readonly signal: AbortSignal } {
    return { signal: this.#leaving.signal };
  }

  get #ofRun(): { readonly lane?: string; readonly signal: AbortSignal } {
    return { ...this.#ofLane, ...this.#whileHere };
  }

  #continue(session: string): Promise<unknown> {
    return this.#client.sessions.continue(session, this.#ofRun);
  }

  get session(): string | undefined {
    return this.#session;
  }

  get isWorking(): boolean {
    return this.#isAsked || this.#run.isWorking;
  }

  async open(): Promise<readonly Event[]> {
    if (this.#session === undefined) return [];
    try {
      const events = await eventsOf(this.#client, this.#session);
      this.#isStored = true;
      this.#lastSeq = events.at(-1)?.seq ?? 0;
      return events.flatMap((event) => this.#run.take(event));
    } catch (error) {
      if (isServerProblem(error, 'session_not_found')) return [];
      throw error;
    }
  }

  async whole(seq: number): Promise<Event> {
    return (await this.#read(seq)).events[seq - 1] as Event;
  }

  async stateAt(seq: number): Promise<StateSnapshot> {
    return (await this.#read(seq)).stateAt(seq);
  }

  async prompt(seq: number): Promise<ModelPrompt> {
    return promptOf(await this.#read(seq), seq);
  }

  /** The session as it can be read, at least up to an event. */
  async #read(seq: number): Promise<Session> {
    const id = this.#session ?? '';
    if (this.#reading === undefined || seq > this.#reading.events.length)
      this.#reading = await sessionOf(id, await eventsOf(this.#client, id));
    return this.#reading;
  }

  listen(listener: ConversationListener): void {
    this.#listener = listener;
    if (this.#isStored) this.#follow();
  }

  /** The session, which is made now if it is to be begun under a name of its own. */
  async #stored(): Promise<{ readonly session?: string }> {
    const session = this.#session;
    if (session === undefined) return {};
    if (!this.#isStored) await this.#client.sessions.create({ id: session }, this.#whileHere);
    return { session };
  }

  async say(text: string): Promise<void> {
    const write = { ...this.#whileHere, idempotencyKey: `terminal:${crypto.randomUUID()}` };
    const isWaiting = this.#run.agent !== undefined;
    await this.#ask(async () => {
      const stored = await this.#stored();
      const agent = this.#run.agent ?? this.#agent();
      const run = { agent, input: text, ...stored, ...this.#ofLane };
      const { session } = await this.#client.runs.start(run, write).accepted();
      this.#session = session;
      this.#isStored = true;
      // A run that waits for somebody else may take the message in and wait on.
      if (isWaiting) this.#isAsked = false;
    });
  }

  resume(): void {
    const session = this.#session;
    if (session === undefined || this.isWorking) return;
    void this.#ask(() => this.#continue(session)).catch((error: unknown) => this.#failed(error));
  }

  async retry(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    const reason = 'asked again in the terminal';
    await this.#client.sessions.reopen(session, { ...this.#ofRun, reason });
    await this.#ask(() => this.#continue(session));
  }

  /** Asks for work, and follows what becomes of it. */
  async #ask(request: () => Promise<unknown>): Promise<void> {
    this.#isAsked = true;
    this.#listener?.changed();
    try {
      await request();
    } catch (error) {
      this.#isAsked = false;
      // Nobody is here to be told.
      if (this.#leaving.signal.aborted) return;
      throw error;
    } finally {
      this.#listener?.changed();
    }
    if (!this.#isFollowing) this.#follow();
  }

  #follow(): void {
    this.#isFollowing = true;
    void this.#tellAll(this.#leaving.signal)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#isFollowing = false;
      });
  }

  #failed(error: unknown): void {
    if (!this.#leaving.signal.aborted) this.#listener?.failed(error);
  }

  /** Tells what happens. A server that is away for long is told once, and waited for. */
  async #tellAll(signal: AbortSignal): Promise<void> {
    const session = this.#session ?? '';
    let isAway = false;
    while (!signal.aborted) {
      const after = this.#lastSeq;
      try {
        for await (const event of this.#client.sessions.follow(session, { after, signal })) {
          isAway = false;
          await this.#tell(session, event);
        }
        return;
      } catch (error) {
        if (signal.aborted || !isLost(error)) throw error;
        if (!isAway) this.#failed(error);
        isAway = true;
      }
    }
  }

  async #tell(session: string, streamed: StreamEvent): Promise<void> {
    const event = isDurable(streamed)
      ? await withLargeValues(this.#client, session, streamed)
      : streamed;
    if (isDurable(event)) {
      this.#lastSeq = event.seq;
      const wasWorking = this.isWorking;
      const events = this.#run.take(event);
      if (events.length > 0) this.#isAsked = false;
      for (const one of events) this.#pass(one);
      if (this.isWorking !== wasWorking) this.#listener?.changed();
    } else if (this.#run.covers(event)) this.#pass(event);
  }

  #pass(event: StreamEvent): void {
    for (const one of this.#continuation.take(event)) this.#listener?.event(one);
  }

  async pause(): Promise<void> {
    const session = this.#session;
    if (session !== undefined) await this.#client.sessions.pause(session, this.#ofRun);
  }

  async interrupt(next: 'pause' | 'continue'): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    await this.#client.sessions.interrupt(session, { ...this.#ofRun, next });
  }

  async cancel(reason?: string): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    await this.#client.sessions.cancel(session, { ...this.#ofRun, ...defined({ reason }) });
    if (this.#run.isWorking) return;
    // A run that waits would take it in only when the server next looks for such runs.
    await this.#continue(session).catch((error: unknown) => {
      if (!isServerProblem(error, 'no_open_run')) throw error;
    });
  }

  async answer(requestId: string, given: GivenDecision): Promise<void> {
    await this.#client.approvals.answer(requestId, given as Answer, this.#whileHere);
  }

  async standing(): Promise<readonly Standing[]> {
    const session = this.#session;
    if (session === undefined || !this.#isStored) return [];
    return this.#client.approvals.standing(session, this.#whileHere);
  }

  withdraw(id: string): Promise<void> {
    return this.#client.approvals.withdraw(id, this.#whileHere);
  }

  async fork(at?: number): Promise<string> {
    const { id } = await this.#client.sessions.fork(
      this.#session ?? '',
      defined({ at }),
      this.#whileHere,
    );
    return id;
  }

  /** The stream goes on by itself: nothing was worked on here. */
  async comeBack(): Promise<boolean> {
    return false;
  }

  async stop(): Promise<boolean> {
    const { isWorking } = this;
    this.#leaving.abort();
    return isWorking;
  }
}

/** True when the server could not be reached for as long as the client tries. */
function isLost(error: unknown): boolean {
  return isClientFailure(error) && error.code === 'connection_lost';
}
