import { type AdjutantServer, server } from '@adjutant/server';
import { Chat } from '@ai-sdk/react';
import { agent, memoryStore, type Runtime, type RuntimeOptions, runtime, tool } from 'adjutant';
import { roundModel, type ScriptedResponse } from 'adjutant/testing';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

/** A server with a clerk who looks things up, and pays when somebody approves. */
function clerkServer(responses: readonly ScriptedResponse[], options: Partial<RuntimeOptions> = {}) {
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
  return { app, api, paid, chat: (id: string, messages: UIMessage[] = []) => chatWith(api, id, messages) };
}

/** The chat that `useChat` keeps, with its default transport. */
function chatWith(api: AdjutantServer, id: string, messages: UIMessage[] = []) {
  const sent: Response[] = [];
  const transport = new DefaultChatTransport({
    api: 'http://localhost/v1/agents/clerk/chat',
    fetch: async (input, init) => {
      const answer = await api.fetch(new Request(input as string, init));
      sent.push(answer);
      return answer;
    },
  });
  const chat = new Chat({ id, messages, transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  return { chat, sent };
}

/** The parts of a message in short. */
function shown(message: UIMessage | undefined): readonly unknown[] {
  return (message?.parts ?? []).map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return `${part.type}: ${part.text} (${part.state})`;
    return 'state' in part ? `${part.type}: ${part.state}` : part.type;
  });
}

async function eventsOf(app: Runtime, session: string) {
  const events = [];
  for await (const event of app.events(session)) events.push(event);
  return events;
}

test('a conversation of two turns with a tool: the ledger is what the chat shows', async () => {
  const { app, chat: open } = clerkServer([
    { thoughts: 'I have to look.', text: 'I look it up.', toolCalls: [{ name: 'look', args: { order: '17' } }] },
    { chunks: ['It cost ', '90 euros.'] },
    { text: 'You are welcome.' },
  ]);
  const { chat, sent } = open('chat-1');
  await chat.sendMessage({ text: 'What did order 17 cost?' });
  expect(chat.error).toBeUndefined();
  expect(sent[0]?.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  expect(shown(chat.lastMessage)).toEqual([
    'step-start',
    'reasoning: I have to look. (done)',
    'text: I look it up. (done)',
    'tool-look: output-available',
    'step-start',
    'text: It cost 90 euros. (done)',
  ]);
  expect(chat.lastMessage?.parts[3]).toMatchObject({ input: { order: '17' }, output: { order: '17', cents: 9_000 } });
  await chat.sendMessage({ text: 'Thanks' });
  expect(shown(chat.lastMessage)).toEqual(['step-start', 'text: You are welcome. (done)']);
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  const events = await eventsOf(app, 'chat-1');
  expect(events.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual(['What did order 17 cost?', 'Thanks']);
});

test('an approval: the call is made once, and the same message goes on', async () => {
  const { paid, chat: open } = clerkServer([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'It is paid.' }]);
  const { chat } = open('chat-2');
  await chat.sendMessage({ text: 'Pay' });
  const [, part] = chat.lastMessage?.parts ?? [];
  expect(part).toMatchObject({
    state: 'approval-requested',
    approval: { requestReason: 'Pay 5', descriptor: { options: ['approve', 'edit', 'reject'] } },
  });
  const { id: requestId } = (part as unknown as { approval: { id: string } }).approval;
  const { id } = chat.lastMessage ?? {};
  await chat.addToolApprovalResponse({ id: requestId, approved: true });
  await expect.poll(() => shown(chat.lastMessage)).toEqual(['step-start', 'tool-pay: output-available', 'step-start', 'text: It is paid. (done)']);
  expect(chat.lastMessage?.id).toBe(id);
  expect(chat.messages).toHaveLength(2);
  expect(paid).toEqual([5]);
});
