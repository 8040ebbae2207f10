import { createHash } from 'node:crypto';

const keyDigits = 20;
const key = /^chat_[0-9a-f]{20}$/;
const shown = /^message_([0-9a-f]{20})$/;

/** The name of an input: the same message of a chat is one input, however often it is sent. */
export function chatKeyOf(messageId: string): string {
  // A message that a page has loaded names its input by its id.
  const loaded = shown.exec(messageId)?.[1];
  if (loaded !== undefined) return `chat_${loaded}`;
  const hash = createHash('sha256').update(JSON.stringify(messageId)).digest('hex');
  return `chat_${hash.slice(0, keyDigits)}`;
}

/** True for the name of an input of a chat. */
export function isChatKey(clientKey: string | undefined): clientKey is string {
  return clientKey !== undefined && key.test(clientKey);
}

/**
 * Id of a message of a person in a chat that is loaded, by the name of its input. The answer to it
 * has that name as its id, so the message needs another one.
 */
export function shownId(clientKey: string | undefined): string | undefined {
  return isChatKey(clientKey) ? clientKey.replace('chat_', 'message_') : undefined;
}
