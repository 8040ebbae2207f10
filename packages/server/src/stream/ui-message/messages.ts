import type { Event, EventOf, Runtime } from 'adjutant';
import { isMessage, systemTurns, takenText } from 'adjutant/ports';
import { defined } from 'adjutant/text';
import { ledgersOf, withLargeValues } from '../../http/large-values.ts';
import { isRoot } from '../run-state.ts';
import { isChatKey, shownId } from './chat-key.ts';
import { conversationAfter } from './conversation.ts';
import { type Conversation, noConversation, textOf } from './conversation-state.ts';
import { messageParts, type UiMessage } from './ui-message.ts';

/** The messages of a chat. */
export interface UiMessages {
  readonly messages: readonly UiMessage[];
  /** True while the last run is at work or waits: its answer grows further. */
  readonly isOpen: boolean;
  /** `seq` of the last event that was read. */
  readonly seq: number;
}

export interface UiMessagesOptions {
  /**
   * True to have the answer of an open run among the messages, as far as it is. Pages that resume
   * the stream get it from there.
   * @default false
   */
  readonly open?: boolean;
}

/**
 * Reads what was said in a session as messages of the AI SDK: the same messages that `useChat` has
 * when it was there all the time.
 * @throws SessionNotFoundError, StoreUnavailableError
 * @example
 * ```ts
 * import { uiMessages } from '@adjutant/server';
 * import { agent, rehearsal, runtime } from 'adjutant';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const app = runtime({ app: 'shop', runnables: [clerk] });
 * const { session } = await app.run(clerk, 'What can you do?');
 * const { messages } = await uiMessages(app, session.id);
 * console.log(messages.map(({ role }) => role)); // ['user', 'assistant']
 * await app.close();
 * ```
 */
export async function uiMessages(
  app: Runtime,
  session: string,
  { open = false }: UiMessagesOptions = {},
): Promise<UiMessages> {
  const from = { ledgers: ledgersOf(app), session };
  const said = new Said();
  let seq = 0;
  for await (const stored of app.sessions.events(session)) {
    seq = stored.seq;
    if (stored.type === 'unreadable') continue;
    said.add(await withLargeValues(stored, from));
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  const { isOpen } = said;
  return { messages: said.messages(open || !isOpen), isOpen, seq };
}

type Message = EventOf<'user'> | EventOf<'tool_input'>;

/** False for a message from elsewhere to a run at work: it stands in the answer of the run. */
function isOwnMessage(event: Message, before: Conversation, after: Conversation): boolean {
  return event.type === 'user' ? after.answer === before.answer : isChatKey(event.clientKey);
}

/** Messages in the order in which they were begun; an answer grows in its place. */
class Said {
  readonly #order: string[] = [];
  readonly #byId = new Map<string, UiMessage>();
  /** Ids of the messages of users, by those of their events. */
  readonly #shownIds = new Map<string, string>();
  #conversation: Conversation = noConversation;

  get isOpen(): boolean {
    const { answer, rest } = this.#conversation;
    return answer !== undefined && rest?.type !== 'ended';
  }

  add(event: Event): void {
    const before = this.#conversation;
    const after = conversationAfter(before, event);
    this.#conversation = after;
    if (isMessage(event) && isOwnMessage(event, before, after)) this.#heard(event);
    const { answer } = after;
    if (answer !== undefined && answer !== before.answer)
      this.#put({
        id: answer.id,
        role: 'assistant',
        ...defined({ metadata: answer.metadata }),
        parts: messageParts(answer.steps),
      });
  }

  #heard(event: Message): void {
    const { by, clientKey, id, invocationId, type } = event;
    if (!/^(user|operator|trigger)\b/.test(by)) return;
    if (type === 'user' && invocationId !== undefined && !isRoot(invocationId)) return;
    const text = textOf(takenText(event) ?? null);
    const parts = [{ type: 'text', text, state: 'done' }] as const;
    // Another text of a message, with which a fork was made, stands in its place.
    const replaced = type === 'user' ? this.#shownIds.get(event.replaces ?? '') : undefined;
    const shown = replaced ?? shownId(clientKey) ?? id;
    this.#shownIds.set(id, shown);
    this.#put({ id: shown, role: 'user', parts });
  }

  #put(message: UiMessage): void {
    if (!this.#byId.has(message.id)) this.#order.push(message.id);
    this.#byId.set(message.id, message);
  }

  messages(withLast: boolean): readonly UiMessage[] {
    const last = withLast ? undefined : this.#conversation.answer?.id;
    return this.#order
      .map((id) => this.#byId.get(id) as UiMessage)
      .filter(({ id, parts }) => id !== last && parts.length > 0);
  }
}
