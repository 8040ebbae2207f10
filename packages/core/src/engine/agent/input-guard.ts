import { defined } from '../../base/defined.ts';
import type { RewriteEvent } from '../../context/prompt.ts';
import { type DecisionDraft, isDecision } from '../../ledger/decisions/decision.ts';
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
import { guardrailDraft } from './supervision/decision-draft.ts';

/** Message for an agent: from outside, or from the caller of the agent. */
type Incoming = EventOf<'user'> | EventOf<'invocation_start'>;

/** Text in prompts in the place of a message that was refused. */
const refusedMessage = '[This message was refused.]';

/**
 * Guardrails in front of a model. They check each incoming message once, and each model call before
 * it is made.
 */
export class InputGuard {
  readonly #frame: BodyFrame;
  readonly #agent: string;
  readonly #position: Position;
  readonly #input: readonly Guardrail[];
  readonly #modelCall: readonly Guardrail[];
  /** Texts in prompts in the place of messages, by the `seq` of the message. */
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
   * Checks the messages since the last check, and the next model call. Records the decisions.
   * @returns true when a guardrail refused, so that the agent ends with its refusal
   */
  refuses(round: number): boolean {
    const drafts = [...this.#checkInputs(round), ...this.#checkCall(round)];
    if (drafts.length > 0) this.#frame.run.ledger.append([...this.#said(drafts, round), ...drafts]);
    return this.#position.ending.refusal !== undefined;
  }

  /**
   * Returns the `assistant` event with the message of a refusal, for people and later prompts; none
   * without a refusal.
   */
  #said(drafts: readonly EventDraft[], round: number): EventDraft[] {
    const refusal = drafts.find((draft) => isDecision(draft, 'guardrail', 'deny'));
    if (refusal === undefined) return [];
    const text = String(refusal.data?.message);
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
   * Rewrite of events that puts changed texts in the place of messages; `undefined` when none was
   * changed.
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
    // Messages before the last model call were checked then. Only their texts in prompts are
    // computed again.
    const known = Math.max(this.#lookedAt, this.#position.model.call?.start.seq ?? 0);
    const drafts: EventDraft[] = [];
    for (let seq = this.#lookedAt + 1; seq <= ledger.lastSeq; seq++) {
      const event = ledger.events[seq - 1] as Event;
      if (!this.#isIncoming(event)) continue;
      const outcome = this.#check(event, round);
      if (outcome === undefined) continue;
      // Later runs have the message in their history: a refused message stays refused.
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

  /** True when a message is for this agent, and not one of an earlier run or for another agent. */
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

  /** True when another process has checked a message and stopped before it called the model. */
  #isRecorded(seq: number): boolean {
    return this.#frame.record.events.some(
      (event) => isDecision(event, 'guardrail') && event.data?.seq === seq,
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
   * True when the model got the same guidance and has not answered since. A repeated call needs it
   * only once.
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

  #drafts(
    { decisions, denied }: GuardrailOutcome,
    about: { readonly seq?: number },
  ): DecisionDraft[] {
    return decisions.map((decided) => {
      const message = decided.decision === 'deny' ? denied?.message : undefined;
      const more = { ...about, ...defined({ message }) };
      return guardrailDraft(this.#frame.record.path, decided, more);
    });
  }
}

/**
 * True when the invocation at `path` is `owner`, continues it after a transfer, or is a part of it.
 * Also true for a message without an owner.
 */
function isAtOrBelow(path: string, owner: string | undefined): boolean {
  return (
    owner === undefined ||
    path === owner ||
    path.startsWith(`${owner}>`) ||
    path.startsWith(`${owner}/`)
  );
}

/** Yields the times of the model calls of this session, newest first. */
function* calledAt(events: readonly Event[]): Generator<number> {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as Event;
    if (event.type === 'model_start') yield event.at;
  }
}
