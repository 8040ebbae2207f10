import type { StoredEvent, StreamEvent } from 'adjutant';
import { defined } from './defined.ts';
import { type FollowOptions, follow, followFrames } from './follow.ts';
import { Listing } from './listing.ts';
import { changeReader, type SessionChange } from './session-changes.ts';
import {
  type CallOptions,
  pathOf,
  type Query,
  type Transport,
  type WriteOptions,
} from './transport.ts';
import type {
  DecisionPage,
  DecisionQuery,
  EventPage,
  EventQuery,
  ExplanationQuery,
  FailurePage,
  FailureQuery,
  Interruption,
  Moment,
  MomentQuery,
  NewFork,
  NewMessage,
  NewSession,
  Outline,
  OutlineQuery,
  PlanQuery,
  Reopening,
  RunExplanation,
  ServerPrompt,
  ServerReplay,
  ServerReplayOptions,
  ServerSession,
  ServerSessionDetails,
  SessionControl,
  SessionDifference,
  SessionListQuery,
  SessionPlans,
  SessionState,
  SessionTree,
  StartedServerRun,
  ToldOutcome,
  TranscriptEntries,
  TreeQuery,
} from './types.ts';

const largestPage = 1_000;

export interface EventOptions extends EventQuery, CallOptions {
  /** Gives only the events up to this one. @default the last one */
  readonly upTo?: number;
}

/**
 * The sessions of a server.
 *
 * All calls reject with ServerProblemError when the server refuses them, and with
 * ConnectionLostError when it cannot be reached.
 */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a session and stores it at once. Runs can also be started without one. */
  create(session: NewSession = {}, options: WriteOptions = {}): Promise<ServerSession> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('sessions'),
      body: session,
      ...options,
    });
  }

  /** Sessions, newest first. */
  list(
    query: SessionListQuery = {},
    options: CallOptions = {},
  ): Listing<ServerSession, 'sessions'> {
    return new Listing('sessions', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('sessions'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }

  /**
   * Changes of sessions, for as long as somebody iterates. Begins with `begun`, and so again
   * after each lost connection: a list that is read then misses no change.
   */
  changes({ signal }: CallOptions = {}): AsyncIterableIterator<SessionChange> {
    return followFrames(this.#transport, {
      path: pathOf('changes'),
      reader: changeReader,
      ...defined({ signal }),
    });
  }

  get(session: string, options: CallOptions = {}): Promise<ServerSessionDetails> {
    return this.#transport.json({ method: 'GET', path: pathOf('sessions', session), ...options });
  }

  /** Removes a session for good. @param options.erase also its forks, and all that they share */
  async delete(
    session: string,
    { erase = false, ...options }: WriteOptions & { readonly erase?: boolean } = {},
  ): Promise<void> {
    const query = erase ? { erase } : {};
    await this.#transport.json({
      method: 'DELETE',
      path: pathOf('sessions', session),
      query,
      ...options,
    });
  }

  /** Makes a session that goes its own way from an event of this one. */
  fork(session: string, fork: NewFork = {}, options: WriteOptions = {}): Promise<ServerSession> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('sessions', session, 'fork'),
      body: fork,
      ...options,
    });
  }

  /** The session as it was right after an event. @param options.at its seq @default the last one */
  state(
    session: string,
    { at, ...options }: CallOptions & { readonly at?: number } = {},
  ): Promise<SessionState> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('sessions', session, 'state'),
      query: { at },
      ...options,
    });
  }

  /** The ledger as it is now, page after page, or what of it a filter chooses; `follow` goes on. */
  async *events(
    session: string,
    { upTo = Number.POSITIVE_INFINITY, ...options }: EventOptions = {},
  ): AsyncGenerator<StoredEvent, void> {
    let after = options.after ?? 0;
    for (;;) {
      const page = await this.eventPage(session, { limit: largestPage, ...options, after });
      for (const event of page.events) {
        if (event.seq > upTo) return;
        yield event as unknown as StoredEvent;
      }
      after = page.next;
      if (after >= Math.min(page.last, upTo)) return;
    }
  }

  /** A part of the ledger, or what of it has a type, an agent, a time or a text. */
  eventPage(
    session: string,
    { signal, type, ...query }: EventQuery & CallOptions = {},
  ): Promise<EventPage> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('sessions', session, 'events'),
      query: { ...query, type: type?.join(',') },
      ...defined({ signal }),
    });
  }

  /** The events without their bodies, in columns: enough to draw all of them. */
  outline(session: string, query: OutlineQuery & CallOptions = {}): Promise<Outline> {
    return this.#view(session, 'outline', query);
  }

  /**
   * The session right after an event: state, changes, open requests, usage and invocations.
   * @param query.at its seq @default the last one
   */
  moment(session: string, query: MomentQuery & CallOptions = {}): Promise<Moment> {
    return this.#view(session, 'moment', query);
  }

  /** The invocations as trees, one for each run, with times and cost. */
  tree(session: string, query: TreeQuery & CallOptions = {}): Promise<SessionTree> {
    return this.#view(session, 'tree', query);
  }

  /** The plans: their subtasks with progress, their revisions, the critical path. */
  plans(session: string, query: PlanQuery & CallOptions = {}): Promise<SessionPlans> {
    return this.#view(session, 'plans', query);
  }

  /** The decisions in words, with the alternatives, a page at a time. */
  decisions(session: string, query: DecisionQuery & CallOptions = {}): Promise<DecisionPage> {
    return this.#view(session, 'decisions', query);
  }

  /** Failures and escalations, a page at a time. */
  failures(session: string, query: FailureQuery & CallOptions = {}): Promise<FailurePage> {
    return this.#view(session, 'failures', query);
  }

  /** A run explained to a reader, from its ledger and without a model. */
  explanation(
    session: string,
    query: ExplanationQuery & CallOptions = {},
  ): Promise<RunExplanation> {
    return this.#view(session, 'explanation', query);
  }

  /** The session as a conversation. */
  async transcript(session: string, options: CallOptions = {}): Promise<TranscriptEntries> {
    const { entries } = await this.#transport.json<{ entries: TranscriptEntries }>({
      method: 'GET',
      path: pathOf('sessions', session, 'transcript'),
      ...options,
    });
    return entries;
  }

  /**
   * The exact prompt of a model call, in sections with their tokens, and what has changed since the
   * last call of the same agent. @param seq place of its `model_start`
   */
  prompt(session: string, seq: number, options: CallOptions = {}): Promise<ServerPrompt> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('sessions', session, 'prompts', String(seq)),
      ...options,
    });
  }

  /**
   * Runs the code of the server against the session, and finds the first place where it does
   * something else. Writes nothing. @param options.runSteps runs steps that may have effects, too
   */
  replay(
    session: string,
    { signal, ...body }: ServerReplayOptions & CallOptions = {},
  ): Promise<ServerReplay> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('sessions', session, 'replay'),
      body,
      ...defined({ signal }),
    });
  }

  /** The first place at which two sessions differ, such as a fork and its origin. */
  difference(
    session: string,
    other: string,
    options: CallOptions = {},
  ): Promise<SessionDifference> {
    const query = { ...options, with: other };
    return this.#view(session, 'difference', query);
  }

  /**
   * The session as the text of a ledger file, without its secrets and the chosen values:
   * `parseLedgerFile` reads it. @param options.redact keys, or the ends of their paths
   */
  export(
    session: string,
    { redact = [], signal }: CallOptions & { readonly redact?: readonly string[] } = {},
  ): Promise<string> {
    return this.#transport.text({
      method: 'GET',
      path: pathOf('sessions', session, 'export'),
      query: { redact },
      ...defined({ signal }),
    });
  }

  /**
   * All events of a session and what is being written at the moment, for as long as somebody
   * iterates. A lost connection is made again: each durable event comes once, in order, none is
   * left out; after it `stream_reset` and the text so far come again, as `streamedText` expects.
   */
  follow(session: string, options: FollowOptions = {}): AsyncIterableIterator<StreamEvent> {
    return follow(this.#transport, {
      ...options,
      path: pathOf('sessions', session, 'stream'),
      isWhole: true,
    });
  }

  /** Leaves a message: the open run has it in its next prompt, otherwise the next run does. */
  async send(
    session: string,
    text: string,
    { interrupt, key, lane, ...options }: NewMessage & WriteOptions = {},
  ): Promise<void> {
    await this.#write(
      session,
      'messages',
      {
        text,
        ...defined({ interrupt, key, lane }),
      },
      options,
    );
  }

  /**
   * Ends what the session has under way, whoever works on it. Resolves when that is stored, and not
   * when it has ended.
   */
  cancel(session: string, options: WriteOptions & SessionControl = {}): Promise<void> {
    return this.#control(session, 'cancel', options);
  }

  /** Lets the session end its open round and begin no other, until it is continued. */
  pause(session: string, options: WriteOptions & SessionControl = {}): Promise<void> {
    return this.#control(session, 'pause', options);
  }

  /**
   * Cuts off the answer that the model is giving. What it has said is kept; the run is paused, or
   * goes on with the messages that have come.
   */
  interrupt(session: string, options: WriteOptions & Interruption = {}): Promise<void> {
    const { lane, next, reason, ...rest } = options;
    return this.#write(session, 'interrupt', defined({ lane, next, reason }), rest);
  }

  /** Lets the open run of a session go on that was paused, or that stopped; resolves with it. */
  continue(
    session: string,
    { lane, ...options }: WriteOptions & Pick<SessionControl, 'lane'> = {},
  ): Promise<StartedServerRun> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('sessions', session, 'continue'),
      ...(lane === undefined ? {} : { body: { lane } }),
      ...options,
    });
  }

  /**
   * Records the outcome of a call or an effect that nobody knows. Resolves when it is recorded,
   * also by another process that works on the session.
   */
  resolveUnknown(
    session: string,
    callId: string,
    { happened, result, failed, ...options }: ToldOutcome & WriteOptions,
  ): Promise<void> {
    const found = {
      ...defined({ result, failed }),
    };
    return this.#write(session, 'outcomes', { callId, happened, ...found }, options);
  }

  /** Opens a failed or cancelled run again; `continue` goes on with it. */
  reopen(
    session: string,
    { reason, path, lane, ...options }: Reopening & WriteOptions,
  ): Promise<void> {
    const part = {
      ...defined({ path, lane }),
    };
    return this.#write(session, 'reopen', { reason, ...part }, options);
  }

  #view<Answer>(session: string, noun: string, options: CallOptions & object): Promise<Answer> {
    const { signal, ...query } = options;
    return this.#transport.json({
      method: 'GET',
      path: pathOf('sessions', session, noun),
      query: query as Query,
      ...defined({ signal }),
    });
  }

  #control(
    session: string,
    verb: string,
    { lane, reason, ...options }: WriteOptions & SessionControl,
  ): Promise<void> {
    return this.#write(session, verb, defined({ reason, lane }), options);
  }

  async #write(session: string, noun: string, body: object, options: WriteOptions): Promise<void> {
    await this.#transport.json({
      method: 'POST',
      path: pathOf('sessions', session, noun),
      body,
      ...options,
    });
  }
}
