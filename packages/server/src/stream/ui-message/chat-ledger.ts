import { createHash } from 'node:crypto';
import type { Event, JsonValue, StoredEvent } from 'adjutant';
import { isMessage, takenText } from 'adjutant/ports';
import { ledgersOf, withLargeValues } from '../../http/large-values.ts';
import type { Replays } from '../replay/replays.ts';
import type { GrowingFold, SessionAddress } from '../replay/session-folds.ts';
import { isRoot, runOf } from '../run-state.ts';
import { conversationAfter } from './conversation.ts';
import { type Conversation, noConversation } from './conversation-state.ts';

/** A run of a session, as far as chats need it. */
export interface ChatRun {
  readonly id: string;
  readonly agent: string;
  /** `seq` of its first event. */
  readonly startSeq: number;
  readonly status: 'open' | 'completed' | 'failed';
  /** `seq` of the event with which it began to wait or ended; missing while it is at work. */
  readonly restSeq?: number;
}

/** An input that a run has taken in, also as an answer. */
export interface ChatInput {
  readonly run: string;
  /** Tells if it was this text. */
  isText(text: string): boolean;
}

/** State of a chat in a ledger. */
export interface ChatLedger {
  /** `seq` of the last event. */
  readonly head: number;
  readonly conversation: Conversation;
  /** The last run. */
  readonly last: ChatRun | undefined;
  /** A run as it is by now. */
  run(id: string): ChatRun | undefined;
  /** An input, by the name that it was given. */
  input(key: string): ChatInput | undefined;
}

export const emptyChat: ChatLedger = {
  head: 0,
  conversation: noConversation,
  last: undefined,
  run: () => undefined,
  input: () => undefined,
};

/**
 * Reads what a chat is about from the ledger, which alone says what was said; of one that was read
 * before only what is new.
 */
export async function readChat(replays: Replays, address: SessionAddress): Promise<ChatLedger> {
  const from = { ledgers: ledgersOf(address.app), session: address.session };
  const fold = await replays.folds.upToNow(
    address,
    'chat',
    () => new ChatFold((event) => withLargeValues(event, from)),
  );
  return fold.ledger;
}

/** About what is held of an input and of a run, in bytes. */
const sizeOfInput = 300;
const sizeOfRun = 300;

/** State of a chat, folded from its events. */
class ChatFold implements GrowingFold {
  readonly #whole: (event: Event) => Promise<Event>;
  readonly #runs = new Map<string, ChatRun>();
  readonly #inputs = new Map<string, { readonly run: string; readonly hash: string }>();
  #conversation = noConversation;
  #head = 0;
  #answerSize = 0;

  constructor(whole: (event: Event) => Promise<Event>) {
    this.#whole = whole;
  }

  get size(): number {
    return this.#answerSize + this.#runs.size * sizeOfRun + this.#inputs.size * sizeOfInput;
  }

  async add(stored: StoredEvent): Promise<void> {
    if (stored.type !== 'unreadable') {
      const event = await this.#whole(stored);
      this.#conversation = conversationAfter(this.#conversation, event);
      this.#hear(event);
      const run = runAfter(this.#runs.get(runOf(event.invocationId ?? '')), event);
      if (run !== undefined) this.#runs.set(run.id, run);
      this.#answerSize = isBeginning(event) ? 0 : this.#answerSize + JSON.stringify(event).length;
    }
    this.#head = stored.seq;
  }

  #hear(event: Event): void {
    if (!isMessage(event)) return;
    const { clientKey, invocationId } = event;
    if (clientKey === undefined || invocationId === undefined) return;
    this.#inputs.set(clientKey, { run: runOf(invocationId), hash: hashOf(takenText(event)) });
  }

  /** As it is now; runs and inputs are looked up as they are when they are asked for. */
  get ledger(): ChatLedger {
    const { answer } = this.#conversation;
    return {
      head: this.#head,
      conversation: this.#conversation,
      last: answer === undefined ? undefined : this.#runs.get(answer.run),
      run: (id) => this.#runs.get(id),
      input: (key) => {
        const input = this.#inputs.get(key);
        return input === undefined
          ? undefined
          : { run: input.run, isText: (text) => hashOf(text) === input.hash };
      },
    };
  }
}

function isBeginning(event: Event): boolean {
  return event.type === 'invocation_start' && event.mode === 'root';
}

function hashOf(text: JsonValue | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(text ?? null))
    .digest('base64');
}

function runAfter(run: ChatRun | undefined, event: Event): ChatRun | undefined {
  if (event.type === 'invocation_start' && event.mode === 'root' && run === undefined) {
    return {
      id: runOf(event.invocationId),
      agent: event.name,
      startSeq: event.seq,
      status: 'open',
    };
  }
  if (run === undefined || event.invocationId === undefined || !isRoot(event.invocationId))
    return run;
  const { restSeq: _, ...working } = run;
  switch (event.type) {
    case 'invocation_yield':
      return { ...run, restSeq: event.seq };
    case 'invocation_resume':
    case 'invocation_reopen':
      return { ...working, status: 'open' };
    case 'invocation_end':
      if (event.next !== undefined) return run;
      return {
        ...run,
        restSeq: event.seq,
        status: event.status === 'error' || event.status === 'cancelled' ? 'failed' : 'completed',
      };
    default:
      return run;
  }
}
