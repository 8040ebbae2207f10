import type { AdjutantError, Event, Runtime, StoredEvent } from 'adjutant';
import type { Conversation, ConversationListener, ModelPrompt } from './conversation.ts';

/**
 * A session that cannot be gone on with, because some of its events cannot be read: a newer version
 * wrote them, or they are damaged. It is looked at.
 */
export class UnreadableConversation implements Conversation {
  readonly session: string;
  readonly isWorking = false;
  readonly #app: Runtime;
  /** The error that says which event cannot be read, and why. */
  readonly #error: AdjutantError;
  #events: readonly StoredEvent[] = [];
  #listener: ConversationListener | undefined;

  constructor(app: Runtime, session: string, error: AdjutantError) {
    this.#app = app;
    this.session = session;
    this.#error = error;
  }

  /** The events. Those that cannot be read are among them: views tell them by their type. */
  async open(): Promise<readonly Event[]> {
    const events: StoredEvent[] = [];
    for await (const event of this.#app.sessions.events(this.session)) events.push(event);
    this.#events = events;
    return events as readonly StoredEvent[] as readonly Event[];
  }

  listen(listener: ConversationListener): void {
    this.#listener = listener;
    listener.failed(this.#error);
  }

  async whole(seq: number): Promise<Event> {
    return this.#events[seq - 1] as StoredEvent as Event;
  }

  stateAt(): Promise<never> {
    return this.#refuse();
  }

  prompt(): Promise<ModelPrompt> {
    return this.#refuse();
  }

  say(): Promise<never> {
    return this.#refuse();
  }

  resume(): void {
    this.#listener?.failed(this.#error);
  }

  retry(): Promise<never> {
    return this.#refuse();
  }

  pause(): Promise<never> {
    return this.#refuse();
  }

  interrupt(): Promise<never> {
    return this.#refuse();
  }

  cancel(): Promise<never> {
    return this.#refuse();
  }

  answer(): Promise<never> {
    return this.#refuse();
  }

  async standing(): Promise<readonly never[]> {
    return [];
  }

  withdraw(): Promise<never> {
    return this.#refuse();
  }

  fork(): Promise<never> {
    return this.#refuse();
  }

  async comeBack(): Promise<boolean> {
    return false;
  }

  async stop(): Promise<boolean> {
    return false;
  }

  #refuse(): Promise<never> {
    return Promise.reject(this.#error);
  }
}
