import type { JsonObject } from '../../base/json.ts';
import type { RewriteEvent } from '../../context/prompt.ts';
import type { Event, EventDraft, EventOf } from '../../ledger/event.ts';
import type { Position } from '../../loop/position.ts';
import type { PromptEvent } from '../../runnables/render-context.ts';
import {
  applyGuardrails,
  type Guardrail,
  type GuardrailOutcome,
  guardrailsAt,
} from '../../supervision/guardrail.ts';
import type { BodyFrame } from '../frame/run-context.ts';

/** A message that came in: from outside, or from whoever called the agent. */
type Incoming = EventOf<'user'> | EventOf<'invocation_start'>;

/** What prompts have in the place of a message that was refused. */
const refusedMessage = '[This message was refused.]';

/**
 * Guardrails in front of a model: they look at each message that comes in once, and at each call
 * that is about to be made.
 */
export class InputGuard {
  readonly #frame: BodyFrame;
  readonly #agent: string;
  readonly #position: Position;
  readonly #input: readonly Guardrail[];
  readonly #modelCall: readonly Guardrail[];
  /** What stands in prompts in the place of messages, by their `seq`. */
  readonly #texts = new Map<number, string>();
  #lookedAt = 0;

  constructor(parts: {
    readonly frame: BodyFrame;
    readonly agent: string;
    readonly position: Position;
    readonly guardrails: readonly Guardrail[];
  }) {
    this.#frame = parts.frame;
    this.#agent = parts.agent;
    this.#position = parts.position;
    this.#input = guardrailsAt(parts.guardrails, 'input');
    this.#modelCall = guardrailsAt(parts.guardrails, 'modelCall');
  }

  /**
   * Looks at what has come in since the last call. Returns whether the agent ends with a refusal,
   * which is recorded.
   */
  refuses(round: number): boolean {
    const drafts = [...this.#checkInputs(round), ...this.#checkCall(round)];
    if (drafts.length > 0) this.#frame.run.ledger.append([...this.#said(drafts, round), ...drafts]);
    return this.#position.refusal !== undefined;
  }

  /** What people and later prompts read of a refusal. */
  #said(drafts: readonly EventDraft[], round: number): EventDraft[] {
    const refusal = drafts.find(
      (draft) => draft.type === 'decision' && draft.decision === 'deny',
    ) as Pick<EventOf<'decision'>, 'data'> | undefined;
    if (refusal === undefined) return [];
    const text = String(refusal.data?.['message']);
    return [
      {
        type: 'assistant',
        by: 'runtime',
        invocationId: this.#frame.record.path,
        agent: this.#agent,
        text,
        round,
      },
    ];
  }

  /**
   * Puts the changed messages in the place of those that came; `undefined` when none was changed.
   */
  get rewrite(): RewriteEvent | undefined {
    return this.#texts.size === 0 ? undefined : (event) => this.#changed(event);
  }

  #changed(event: Event): PromptEvent {
    if (event.type !== 'user' && event.type !== 'invocation_start') return event;
    const text = this.#texts.get(event.seq);
    return text === undefined
      ? event
      : { type: 'rewritten', event: event as EventOf<'user'>, text };
  }

  #checkInputs(round: number): EventDraft[] {
    const { ledger } = this.#frame.run;
    if (this.#input.length === 0 || this.#lookedAt === ledger.lastSeq) return [];
    // What was there when the model was asked before has been looked at then; how it reads in
    // prompts follows from it again.
    const known = Math.max(this.#lookedAt, this.#position.model?.start.seq ?? 0);
    const drafts: EventDraft[] = [];
    for (let seq = this.#lookedAt + 1; seq <= ledger.lastSeq; seq++) {
      const event = ledger.events[seq - 1] as Event;
      if (!this.#isIncoming(event)) continue;
      const outcome = this.#check(event, round);
      if (outcome === undefined) continue;
      // Later runs have the message in their history: what was refused stays refused.
      if (outcome.denied !== undefined) this.#texts.set(event.seq, refusedMessage);
      else if (outcome.value !== this.#textOf(event))
        this.#texts.set(event.seq, String(outcome.value));
      if (seq > known && this.#isNew(event) && !this.#isRecorded(seq))
        drafts.push(...this.#drafts(outcome, { seq }));
    }
    this.#lookedAt = ledger.lastSeq;
    return drafts;
  }

  #isIncoming(event: Event): event is Incoming {
    if (event.type === 'user') return true;
    return event.type === 'invocation_start' && event.input?.message !== undefined;
  }

  /** Whether a message is for this agent, and not one of an earlier run or for another. */
  #isNew(event: Incoming): boolean {
    const { record, run } = this.#frame;
    if (event.type === 'invocation_start') return event.invocationId === record.path;
    if (!isAtOrBelow(record.path, event.invocationId)) return false;
    const before = run.ledger.events.findLast(
      ({ type, seq }) =>
        seq < record.start.seq && (type === 'invocation_end' || type === 'model_end'),
    );
    return event.seq > (before?.seq ?? 0);
  }

  /** Whether another process has looked at a message and stopped before it asked the model. */
  #isRecorded(seq: number): boolean {
    return this.#frame.record.events.some(
      (event) =>
        event.type === 'decision' && event.component === 'guardrail' && event.data?.['seq'] === seq,
    );
  }

  #textOf(event: Incoming): string {
    const { ledger } = this.#frame.run;
    return String(ledger.resolve(event.type === 'user' ? event.text : event.input?.message));
  }

  #check(event: Incoming, round: number): GuardrailOutcome | undefined {
    const outcome = applyGuardrails('input', this.#input, {
      agent: this.#agent,
      round,
      text: this.#textOf(event),
    });
    return outcome.decisions.length === 0 ? undefined : outcome;
  }

  #checkCall(round: number): EventDraft[] {
    if (this.#modelCall.length === 0) return [];
    const { run } = this.#frame;
    const check = {
      agent: this.#agent,
      round,
      at: run.app.clock.now(),
      calledAt: calledAt(run.ledger.events),
    };
    const outcome = applyGuardrails('modelCall', this.#modelCall, check);
    if (outcome.decisions.length === 0) return [];
    return this.#drafts(
      {
        ...outcome,
        decisions: outcome.decisions.filter(
          ({ tell }) => tell === undefined || !this.#isTold(tell),
        ),
      },
      {},
    );
  }

  /**
   * Whether the model has not answered since it was told the same: a call that is made again needs
   * it once.
   */
  #isTold(text: string): boolean {
    const { ledger } = this.#frame.run;
    const { events } = this.#frame.record;
    for (let i = events.length - 1; i >= 0; i--) {
      const event = events[i] as Event;
      if (event.type === 'model_end' && event.status === 'completed') return false;
      if (
        event.type === 'decision' &&
        event.tell !== undefined &&
        ledger.resolve(event.tell) === text
      )
        return true;
    }
    return false;
  }

  #drafts({ decisions, denied }: GuardrailOutcome, more: JsonObject): EventDraft[] {
    return decisions.map((decision) => ({
      type: 'decision',
      by: 'runtime',
      invocationId: this.#frame.record.path,
      ...decision,
      data: {
        ...decision.data,
        ...more,
        ...(decision.decision === 'deny' && denied !== undefined
          ? { message: denied.message }
          : {}),
      },
    }));
  }
}

/**
 * Whether an invocation is, or takes the place of, or is a part of that which a message came to.
 */
function isAtOrBelow(path: string, owner: string | undefined): boolean {
  return (
    owner === undefined ||
    path === owner ||
    path.startsWith(`${owner}>`) ||
    path.startsWith(`${owner}/`)
  );
}

/** When models were called in this session, newest first. */
function* calledAt(events: readonly Event[]): Generator<number> {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as Event;
    if (event.type === 'model_start') yield event.at;
  }
}
