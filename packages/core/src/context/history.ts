import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Event } from '../ledger/event.ts';
import type { InvocationTree } from '../ledger/invocation-fold.ts';
import type { HistoryScope } from '../ledger/prompt-recipe.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { type EncoderOptions, isPromptEvent, MessageEncoder } from './message-encoder.ts';
import { comparePositions, promptPosition, Visibility } from './visibility.ts';

/** What is read of a ledger to make prompts. */
export interface LedgerView {
  readonly events: readonly Event[];
  readonly invocations: InvocationTree;
}

/**
 * What one agent invocation sees of the ledger, as events and as messages. It grows with the ledger: each event is looked at once,
 * so that the thousandth prompt costs what the tenth did.
 */
export class History {
  readonly #ledger: LedgerView;
  readonly #path: string;
  readonly #agent: string;
  readonly #visibility: Visibility;
  readonly #encoder: MessageEncoder;
  readonly #events: Event[] = [];
  #seen = 0;

  constructor(ledger: LedgerView, path: string, agent: string, scope: HistoryScope, options: EncoderOptions) {
    this.#ledger = ledger;
    this.#path = path;
    this.#agent = agent;
    this.#visibility = new Visibility(ledger.invocations, path, scope);
    this.#encoder = new MessageEncoder(options);
  }

  /** Takes in what the ledger has got since the last time. */
  #catchUp(): void {
    const { events } = this.#ledger;
    if (this.#seen === events.length) return;
    const first = this.#seen === 0;
    const fresh: Event[] = [];
    for (let i = this.#seen; i < events.length; i++) {
      const event = events[i] as Event;
      if (this.#isVisible(event)) fresh.push(event);
    }
    this.#seen = events.length;
    if (first && hasBranches(this.#ledger.invocations)) this.#sort(fresh);
    for (const event of fresh) {
      this.#events.push(event);
      this.#encoder.push(event, this.isNative(event));
    }
  }

  #isVisible(event: Event): boolean {
    if (isPromptEvent(event)) return this.#visibility.relation(event) !== 'hidden';
    return event.type === 'invocation_end' && event.invocationId !== this.#path && this.#visibility.relation(event) === 'own';
  }

  #sort(events: Event[]): void {
    const positions = new Map(events.map((event) => [event, promptPosition(this.#ledger.invocations, event)]));
    events.sort((a, b) => comparePositions(positions.get(a) as readonly number[], positions.get(b) as readonly number[]));
  }

  /** Whether the agent itself was the author, in this or an earlier invocation. */
  isNative(event: PromptEvent): boolean {
    if (event.type === 'synthetic' || event.type === 'rewritten') return false;
    const relation = this.#visibility.relation(event);
    if (relation === 'own') return true;
    if (relation !== 'before') return false;
    const { byPath } = this.#ledger.invocations;
    const author = byPath.get(event.invocationId ?? '');
    // What goes on at the same time is told as another's, even under the same name: its rounds may be open.
    return author?.name === this.#agent && author.end !== undefined && author.end.seq < (byPath.get(this.#path)?.start.seq ?? 0);
  }

  events(): readonly Event[] {
    this.#catchUp();
    return this.#events;
  }

  messages(): readonly LanguageModelV4Message[] {
    this.#catchUp();
    return this.#encoder.messages();
  }

  /** Characters of text in the messages. */
  get characters(): number {
    return this.#encoder.characters;
  }
}

function hasBranches(tree: InvocationTree): boolean {
  for (const record of tree.byPath.values()) if (record.branch) return true;
  return false;
}
