import { type AdjutantServer, server } from '@adjutant/server';
import { Chat } from '@ai-sdk/react';
import {
  agent,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type StoredEvent,
  tool,
} from 'adjutant';
import { roundModel, type ScriptedResponse } from 'adjutant/testing';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** A server with a clerk who looks things up, and pays when somebody approves. */
export function clerkServer(
  responses: readonly ScriptedResponse[],
  options: Partial<RuntimeOptions> = {},
) {
  const paid: number[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks something up',
    schema: z.object({ order: z.string() }),
    readOnly: true,
    execute: ({ args }) => ({ order: args.order, cents: 9_000 }),
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: { summary: ({ args }) => `Pay ${args.cents}` },
    execute: ({ args }) => {
      paid.push(args.cents);
      return `paid ${args.cents}`;
    },
  });
  const clerk = agent({ name: 'clerk', model: roundModel(responses), tools: [look, pay] });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk], ...options });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return {
    app,
    api,
    paid,
    chat: (id: string, messages: UIMessage[] = []) => chatWith(api, id, messages),
  };
}

/** The chat that `useChat` keeps, with its default transport. */
export function chatWith(api: AdjutantServer, id: string, messages: UIMessage[] = []) {
  const sent: Response[] = [];
  const transport = new DefaultChatTransport({
    api: 'http://localhost/v1/agents/clerk/chat',
    fetch: async (input, init) => {
      const answer = await api.fetch(new Request(input as string, init));
      sent.push(answer);
      return answer;
    },
  });
  const chat = new Chat({
    id,
    messages,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return { chat, sent };
}

/** The parts of a message in short. */
export function shown(message: UIMessage | undefined): readonly unknown[] {
  return (message?.parts ?? []).map((part) => {
    if (part.type === 'text' || part.type === 'reasoning')
      return `${part.type}: ${part.text} (${part.state})`;
    return 'state' in part ? `${part.type}: ${part.state}` : part.type;
  });
}

export async function eventsOf(app: Runtime, session: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of app.sessions.events(session)) events.push(event);
  return events;
}

/** The chat of an agent that asks for leave to pay, in a session, with the part that asks. */
export async function askedChat(made: ReturnType<typeof clerkServer>, id: string) {
  const { chat } = made.chat(id);
  await chat.sendMessage({ text: 'Pay' });
  const part = chat.lastMessage?.parts.find(({ type }) => type === 'tool-pay') as ToolPart;
  return { chat, part, message: chat.lastMessage as UIMessage };
}

export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly approval: { readonly id: string };
}

export const paying: readonly ScriptedResponse[] = [
  { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
  { text: 'It is paid.' },
];

/** Sends what a page sends, and gives what comes back: the code of a problem, or the chunks. */
export async function post(api: AdjutantServer, body: object) {
  const answer = await api.fetch(
    new Request('http://localhost/v1/agents/clerk/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
  const text = await answer.text();
  const chunks = text
    .split('\n\n')
    .flatMap((line) =>
      line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as { type: string }] : [],
    );
  return {
    status: answer.status,
    code: answer.ok ? undefined : (JSON.parse(text) as { code: string }).code,
    chunks,
  };
}

export const said = ({ type, toolCallId }: ToolPart, approval: object) => ({
  role: 'assistant',
  id: 'x',
  parts: [{ type, toolCallId, state: 'approval-responded', approval }],
});
export const user = (id: string, text: string) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});
