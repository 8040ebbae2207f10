import { createHash } from 'node:crypto';
import type { Event, Runtime } from 'adjutant';
import { ledgersOf, withLargeValues } from '../../http/large-values.ts';
import { isRoot, runOf } from '../run-state.ts';
import { type Conversation, conversationAfter, noConversation } from './conversation.ts';

const keyDigits = 20;

/** The name of an input: the same message of a chat is one input, however often it is sent. */
export function chatKeyOf(messageId: string): string {
  return `chat_${createHash('sha256').update(JSON.stringify(messageId)).digest('hex').slice(0, keyDigits)}`;
}

/** A run of a session, as far as chats need it. */
export interface ChatRun {
  readonly id: string;
  readonly agent: string;
  /** `seq` of its first event. */
  readonly startSeq: number;
  readonly status: 'open' | 'completed' | 'failed';
  /** `seq` of the event by which it rests; missing while it is at work. */
  readonly restSeq?: number;
}

/** An input that a run has taken in. */
export interface ChatInput {
  readonly text: string;
  readonly run: string;
}

/** What a ledger says of a chat. */
export interface ChatLedger {
  /** `seq` of the last event. */
  readonly head: number;
  readonly conversation: Conversation;
  readonly runs: ReadonlyMap<string, ChatRun>;
  /** By the names that the inputs were given. */
  readonly inputs: ReadonlyMap<string, ChatInput>;
}

export const emptyChat: ChatLedger = { head: 0, conversation: noConversation, runs: new Map(), inputs: new Map() };

/** Reads what a chat is about from the ledger, which alone says what was said. */
export async function readChat(app: Runtime, session: string): Promise<ChatLedger> {
  const from = { ledgers: ledgersOf(app), session };
  const runs = new Map<string, ChatRun>();
  const inputs = new Map<string, ChatInput>();
  let conversation = noConversation;
  let head = 0;
  for await (const stored of app.events(session)) {
    head = stored.seq;
    if (stored.type === 'unreadable') continue;
    const event = await withLargeValues(stored, from);
    conversation = conversationAfter(conversation, event);
    if (event.type === 'user' && event.clientKey !== undefined && event.invocationId !== undefined)
      inputs.set(event.clientKey, { text: event.text, run: runOf(event.invocationId) });
    const run = runAfter(runs.get(runOf(event.invocationId ?? '')), event);
    if (run !== undefined) runs.set(run.id, run);
  }
  return { head, conversation, runs, inputs };
}

function runAfter(run: ChatRun | undefined, event: Event): ChatRun | undefined {
  if (event.type === 'invocation_start' && event.mode === 'root' && run === undefined) {
    return { id: runOf(event.invocationId), agent: event.name, startSeq: event.seq, status: 'open' };
  }
  if (run === undefined || event.invocationId === undefined || !isRoot(event.invocationId)) return run;
  const { restSeq: _, ...working } = run;
  switch (event.type) {
    case 'invocation_yield':
      return { ...run, restSeq: event.seq };
    case 'invocation_resume':
    case 'invocation_reopen':
      return { ...working, status: 'open' };
    case 'invocation_end':
      if (event.next !== undefined) return run;
      return { ...run, restSeq: event.seq, status: event.status === 'error' || event.status === 'cancelled' ? 'failed' : 'completed' };
    default:
      return run;
  }
}

/** The last run of a chat. */
export function lastRun({ runs, conversation: { answer } }: ChatLedger): ChatRun | undefined {
  return answer === undefined ? undefined : runs.get(answer.run);
}
