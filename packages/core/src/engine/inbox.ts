import { AbortReason } from '../base/cancel-scope.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { isAdjutantError } from '../base/error.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { requestDecision } from '../effects/tool-request.ts';
import type { EventDraft, EventOf, RequestDecision } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { InboxEntry } from '../ledger/port.ts';

/** How often the inbox is looked at while something is under way and no hint comes (SEMANTICS §2). */
const lookEveryMs = 250;

/** The part of a run that the inbox acts on. */
export interface InboxTarget {
  readonly ledger: Ledger;
  readonly runId: string;
  /** Whether something of the run is still open, so that it can be told or cancelled. */
  readonly isOpen: () => boolean;
  cancel(reason: AbortReason): void;
  pause(): void;
  interrupt(): void;
}

/** What is made of one item. `undefined`: it is left for whoever can use it. */
interface Judgement {
  readonly drafts: readonly EventDraft[];
  readonly act?: (() => void) | undefined;
}

/**
 * Turns what others posted into events, in order, each in the transaction that takes it out of the inbox: what was posted is in the inbox or
 * in the ledger, never in both or in none.
 */
export class InboxReader {
  readonly #target: InboxTarget;
  /** Inputs of runs to come that were left for those who posted them: where they lie, by the name of the run. */
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

  /** Not the clock port: a post is no part of the time in which the run happens, and a test clock must not hold it back. */
  #arm(clock: Clock = systemClock): void {
    if (this.#stopped) return;
    this.#cancelTimer = clock.setTimer(lookEveryMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { ledger } = this.#target;
    try {
      const head = this.#stopped || ledger.failure !== undefined ? undefined : await ledger.ports.store.head(ledger.session);
      if (head !== undefined && head.inboxSeq > this.#seen) await this.drain();
    } catch (error) {
      this.#failed(error);
    }
    this.#arm();
  }

  /** A store that does not answer now is asked again; the writer finds out whether the ledger is lost. */
  #failed(error: unknown): void {
    if (!isAdjutantError(error, 'store_unavailable') && this.#target.ledger.failure === undefined) this.#target.ledger.fail(error);
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
    const entries = await ledger.ports.store.inbox(ledger.session);
    const failed = ledger.failure !== undefined;
    for (const entry of entries) {
      if (failed || entry.position <= this.#seen) continue;
      const judged = this.#judge(entry);
      if (judged === undefined) continue;
      ledger.append(judged.drafts, { consumes: [entry.position] });
      judged.act?.();
    }
    this.#seen = Math.max(this.#seen, ledger.inboxSeq, ...entries.map(({ position }) => position));
  }

  #judge(entry: InboxEntry): Judgement | undefined {
    const { isOpen, runId } = this.#target;
    switch (entry.type) {
      case 'cancel':
        return isOpen() ? this.#cancel(entry) : { drafts: [this.#refuse(entry, 'The run had ended before it could be cancelled.')] };
      case 'pause':
        return isOpen() ? this.#pause(entry) : { drafts: [this.#refuse(entry, 'The run had ended before it could be paused.')] };
      case 'tool_input':
        return { drafts: this.#input(entry) };
      case 'user':
        return this.#message(entry);
      case 'wake':
        return { drafts: [] };
      case 'child_end':
        return { drafts: [this.#refuse(entry, `Nothing in "${runId}" waits for a child of another session.`)] };
    }
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
    const reasoning = textOf(entry.data, 'reason') ?? 'The run is paused: the open round ends, and no other begins.';
    return {
      drafts: [{ type: 'decision', by: entry.by, invocationId: this.#target.runId, component: 'run', decision: 'pause', reasoning }],
      act: () => this.#target.pause(),
    };
  }

  /** A message to a run is its next input; one that came too late for it is there for the next. */
  #message(entry: InboxEntry): Judgement | undefined {
    const { isOpen, runId } = this.#target;
    const { data } = entry;
    // Whoever posted it to start a run takes it out himself.
    const starts = textOf(data, 'runId');
    if (!isOpen() && starts !== undefined) {
      this.left.set(starts, entry);
      return undefined;
    }
    const clientKey = textOf(data, 'clientKey') ?? textOf(data, 'runId');
    const draft: EventDraft = {
      type: 'user',
      by: entry.by,
      text: textOf(data, 'text') ?? '',
      ...(isOpen() ? { invocationId: textOf(data, 'invocationId') ?? runId } : {}),
      ...(clientKey === undefined ? {} : { clientKey }),
    };
    return { drafts: [draft], act: data['interrupt'] === true ? () => this.#target.interrupt() : undefined };
  }

  #input(entry: InboxEntry): readonly EventDraft[] {
    const requestId = textOf(entry.data, 'requestId') ?? '';
    const { ledger } = this.#target;
    ledger.accepted.delete(requestId);
    const request: EventOf<'tool_yield'> | undefined = ledger.requests.get(requestId);
    if (request === undefined) return [this.#refuse(entry, 'Nothing waits for this answer any more.', { requestId })];
    const { mayDecide } = request.request;
    if (mayDecide !== undefined && !mayDecide.some((id) => isSaidBy(entry.by, id))) {
      // The store has taken the answer already: it is asked again.
      const refusal = this.#refuse(entry, `Only ${mayDecide.join(', ')} may answer this.`, { requestId });
      const { callId, kind, invocationId = '' } = request;
      return [refusal, requestDecision(invocationId, 'withdraw', 'It is asked again: who answered may not decide.', { requestId, callId, kind })];
    }
    const decision = textOf(entry.data, 'decision') as RequestDecision | undefined;
    const reason = textOf(entry.data, 'reason');
    const input = entry.data['input'] as JsonValue | undefined;
    const draft: EventDraft = {
      type: 'tool_input',
      by: entry.by,
      ...(request.invocationId === undefined ? {} : { invocationId: request.invocationId }),
      callId: request.callId,
      requestId,
      ...(decision === undefined ? {} : { decision }),
      ...(input === undefined ? {} : { input }),
      ...(reason === undefined ? {} : { reason }),
    };
    return [draft];
  }

  #refuse(entry: InboxEntry, reasoning: string, data: JsonObject = {}): EventDraft {
    return { type: 'decision', by: 'runtime', component: 'inbox', decision: 'refuse', reasoning, data: { ...data, type: entry.type, by: entry.by } };
  }
}

/** Whether an actor is the person with this id. */
export function isSaidBy(by: string, id: string): boolean {
  return by === id || by.slice(by.indexOf(':') + 1) === id;
}

function textOf(data: JsonObject, member: string): string | undefined {
  const value = data[member];
  return typeof value === 'string' ? value : undefined;
}
