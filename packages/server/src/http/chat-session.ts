import { createHash } from 'node:crypto';
import type { SessionListing } from 'adjutant';
import { type Asking, isReachable } from './reachable.ts';

/** Where a chat is kept. */
export interface ChatSession {
  readonly id: string;
  /** The session, once it has begun and while the caller may know of it. */
  readonly listing?: SessionListing;
  /** True when the session exists and the caller may not know of it. */
  readonly isOutOfReach: boolean;
}

/**
 * The session of a chat. Pages choose the ids of chats, and callers that are bound to a user do not
 * choose those of sessions: where the id is that of none of the user's sessions, the chat has one
 * of its own, whose id follows from the user and the chat. So nobody learns of the sessions of
 * others, or takes their ids. To others the id of a chat is that of its session.
 */
export async function chatSession(input: Asking, chat: string): Promise<ChatSession> {
  const named = await sessionOf(input, chat);
  const { user } = input.principal;
  return named.listing !== undefined || user === undefined
    ? named
    : sessionOf(input, derivedId(input, user, chat));
}

async function sessionOf(input: Asking, id: string): Promise<ChatSession> {
  const [listing] = (await input.app.sessions.list({ id, limit: 1 })).sessions;
  if (listing === undefined) return { id, isOutOfReach: false };
  return (await isReachable(input, listing))
    ? { id, listing, isOutOfReach: false }
    : { id, isOutOfReach: true };
}

const idDigits = 32;

function derivedId({ app }: Asking, user: string, chat: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([app.app, app.tenant, user, chat]))
    .digest('hex');
  return `chat_${digest.slice(0, idDigits)}`;
}
