import type { Event, StreamEvent } from 'adjutant';
import type { Block } from '../feed/block.ts';
import { Feed } from '../feed/feed.ts';
import { TraceIndex } from '../trace/trace-index.ts';
import type { Conversation } from './conversation.ts';
import { StoredMessages } from './stored-messages.ts';
import { WorkStop } from './work-stop.ts';

/** The session that is open: its conversation, its events so far, and its run. */
export class OpenSession {
  readonly conversation: Conversation;
  readonly feed = new Feed();
  readonly #events: Event[] = [];
  readonly #stored = new StoredMessages();
  readonly #stop = new WorkStop();
  #lastModel: string | undefined;
  #index: TraceIndex | undefined;

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  get events(): readonly Event[] {
    return this.#events;
  }

  /** Name of the model that was asked last. */
  get lastModel(): string | undefined {
    return this.#lastModel;
  }

  /** The events by their places. It is built when somebody looks at them first. */
  get index(): TraceIndex {
    this.#index ??= new TraceIndex();
    for (let place = this.#index.length; place < this.#events.length; place++)
      this.#index.add(this.#events[place] as Event);
    return this.#index;
  }

  get isWorking(): boolean {
    return this.conversation.isWorking || this.feed.runState === 'working';
  }

  /** True when a person has stopped the run, which has not come to rest yet. */
  get isStopping(): boolean {
    return this.#stop.isAsked && this.isWorking;
  }

  /** True when the run waits for nothing but a person who lets it go on. */
  get canGoOn(): boolean {
    const { runState, requests } = this.feed;
    return (
      !this.isWorking &&
      (runState === 'paused' || (runState === 'waiting' && requests.length === 0))
    );
  }

  /** Messages that the model has not read. */
  get messages(): readonly string[] {
    return [...this.feed.unread, ...this.#stored.texts];
  }

  /** Takes in what has happened. Returns what is finished by it. */
  take(event: StreamEvent): readonly Block[] {
    if ('seq' in event) {
      this.#events.push(event);
      if (event.type === 'model_start') this.#lastModel = event.model;
      if (event.type === 'user') this.#stored.read(event.text ?? '');
      if (event.type === 'invocation_yield' || event.type === 'invocation_end') this.#stop.clear();
    }
    return this.feed.take(event);
  }

  /** Gives a message to the agent, which reads it now or after its open round. */
  say(text: string): Promise<void> {
    const { isWorking } = this;
    const sending = this.conversation.say(text);
    return isWorking ? this.#stored.add(text, sending) : sending;
  }

  /**
   * Stops the work. Tells when the store has it that calls are let end: one that ends before that
   * is followed by a round.
   */
  async interrupt(tell: (words: string) => void): Promise<void> {
    const running = this.feed.calls.filter(({ state }) => state === 'running').length;
    const { conversation } = this;
    const waitsFor = this.#stop.isAsked ? 0 : running;
    await this.#stop.ask({ conversation, hasMessages: this.messages.length > 0, running });
    const calls = waitsFor === 1 ? 'a call' : `${waitsFor} calls`;
    if (waitsFor > 0 && this.isWorking) tell(`Stops after ${calls} · Esc again cancels`);
  }
}
