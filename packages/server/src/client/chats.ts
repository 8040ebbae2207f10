import { defined } from './defined.ts';
import { follow } from './follow.ts';
import { platformPorts } from './ports.ts';
import { type CallOptions, pathOf, problemOf, type Transport } from './transport.ts';
import type { ChatMessages } from './types.ts';

/** A chat of an agent, by the id that the page gave it. */
export interface ChatAddress {
  readonly agent: string;
  readonly chat: string;
}

export interface WatchOptions extends CallOptions {
  /**
   * Called when the chat has changed, in whatever way: somebody has answered a request, or its run
   * has come to rest. Also called once when watching begins, for what happened before. Ask for the
   * stream then; a page that reads one does so behind it if its last message still waits, see
   * `isWaiting`.
   */
  readonly onNews: () => void;
}

/** Chats as `useChat` of the AI SDK holds them. Rejects as `Sessions`. */
export class Chats {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The messages so far, for the `messages` of `useChat`.
   * @param options.open also the answer of an open run, which resuming the stream brings
   * @default false
   */
  messages(
    { agent, chat }: ChatAddress,
    { open = false, ...options }: CallOptions & { readonly open?: boolean } = {},
  ): Promise<ChatMessages> {
    return this.#transport.json({
      method: 'GET',
      path: pathOf('agents', agent, 'chat', chat, 'messages'),
      query: open ? { open } : {},
      ...options,
    });
  }

  /**
   * Tells a page of what others do in its chat, such as an approval by a link. Resolves when the
   * signal is aborted, and at once while the chat has not begun.
   */
  async watch(address: ChatAddress, { onNews, ...options }: WatchOptions): Promise<void> {
    const { signal } = options;
    const { session, seq } = await this.messages(address, options);
    if (session === undefined) return;
    onNews();
    const events = follow(this.#transport, {
      ...defined({ signal }),
      isWhole: true,
      path: pathOf('sessions', session, 'stream'),
      after: seq,
    });
    try {
      for await (const { type } of events) if (news.has(type)) onNews();
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  }
}

/**
 * True for a message of `useChat` that shows something unanswered: an approval, a question, or that
 * a message has to wait for one.
 */
export function isWaiting(
  message: { readonly parts: readonly WaitingPart[] } | undefined,
): boolean {
  return (message?.parts ?? []).some(
    ({ type, state }) => state === 'approval-requested' || waitingParts.has(type),
  );
}

/** Members of a part of a message that tell if it waits. */
interface WaitingPart {
  readonly type: string;
  readonly state?: unknown;
}

const waitingParts: ReadonlySet<string> = new Set(['data-request', 'data-waiting']);

/**
 * Makes a `fetch` for a `DefaultChatTransport` of the AI SDK: what the server refuses becomes a
 * ServerProblemError, so that `error.message` of `useChat` is a sentence and `error.code` tells
 * what it is.
 * @param request @default the platform's `fetch`
 */
export function chatFetch(request: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await request(input, init);
    if (response.ok) return response;
    throw await problemOf(response, platformPorts.clock.now());
  };
}

/** Types of events after which a page has something to read. */
const news: ReadonlySet<string> = new Set(['tool_input', 'invocation_yield', 'invocation_end']);
