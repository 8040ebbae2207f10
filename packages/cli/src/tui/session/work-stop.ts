import type { Conversation } from './conversation.ts';

/** Work of an agent that a person stops. */
export interface WorkToStop {
  readonly conversation: Conversation;
  /** Number of the calls that run: they are let end. */
  readonly running: number;
  /** True when messages wait for the model: they are answered at once. */
  readonly hasMessages: boolean;
}

/** The stop that a person asked for: once it interrupts the work, twice it cancels the run. */
export class WorkStop {
  #isAsked = false;

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Tells that the run waits, has ended, or is another one. */
  clear(): void {
    this.#isAsked = false;
  }

  /** Stops the work. */
  async ask({ conversation, hasMessages, running }: WorkToStop): Promise<void> {
    if (this.#isAsked) return conversation.cancel();
    if (running === 0 && hasMessages) return conversation.interrupt('continue');
    this.#isAsked = true;
    return running > 0 ? conversation.pause() : conversation.interrupt('pause');
  }
}
