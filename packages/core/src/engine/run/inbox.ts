import { AbortReason } from '../../base/cancel-scope.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { questionDraft, requestDecision, sameQuestion } from '../../effects/tool-request.ts';
import { hadNoEffect } from '../../effects/tool-result-texts.ts';
import { isSaidBy, namesOf } from '../../ledger/actor.ts';
import type { EventDraft, EventOf, RequestDecision } from '../../ledger/event.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { InboxEntry, PendingRequest } from '../../ledger/port.ts';
import { toToolResult } from '../../tools/result.ts';
import { grantDraft } from '../frame/grants.ts';

/**
 * How often the inbox is looked at while something is under way and no hint comes (SEMANTICS §2).
 */
const lookEveryMs = 250;

/** The part of a run that the inbox acts on. */
export interface InboxTarget {
  readonly ledger: Ledger;
  readonly runId: string;
  /** Whether something of the run is still open, so that it can be told or cancelled. */
  readonly isOpen: () => boolean;
  /**
   * Whether everything in it waits and it is about to give the session back: what comes now is for
   * the next turn. @default never
   */
  readonly isParked?: () => boolean;
  /** Who resumes a run does not mean what was posted to pause it before. @default 0 */
  readonly heedsPausesAfter?: number;
  /** Called when something has come that is left for the next turn. */
  late?(): void;
  cancel(reason: AbortReason): void;
  pause(): void;
  interrupt(): void;
}

/** What is made of one item. `undefined`: it is left for whoever can use it. */
interface Judgement {
  readonly drafts: readonly EventDraft[];
  readonly act?: (() => void) | undefined;
  readonly requests?: readonly PendingRequest[] | undefined;
}

/**
 * Turns what others posted into events, in order, each in the transaction that takes it out of the
 * inbox: what was posted is in the inbox or in the ledger, never in both or in none.
 */
export class InboxReader {
  readonly #target: InboxTarget;
  /**
   * Inputs of runs to come that were left for those who posted them: where they lie, by the name of
   * the run.
   */
  readonly left = new Map<string, InboxEntry>();
  #seen = 0;
  #draining: Promise<void> | undefined;
  #stopped = false;
  #cancelTimer: () => void = () => undefined;
  #forget: () => void = () => undefined;

  constructor(target: InboxTarget) {
    this.#target = target;
  }

  /** The last item that was looked at: what `release` is to be asked with. */
  get seen(): number {
    return this.#seen;
  }

  /** Looks whenever the store tells of something new, and now and then besides. */
  start(): void {
    const { ledger } = this.#target;
    this.#forget = ledger.onInbox(() => this.poke());
    this.#arm();
  }

  /** Ends looking and resolves when what was begun has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#forget();
    await this.#draining?.catch(() => undefined);
  }

  /** Something may have been posted. */
  poke(): void {
    if (!this.#stopped) void this.drain().catch((error: unknown) => this.#failed(error));
  }

  /**
   * Not the clock port: a post is no part of the time in which the run happens, and a test clock
   * must not hold it back.
   */
  #arm(clock: Clock = systemClock): void {
    if (this.#stopped) return;
    this.#cancelTimer = clock.setTimer(lookEveryMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { ledger } = this.#target;
    try {
      const head =
        this.#stopped || ledger.failure !== undefined
          ? undefined
          : await ledger.ports.store.head(ledger.session);
      if (head !== undefined && head.inboxSeq > this.#seen) await this.drain();
    } catch (error) {
      this.#failed(error);
    }
    this.#arm();
  }

  /**
   * A store that does not answer now is asked again; the writer finds out whether the ledger is
   * lost.
   */
  #failed(error: unknown): void {
    if (!isAdjutantError(error, 'store_unavailable') && this.#target.ledger.failure === undefined)
      this.#target.ledger.fail(error);
  }

  /** Takes in what was posted so far. */
  drain(): Promise<void> {
    if (this.#draining !== undefined) return this.#draining.then(() => this.drain());
    this.#draining = this.#takeIn().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  async #takeIn(): Promise<void> {
    const { ledger } = this.#target;
    if (ledger.failure !== undefined) return;
    // What is posted while it is read may be missing in it.
    const upTo = ledger.inboxSeq;
    const entries = await ledger.ports.store.inbox(ledger.session);
    const failed = ledger.failure !== undefined;
    // Nobody would act on it any more. It has not been seen, so that the session is not given back.
    if (this.#target.isParked?.() === true) {
      if (entries.some(({ position }) => position > this.#seen)) this.#target.late?.();
      return;
    }
    for (const entry of entries) {
      if (failed || entry.position <= this.#seen) continue;
      const judged = this.#judge(entry);
      if (judged === undefined) continue;
      const { drafts, requests } = judged;
      // What is no longer in the inbox makes the session due no more, and the run that has taken it
      // in may have waited.
      const wakeAt =
        drafts.length > 0 && this.#target.isOpen() ? { wakeAt: ledger.ports.clock.now() } : {};
      ledger.append(drafts, {
        consumes: [entry.position],
        ...wakeAt,
        ...(requests === undefined ? {} : { requests }),
      });
      judged.act?.();
    }
    this.#seen = Math.max(this.#seen, upTo, ...entries.map(({ position }) => position));
  }

  #judge(entry: InboxEntry): Judgement | undefined {
    const { isOpen, runId, heedsPausesAfter = 0 } = this.#target;
    switch (entry.type) {
      case 'cancel':
        return this.#cancelOrRefuse(entry);
      case 'pause':
        if (!isOpen())
          return { drafts: [this.#refuse(entry, 'The run had ended before it could be paused.')] };
        if (entry.position <= heedsPausesAfter)
          return { drafts: [this.#refuse(entry, 'The run was resumed after that.')] };
        return this.#pause(entry);
      case 'tool_input':
        return this.#input(entry);
      case 'user':
        return this.#message(entry);
      case 'wake':
        return { drafts: [] };
      case 'token_refused':
        return { drafts: [tokenRefusal(entry)] };
      case 'grant':
      case 'revoke':
        return { drafts: [this.#grant(entry, entry.type)] };
      case 'child_end':
        return {
          drafts: [
            this.#refuse(entry, `Nothing in "${runId}" waits for a child of another session.`),
          ],
        };
    }
  }

  #cancelOrRefuse(entry: InboxEntry): Judgement {
    const { isOpen, runId } = this.#target;
    const meant = textOf(entry.data, 'runId') ?? runId;
    const { byPath } = this.#target.ledger.invocations;
    if (isOpen() && meant === runId) return this.#cancel(entry);
    const why =
      byPath.has(meant) || meant === runId
        ? 'had ended before it could be cancelled'
        : `"${meant}" had not begun when it was to be cancelled`;
    return { drafts: [this.#refuse(entry, `The run ${why}.`)] };
  }

  #cancel(entry: InboxEntry): Judgement {
    const { runId } = this.#target;
    const reason = textOf(entry.data, 'reason') ?? 'The run was cancelled.';
    return {
      drafts: [{ type: 'cancel', by: entry.by, invocationId: runId, reason }],
      act: () => this.#target.cancel(new AbortReason('cancelled', reason)),
    };
  }

  #pause(entry: InboxEntry): Judgement {
    const reasoning =
      textOf(entry.data, 'reason') ??
      'The run is paused: the open round ends, and no other begins.';
    return {
      drafts: [
        {
          type: 'decision',
          by: entry.by,
          invocationId: this.#target.runId,
          component: 'run',
          decision: 'pause',
          reasoning,
        },
      ],
      act: () => this.#target.pause(),
    };
  }

  /** What came with the input of a run goes where that goes. */
  #grant({ by, data }: InboxEntry, decision: 'grant' | 'revoke'): EventDraft {
    const { isOpen, runId } = this.#target;
    const given = data['permissions'];
    const permissions = Array.isArray(given)
      ? given.filter((name) => typeof name === 'string')
      : [];
    const of = textOf(data, 'runId');
    return grantDraft(decision, {
      permissions,
      by,
      reason: textOf(data, 'reason'),
      ...(of === undefined ? {} : { runId: isOpen() ? runId : of }),
    });
  }

  /** A message to a run is its next input; one that came too late for it is there for the next. */
  #message(entry: InboxEntry): Judgement | undefined {
    const { isOpen, runId } = this.#target;
    const { data } = entry;
    const starts = textOf(data, 'runId');
    if (starts !== undefined) {
      // Whoever posted it to start a run takes it out himself; what a run that has ended dispatched
      // is told nothing.
      const isTold = isOpen() && this.#isUnderWay();
      if (!isTold && !this.left.has(starts)) this.left.set(starts, entry);
      if (!isTold) return undefined;
      if (starts === runId && this.#hasTaken(starts, data)) return { drafts: [] };
    }
    if (starts !== undefined && starts !== runId && data['data'] !== undefined) {
      return {
        drafts: [
          this.#refuse(
            entry,
            `Another run, "${runId}", was open: it cannot be given what "${starts}" was to ` +
              'begin with.',
          ),
        ],
      };
    }
    const to = textOf(data, 'invocationId') ?? runId;
    // No prompt would ever have it.
    if (isOpen() && !this.#target.ledger.invocations.byPath.has(to)) {
      return {
        drafts: [
          this.#refuse(entry, `There is no invocation "${to}" that a message could go to.`, {
            text: textOf(data, 'text') ?? '',
          }),
        ],
      };
    }
    const clientKey = textOf(data, 'clientKey') ?? textOf(data, 'runId');
    const draft: EventDraft = {
      type: 'user',
      by: entry.by,
      text: textOf(data, 'text') ?? '',
      ...(isOpen() ? { invocationId: to } : {}),
      ...(clientKey === undefined ? {} : { clientKey }),
    };
    return {
      drafts: [draft],
      act: data['interrupt'] === true ? () => this.#target.interrupt() : undefined,
    };
  }

  /** Whether the root itself has begun and has no outcome. */
  #isUnderWay(): boolean {
    const { ledger, runId } = this.#target;
    return ledger.invocations.byPath.has(runId) && !hasOutcome(ledger.invocations, runId);
  }

  /** Whether a run that is asked for again has what it is asked for with. */
  #hasTaken(clientKey: string, data: JsonObject): boolean {
    const { ledger } = this.#target;
    const text = textOf(data, 'text');
    return (
      text === undefined ||
      ledger.events.some(
        (event) =>
          event.type === 'user' &&
          event.clientKey === clientKey &&
          ledger.resolve(event.text) === text,
      )
    );
  }

  /** What somebody found out about a call of unknown outcome counts as a result that came late. */
  #resolution(entry: InboxEntry, callId: string): EventDraft {
    const { ledger } = this.#target;
    const settled = ledger.events.findLast(
      (event) => event.type === 'tool_result' && event.callId === callId && event.settled,
    );
    if (settled?.type !== 'tool_result' || !ledger.effects.unresolved.has(callId)) {
      return this.#refuse(entry, `The outcome of "${callId}" is not open.`, { callId });
    }
    const { happened, result = null } = entry.data;
    const { name, attempt, invocationId } = settled;
    return {
      type: 'tool_result',
      by: entry.by,
      ...(invocationId === undefined ? {} : { invocationId }),
      callId,
      name,
      attempt,
      result: happened === true ? toToolResult(result) : hadNoEffect(),
      ...(happened === true ? {} : { effect: 'none' as const }),
      settled: false,
      late: true,
      durationMs: 0,
    };
  }

  #input(entry: InboxEntry): Judgement {
    const resolves = textOf(entry.data, 'resolves');
    if (resolves !== undefined) return { drafts: [this.#resolution(entry, resolves)] };
    // Not what the item says of itself: the store has compared this one.
    const requestId = entry.settles ?? '';
    const { ledger } = this.#target;
    ledger.accepted.delete(requestId);
    const request = ledger.requests.get(requestId);
    if (request === undefined)
      return {
        drafts: [this.#refuse(entry, 'Nothing waits for this answer any more.', { requestId })],
      };
    const why = whyRefused(entry, request);
    return why === undefined
      ? { drafts: [inputDraft(entry, request)] }
      : this.#askAgain(entry, request, why);
  }

  /** The store has taken the answer already, so that the question is no longer open there. */
  #askAgain(entry: InboxEntry, request: EventOf<'tool_yield'>, why: string): Judgement {
    const { requestId, invocationId = '', callId, kind } = request;
    const { draft, row } = questionDraft(
      this.#target.ledger,
      sameQuestion(this.#target.ledger, request),
    );
    const again = requestDecision(invocationId, 'ask_again', `The answer is not used: ${why}`, {
      requestId,
      callId,
      kind,
    });
    return { drafts: [this.#refuse(entry, why, { requestId }), again, draft], requests: [row] };
  }

  #refuse(entry: InboxEntry, reasoning: string, data: JsonObject = {}): EventDraft {
    return {
      type: 'decision',
      by: 'runtime',
      component: 'inbox',
      decision: 'refuse',
      reasoning,
      data: { ...data, type: entry.type, by: entry.by },
    };
  }
}

/**
 * Why an answer does not count; `undefined`: it does. What runs go on with was checked before it
 * was posted, but anybody can post.
 */
function whyRefused(
  { by, data }: InboxEntry,
  { request }: EventOf<'tool_yield'>,
): string | undefined {
  const { mayDecide, options } = request;
  if (mayDecide !== undefined && !mayDecide.some((id) => isSaidBy(by, id)))
    return `Only ${namesOf(mayDecide)} may answer this.`;
  const decision = textOf(data, 'decision') ?? 'answer';
  return (options as readonly string[]).includes(decision)
    ? undefined
    : `It can be answered with ${options.join(', ')} only.`;
}

function inputDraft(
  { by, at, data }: InboxEntry,
  { invocationId, callId, requestId }: EventOf<'tool_yield'>,
): EventDraft {
  const decision = textOf(data, 'decision') as RequestDecision | undefined;
  const reason = textOf(data, 'reason');
  const input = data['input'] as JsonValue | undefined;
  return {
    type: 'tool_input',
    by,
    ...(invocationId === undefined ? {} : { invocationId }),
    callId,
    requestId,
    ...(decision === undefined ? {} : { decision }),
    ...(input === undefined ? {} : { input }),
    ...(reason === undefined ? {} : { reason }),
    answeredAt: at,
  };
}

function tokenRefusal({ data }: InboxEntry): EventDraft {
  const requestId = textOf(data, 'requestId') ?? '';
  const reason = textOf(data, 'reason') ?? '';
  const reasoning = `A token for request "${requestId}" was refused: ${reason}.`;
  return {
    type: 'decision',
    by: 'runtime',
    component: 'approval_token',
    decision: 'refuse',
    reasoning,
    data: { requestId, reason },
  };
}

function textOf(data: JsonObject, member: string): string | undefined {
  const value = data[member];
  return typeof value === 'string' ? value : undefined;
}
