import { defined } from '../base/defined.ts';
import { describeValue } from '../base/options.ts';
import { actorOf } from '../engine/requests/check.ts';
import type { Run, RunResult } from '../engine/run/run.ts';
import type { Runtime } from '../runtime.ts';
import type { Runnable } from '../session/runnable.ts';
import type { Session } from '../session/session.ts';
import { transcript } from '../views/transcript.ts';
import {
  answeredBy,
  conversationState,
  messageKey,
  replyOf,
  spokenMessages,
} from './conversation-ledger.ts';
import {
  type ConversationEnd,
  type ConversationResult,
  type ConverseOptions,
  checkConverse,
} from './conversation-options.ts';
import { InvalidUserMessageError } from './errors.ts';
import { askPending } from './pending-questions.ts';
import {
  type AnsweredRequest,
  type ConversationView,
  type GivenAnswer,
  isDone,
  type UserDone,
  type UserTurn,
} from './user.ts';

const defaultTurns = 100;
const defaultAnswers = 1_000;
/**
 * Number of times that a run may come back to the very same settled questions: it takes a moment
 * until another process has taken them in.
 */
const mostIdleRounds = 5;

interface End {
  readonly ended: ConversationEnd;
  readonly reason?: string | undefined;
}

/**
 * Carries a conversation between a runnable and a user out; see `converse`.
 * @throws InvalidOptionError, UnansweredRequestError, UserAnswerRefusedError, whatever the user
 * throws, and what keeps a run from being carried out
 */
export async function driveConversation(
  app: Runtime,
  runnable: Runnable,
  options: ConverseOptions,
): Promise<ConversationResult> {
  checkConverse(options);
  const { session } = options;
  const opened =
    typeof session === 'object'
      ? (session as Session)
      : await app.sessions.open(defined({ id: session }));
  const drive = new Drive(app, runnable, options, opened as Session);
  const end = await drive.toItsEnd();
  return drive.resultOf(end);
}

/** Nobody waits for the user any more. */
class GivenUp extends Error {}

function doneBy({ reason }: UserDone): End {
  return { ended: 'user_done', reason };
}

/**
 * One call of `converse`. What has been said and answered is read from the ledger each time it
 * is needed: it may not have happened here.
 */
class Drive {
  readonly #app: Runtime;
  readonly #runnable: Runnable;
  readonly #options: ConverseOptions;
  readonly #conversation: string;
  readonly #maxTurns: number;
  readonly #maxAnswers: number;
  readonly #signal: AbortSignal;
  readonly #results = new Map<string, RunResult>();
  readonly #given: GivenAnswer[] = [];
  #session: Session;
  #last: RunResult | undefined;
  #idleRounds = 0;

  constructor(app: Runtime, runnable: Runnable, options: ConverseOptions, session: Session) {
    const {
      conversation = 'conversation',
      maxTurns = defaultTurns,
      maxAnswers = defaultAnswers,
      user,
      signal,
    } = options;
    this.#app = app;
    this.#runnable = runnable;
    this.#options = options;
    this.#session = session;
    this.#conversation = conversation;
    this.#maxTurns = Math.min(maxTurns, user.maxTurns ?? maxTurns);
    this.#maxAnswers = maxAnswers;
    this.#signal = signal ?? new AbortController().signal;
  }

  async toItsEnd(): Promise<End> {
    this.#follow();
    let next = await this.#finishBegun();
    while (next === 'go on') next = await this.#goOn();
    this.#follow();
    return next;
  }

  /**
   * Brings the ledger to rest: work that an earlier process began goes on before anybody is
   * asked.
   */
  async #finishBegun(): Promise<End | 'go on'> {
    const open = this.#session.ledger.invocations.roots.some((path) => this.#isOpen(path));
    const { lastRun } = this.#state;
    const { input } = this.#options;
    if (open) await this.#run({});
    else if (lastRun !== undefined) await this.#run({ runId: lastRun });
    if (input === undefined || this.#state.places.has(0)) return 'go on';
    if (this.#signal.aborted) return { ended: 'cancelled' };
    if (this.#last?.status === 'yielded') await this.#tell(input, 0);
    else await this.#begin(input, 0);
    return 'go on';
  }

  /** Runs in other lanes are no part of the conversation. */
  #isOpen(path: string): boolean {
    const record = this.#session.ledger.invocations.byPath.get(path);
    const isOfLane = record?.mode === 'root' && record.start.lane === undefined;
    return isOfLane && (record.status === 'open' || record.status === 'yielded');
  }

  async #goOn(): Promise<End | 'go on'> {
    const last = this.#last;
    if (last === undefined) return this.#speak('start', this.#runnable.name);
    switch (last.status) {
      case 'yielded':
        return this.#answer(last);
      case 'completed':
        if (!(this.#options.followUps ?? this.#runnable.kind === 'agent'))
          return { ended: 'completed' };
        return this.#speak('follow_up', this.#runnable.name);
      case 'error':
        return { ended: 'error', reason: last.error?.message };
      case 'cancelled':
        return { ended: 'cancelled', reason: last.error?.message };
    }
  }

  /** Answers what the run waits for, or says what a loop waits for. */
  async #answer(last: RunResult): Promise<End | 'go on'> {
    const asked = await this.#orAborted(() => this.#askPending(last));
    if (asked === 'aborted') return this.#aborted();
    this.#given.push(...asked.given);
    if (asked.done !== undefined) return doneBy(asked.done);
    if (asked.settled > 0) {
      this.#idleRounds = asked.given.length > 0 ? 0 : this.#idleRounds + 1;
      if (this.#idleRounds > mostIdleRounds)
        return {
          ended: 'stuck',
          reason: 'Its questions are answered, and it does not take the answers in.',
        };
      await this.#run({});
      return 'go on';
    }
    if (last.awaitingInput) return this.#speak('loop', this.#loopOf(last));
    const reasons = asked.left.map(
      ({ kind, name, request }) => `${kind} "${name}": ${request.summary}`,
    );
    const { sleepsUntil } = last;
    const isOver = this.#given.length >= this.#maxAnswers;
    const why = isOver
      ? `${this.#maxAnswers} answers were given, which is \`maxAnswers\``
      : 'The user does not answer';
    return {
      ended: 'stuck',
      reason:
        reasons.length === 0
          ? sleepsUntil === undefined
            ? 'The run waits for nothing that a user could answer.'
            : `The run sleeps until ${new Date(sleepsUntil).toISOString()}.`
          : `${why}: ${reasons.join('; ')}`,
    };
  }

  #askPending({ pendingCalls }: RunResult): ReturnType<typeof askPending> {
    const { user } = this.#options;
    return askPending(pendingCalls, {
      user,
      view: this.#view(),
      answered: this.#answered,
      most: this.#maxAnswers - this.#given.length,
      waitFor: (said) => this.#waitFor(said),
      onAnswer: (answered) => user.follow?.({ messages: this.#ownMessages, answered }),
    });
  }

  #loopOf({ yieldedInvocationId = '' }: RunResult): string {
    return (
      this.#session.ledger.invocations.byPath.get(yieldedInvocationId)?.name ?? this.#runnable.name
    );
  }

  /** Lets the user say something, and the app answer it. */
  async #speak(asks: UserTurn['asks'], runnable: string): Promise<End | 'go on'> {
    if (this.#signal.aborted) return this.#aborted();
    if (this.#turns >= this.#maxTurns)
      return {
        ended: 'max_turns',
        reason: `The user has said ${this.#turns} messages, and may say no more.`,
      };
    const index = this.#ownMessages;
    const turn: UserTurn = { ...this.#view(), index, asks, runnable };
    const said = await this.#orAborted(async () => ({
      value: await this.#waitFor(this.#options.user.message(turn)),
    }));
    if (said === 'aborted') return this.#aborted();
    const { value } = said;
    if (isDone(value)) return doneBy(value);
    if (value === undefined) return this.#silence(asks);
    if (typeof value !== 'string' || value.trim() === '')
      throw new InvalidUserMessageError({ found: describeValue(value) });
    if (asks === 'loop') await this.#tell(value, this.#nextPlace);
    else await this.#begin(value, this.#nextPlace);
    this.#follow();
    return 'go on';
  }

  /** Decides how the conversation continues when the user has nothing to say. */
  async #silence(asks: UserTurn['asks']): Promise<End | 'go on'> {
    if (asks === 'follow_up') return { ended: 'completed' };
    if (asks === 'loop')
      return {
        ended: 'user_done',
        reason: 'A loop waits for a message, and the user says nothing more.',
      };
    // Runs need no message: there may be one from before, or data. What has run already is not run
    // again for nothing.
    if (this.#session.status !== 'active' && this.#options.data === undefined)
      return { ended: 'completed' };
    await this.#begin(undefined, 0);
    return 'go on';
  }

  async #aborted(): Promise<End> {
    if (this.#last?.status === 'yielded') await this.#run({});
    return {
      ended: 'cancelled',
      reason:
        this.#last?.status === 'cancelled'
          ? this.#last.error?.message
          : 'The conversation was aborted.',
    };
  }

  /** A new run. Its name makes it one run, however often it is asked for. */
  async #begin(input: string | undefined, place: number): Promise<void> {
    const { data } = this.#options;
    const first = place === 0 || this.#last === undefined;
    await this.#run({
      runId: messageKey(this.#conversation, place),
      ...defined({ input }),
      ...(first && data !== undefined ? { data } : {}),
    });
  }

  /** A message for the open run, or for the loop in it that waits. */
  async #tell(text: string, place: number): Promise<void> {
    const [by] = this.#options.user.ids;
    const to = this.#last?.awaitingInput === true ? this.#last.yieldedInvocationId : undefined;
    await this.#app.send(this.#session.id, text, {
      by: actorOf(by),
      clientKey: messageKey(this.#conversation, place),
      ...defined({ invocationId: to }),
    });
    await this.#run({});
  }

  async #run(more: {
    readonly runId?: string;
    readonly input?: string;
    readonly data?: ConverseOptions['data'];
  }): Promise<void> {
    const {
      user: _user,
      conversation: _name,
      maxTurns: _turns,
      maxAnswers: _answers,
      followUps: _more,
      input: _input,
      data: _data,
      onRun,
      ...rest
    } = this.#options;
    const data = defined({ data: more.data });
    const { data: _given, ...named } = more;
    const run: Run = this.#app.run(this.#runnable, {
      ...rest,
      ...named,
      ...data,
      session: this.#session,
    });
    onRun?.(run);
    const result: RunResult = await run;
    this.#session = result.session;
    this.#last = result;
    this.#results.delete(result.runId);
    this.#results.set(result.runId, result);
  }

  get #state(): ReturnType<typeof conversationState> {
    return conversationState(this.#session, this.#conversation);
  }

  get #turns(): number {
    return this.#state.places.size;
  }

  /** Messages that the user gave, without the input of the caller. */
  get #ownMessages(): number {
    const { places } = this.#state;
    return places.has(0) ? places.size - 1 : places.size;
  }

  get #nextPlace(): number {
    return Math.max(0, ...this.#state.places) + 1;
  }

  get #answered(): readonly AnsweredRequest[] {
    return answeredBy(this.#session, this.#options.user.ids, this.#state.since);
  }

  #follow(): void {
    this.#options.user.follow?.({ messages: this.#ownMessages, answered: this.#answered });
  }

  /** Waits for the user, but not for longer than anybody wants to know. */
  async #waitFor<Value>(said: Value | Promise<Value>): Promise<Value> {
    const signal = this.#signal;
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(new GivenUp());
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([said, promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Runs `work`. An error that the user throws after the abort is no failure. */
  async #orAborted<Value>(work: () => Promise<Value>): Promise<Value | 'aborted'> {
    if (this.#signal.aborted) return 'aborted';
    try {
      return await work();
    } catch (error) {
      if (error instanceof GivenUp || this.#signal.aborted) return 'aborted';
      throw error;
    }
  }

  resultOf({ ended, reason }: End): ConversationResult {
    const session = this.#session;
    const last = this.#last;
    return {
      session,
      ended,
      reason,
      status: last?.status,
      output: last?.output,
      result: last,
      results: [...this.#results.values()],
      turns: this.#turns,
      answers: this.#given,
      pendingCalls: last?.status === 'yielded' ? last.pendingCalls : [],
      transcript: transcript(session.events, session.ledger.resolve),
    };
  }

  #view(): ConversationView {
    const messages = spokenMessages(this.#session);
    return {
      app: this.#app,
      session: this.#session,
      conversation: this.#conversation,
      messages,
      reply: replyOf(messages),
      signal: this.#signal,
    };
  }
}
