import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Event, EventOf } from '../ledger/event.ts';
import type { InvocationTree } from '../ledger/folds/invocation-fold.ts';
import type { HistoryScope } from '../ledger/prompt-recipe.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { isPromptEvent, messageEncoder } from './encoders.ts';
import type { EncoderOptions, EncoderVersion, MessageEncoder } from './message-encoder.ts';
import { newestMessages } from './prompt-units.ts';
import { comparePositions, promptPosition, Visibility } from './visibility.ts';

/** Parts of a ledger from which prompts are made. */
export interface LedgerView {
  readonly events: readonly Event[];
  readonly invocations: InvocationTree;
}

/**
 * View of one agent invocation on the ledger, as events and as messages. It grows with the ledger.
 * Each event is read once, so that the thousandth prompt costs as much as the tenth.
 */
export class History {
  readonly #ledger: LedgerView;
  readonly #path: string;
  readonly #agent: string;
  readonly #visibility: Visibility;
  readonly #version: EncoderVersion;
  readonly #options: EncoderOptions;
  /**
   * Encoder of the events; missing until it is needed. It is dropped when an event that it has
   * encoded leaves the prompt.
   */
  #encoder: MessageEncoder | undefined;
  /** Number of events that the encoder has encoded. */
  #encoded = 0;
  #events: Event[] = [];
  /** Covered events that stay in the prompt, each with the id of the compaction that covers it. */
  readonly #overlap = new Map<Event, string>();
  /** Latest fact of each key. */
  readonly #facts = new Map<string, Event>();
  /** Invocations with an open model call, according to the events read so far. */
  readonly #asking = new Set<string>();
  /**
   * Events that arrived during a model call. The answer was made without them, so they stand behind
   * it.
   */
  #held: Event[] = [];
  #seen = 0;

  constructor(
    ledger: LedgerView,
    path: string,
    agent: string,
    scope: HistoryScope,
    options: EncoderOptions,
  ) {
    this.#ledger = ledger;
    this.#path = path;
    this.#agent = agent;
    this.#visibility = new Visibility(ledger.invocations, path, scope);
    this.#version = options.encoder;
    this.#options = options;
  }

  /** Reads the events that the ledger has received since the last call. */
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
    for (const event of fresh) this.#place(event);
  }

  /** Puts an event in its place in the prompt. */
  #place(event: Event): void {
    if (event.type === 'model_start') {
      // The prompt of this call contains all events before it.
      if (event.invocationId === this.#path) this.#release();
      this.#asking.add(event.invocationId);
    } else if (event.type === 'model_end') {
      this.#asking.delete(event.invocationId);
      if (this.#asking.size === 0) this.#release();
    } else if (this.#asking.size > 0 && isNews(event)) this.#held.push(event);
    else this.#add(event);
  }

  #release(): void {
    this.#asking.clear();
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    for (const event of held) this.#add(event);
  }

  #add(event: Event): void {
    if (event.type === 'compaction') {
      this.#compact(event);
      return;
    }
    if (event.type === 'memory' && event.key !== undefined) this.#replaceFact(event, event.key);
    if (event.type === 'user' && event.replaces !== undefined && this.#replaceMessage(event))
      return;
    this.#events.push(event);
  }

  /**
   * Puts an edited message in the place of the one that it replaces. Returns false when that one
   * has left the prompt.
   */
  #replaceMessage(event: EventOf<'user'>): boolean {
    const place = this.#events.findIndex(({ id }) => id === event.replaces);
    if (place < 0) return false;
    this.#keepOnly(this.#events.with(place, event));
    return true;
  }

  #replaceFact(event: Event, key: string): void {
    const before = this.#facts.get(key);
    this.#facts.set(key, event);
    if (before !== undefined)
      this.#keepOnly(this.#events.filter((candidate) => candidate !== before));
  }

  /** Removes the covered events from the prompt and puts the summary in the place of the first. */
  #compact(compaction: EventOf<'compaction'>): void {
    const covers = new Set(compaction.covers);
    const covered = new Set(
      this.#events.filter(
        (event) => covers.has(event.id) || covers.has(this.#overlap.get(event) ?? ''),
      ),
    );
    const [first] = covered;
    if (first === undefined) return;
    const stay = new Set(newestMessages([...covered], compaction.overlap));
    for (const event of covered) {
      if (stay.has(event)) this.#overlap.set(event, compaction.id);
      else this.#overlap.delete(event);
    }
    const left: Event[] = [];
    for (const event of this.#events) {
      if (event === first && compaction.summary !== '') left.push(compaction);
      if (stay.has(event) || !covered.has(event)) left.push(event);
    }
    this.#keepOnly(left);
  }

  #keepOnly(events: Event[]): void {
    this.#events = events;
    this.#encoder = undefined;
    this.#encoded = 0;
  }

  /** True when a compaction covers an event that is still in the prompt. */
  isCovered(event: Event): boolean {
    return this.#overlap.has(event);
  }

  /** Maximum length of a tool result in characters. */
  get resultLimit(): number {
    return this.#options.resultLimit;
  }

  /** True when the history has read events. */
  get isUsed(): boolean {
    return this.#seen > 0;
  }

  #isVisible(event: Event): boolean {
    if (isPromptEvent(event, this.#version)) {
      return (
        this.#visibility.relation(event) !== 'hidden' &&
        (event.type !== 'decision' || this.isNative(event))
      );
    }
    if (event.type === 'model_start' || event.type === 'model_end')
      return event.invocationId === this.#path || this.#isPast(event);
    return (
      event.type === 'invocation_end' &&
      event.invocationId !== this.#path &&
      this.#visibility.relation(event) === 'own'
    );
  }

  #sort(events: Event[]): void {
    const tree = this.#ledger.invocations;
    const positions = new Map(
      events.map((event) => [event, promptPosition(tree, event, this.#startSeq())]),
    );
    events.sort((a, b) =>
      comparePositions(
        positions.get(a) as readonly number[],
        positions.get(b) as readonly number[],
      ),
    );
  }

  #startSeq(): number {
    return this.#ledger.invocations.byPath.get(this.#path)?.start.seq ?? 0;
  }

  /** True when the event's invocation stands before this one and had ended when this one began. */
  #isPast(event: Event): boolean {
    if (this.#visibility.relation(event) !== 'before') return false;
    const author = this.#ledger.invocations.byPath.get(event.invocationId ?? '');
    return author?.end !== undefined && author.end.seq < this.#startSeq();
  }

  /** True when the agent itself was the author, in this or an earlier invocation. */
  isNative(event: PromptEvent): boolean {
    if (event.type === 'synthetic' || event.type === 'rewritten') return false;
    if (this.#visibility.relation(event) === 'own') return true;
    // A concurrent invocation counts as another agent, even under the same name: its rounds may be
    // open.
    return (
      this.#isPast(event) &&
      this.#ledger.invocations.byPath.get(event.invocationId ?? '')?.name === this.#agent
    );
  }

  events(): readonly Event[] {
    this.#catchUp();
    this.#release();
    return this.#events;
  }

  messages(): readonly LanguageModelV4Message[] {
    return this.#encoderOfAll().messages();
  }

  #encoderOfAll(): MessageEncoder {
    const events = this.events();
    this.#encoder ??= messageEncoder(this.#options);
    for (; this.#encoded < events.length; this.#encoded++) {
      const event = events[this.#encoded] as Event;
      this.#options.trace?.event(event);
      this.#encoder.push(event, this.isNative(event));
    }
    return this.#encoder;
  }

  /** Number of characters of text in the messages. */
  get characters(): number {
    return this.#encoder?.characters ?? 0;
  }

  /** True when the arguments of a call in the messages are no object. */
  get hasOtherInput(): boolean {
    return this.#encoder?.hasOtherInput ?? false;
  }
}

/** True when an event is not part of a round of any agent. */
function isNews(event: Event): boolean {
  switch (event.type) {
    case 'user':
    case 'invocation_end':
    case 'decision':
    case 'memory':
      return true;
    case 'tool_result':
      return event.late === true;
    default:
      return false;
  }
}

function hasBranches(tree: InvocationTree): boolean {
  for (const record of tree.byPath.values()) if (record.branch) return true;
  return false;
}
