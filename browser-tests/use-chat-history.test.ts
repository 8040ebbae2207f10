import { type AdjutantServer, serve, server, uiMessages } from '@adjutant/server';
import { chatFetch, client, ServerProblemError } from '@adjutant/server/client';
import { Chat } from '@ai-sdk/react';
import { agent, memoryStore, type Runtime, runtime, type Tool, tool, toolResult } from 'adjutant';
import { roundModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const approvals = { keys: [{ id: 'k', secret: 'k'.repeat(32) }] };

const look = tool({
  name: 'look',
  description: 'Looks something up',
  schema: z.object({ order: z.string() }),
  readOnly: true,
  execute: ({ args }) => {
    if (args.order === 'none') throw new Error('There is no such order.');
    return { order: args.order, cents: 9_000 };
  },
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({ cents: z.number() }),
  approval: { summary: ({ args }) => `Pay ${args.cents}` },
  execute: ({ args }) => `paid ${args.cents}`,
});
const askName = tool({
  name: 'ask_name',
  description: 'Asks for a name',
  schema: z.object({}),
  yieldSchema: z.string(),
  execute: ({ input }) => `Hello ${input as string}`,
});

function clerkServer(responses: readonly ScriptedResponse[]) {
  const tools: Tool[] = [look, pay, askName];
  const clerk = agent({ name: 'clerk', model: roundModel(responses), tools });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk], approvals });
  const api = server(app, { publicUrl: 'http://localhost' });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return { app, api };
}

/** The chat that `useChat` keeps, with its default transport. */
function chatWith(api: AdjutantServer, id: string, messages: UIMessage[] = []) {
  const transport = new DefaultChatTransport({
    api: 'http://localhost/v1/agents/clerk/chat',
    fetch: chatFetch((input, init) => api.fetch(new Request(input as string, init))),
    prepareReconnectToStreamRequest: ({ api: base, id: chat }) => ({
      api: `${base}/${chat}/stream?ended=true`,
    }),
  });
  return new Chat({
    id,
    messages,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

/** Messages as they go over the wire, without what names them and what is only local. */
function plain(messages: readonly unknown[]): unknown[] {
  const all = JSON.parse(JSON.stringify(messages)) as UIMessage[];
  return all.map(({ id, role, parts, metadata }) => ({
    ...(metadata === undefined ? {} : { metadata }),
    // A page makes the ids of its own messages up.
    ...(role === 'assistant' ? { id } : {}),
    role,
    parts: parts.map((part) => {
      if (role === 'user' && part.type === 'text') return { ...part, state: 'done' };
      // The text that arguments were read from stays with the page that has seen it grow.
      const { rawInput: _, ...rest } = part as typeof part & { rawInput?: string };
      return rest;
    }),
  }));
}

async function loaded(api: AdjutantServer, chat: string, query = '') {
  const answer = await api.fetch(
    new Request(`http://localhost/v1/agents/clerk/chat/${chat}/messages${query}`),
  );
  expect(answer.status).toBe(200);
  return (await answer.json()) as {
    messages: UIMessage[];
    isOpen: boolean;
    seq: number;
    session?: string;
  };
}

function requestOf(chat: { readonly messages: readonly UIMessage[] }): string {
  const part = chat.messages
    .flatMap(({ parts }) => parts)
    .find((one) => 'state' in one && one.state === 'approval-requested');
  return (part as { approval: { id: string } }).approval.id;
}

/** Bound of a page that catches up, on a machine with other work. */
const soon = { timeout: 20_000 };

test('what is loaded is what the page has: texts, thoughts, tools, approvals', async () => {
  const { api, app } = clerkServer([
    {
      thoughts: 'I have to look.',
      text: 'I look it up.',
      toolCalls: [
        { name: 'look', args: { order: '17' } },
        { name: 'look', args: { order: 'none' } },
      ],
    },
    { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
    { text: 'It is paid.' },
    { toolCalls: [{ name: 'pay', args: { cents: 1 } }] },
    { text: 'I leave it.' },
    { toolCalls: [{ name: 'ask_name', args: {} }] },
  ]);
  const chat = chatWith(api, 'chat');
  expect(await loaded(api, 'chat')).toEqual({ messages: [], isOpen: false, seq: 0 });
  await chat.sendMessage({ text: 'What did order 17 cost?' });
  expect(chat.error).toBeUndefined();
  await chat.addToolApprovalResponse({ id: requestOf(chat), approved: true });
  await expect.poll(() => chat.status, soon).toBe('ready');
  await expect.poll(() => JSON.stringify(chat.lastMessage), soon).toContain('It is paid.');
  await expect.poll(() => chat.status, soon).toBe('ready');
  await chat.sendMessage({ text: 'And one cent' });
  await chat.addToolApprovalResponse({ id: requestOf(chat), approved: false, reason: 'no' });
  await expect.poll(() => JSON.stringify(chat.lastMessage), soon).toContain('I leave it.');
  await expect.poll(() => chat.status, soon).toBe('ready');
  const before = await loaded(api, 'chat');
  expect(before).toMatchObject({ isOpen: false, session: 'chat' });
  expect(plain(before.messages)).toEqual(plain(chat.messages));
  expect(new Set(before.messages.map(({ id }) => id)).size).toBe(4);

  // An answer that waits comes with the stream, or when it is asked for.
  await chat.sendMessage({ text: 'Ask me' });
  const open = await loaded(api, 'chat');
  expect(open.isOpen).toBe(true);
  expect(plain(open.messages)).toEqual(plain(chat.messages.slice(0, -1)));
  const whole = await loaded(api, 'chat', '?open=true');
  expect(plain(whole.messages)).toEqual(plain(chat.messages));
  const { messages } = await uiMessages(app, 'chat', { open: true });
  expect(JSON.parse(JSON.stringify(messages))).toEqual(whole.messages);
  const reloaded = chatWith(api, 'chat', open.messages);
  await reloaded.resumeStream();
  expect(plain(reloaded.messages)).toEqual(plain(chat.messages));

  // A text that the tool takes is its answer, whoever has loaded the page.
  await reloaded.sendMessage({ text: 'Ann' });
  const answered = await loaded(api, 'chat', '?open=true');
  const outline = (all: readonly UIMessage[]): unknown[] =>
    all.map(({ role, parts }) => [role, parts.map(({ type }) => type)]);
  expect(outline(reloaded.messages.slice(-3))).toEqual([
    ['assistant', ['step-start', 'tool-ask_name', 'data-request']],
    ['user', ['text']],
    ['assistant', ['step-start', 'tool-ask_name', 'data-request']],
  ]);
  expect(outline(answered.messages)).toEqual(outline(reloaded.messages));
  expect(plain(answered.messages.slice(-2))).toEqual(plain(reloaded.messages.slice(-2)));
  expect(JSON.stringify(answered.messages)).toContain('Hello Ann');
});

test('a message that was loaded is the same message when it is sent again', async () => {
  const { api, app } = clerkServer([{ text: 'Hello.' }]);
  await chatWith(api, 'chat').sendMessage({ text: 'Hi' });
  const { messages } = await loaded(api, 'chat');
  const again = chatWith(api, 'chat', messages.slice(0, 1));
  await again.sendMessage();
  expect(plain(again.messages)).toEqual(plain(messages));
  const { events } = await app.sessions.get('chat');
  expect(events.filter(({ type }) => type === 'user')).toHaveLength(1);
});

test('a message while an approval waits is kept, and answered when that is given', async () => {
  const { api, app } = clerkServer([
    { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
    { text: 'Yes, I am here, and it is paid.' },
  ]);
  const chat = chatWith(api, 'chat');
  await chat.sendMessage({ text: 'Pay' });
  const requestId = requestOf(chat);
  await chat.sendMessage({ text: 'Is anybody there?' });
  expect(chat.error).toBeUndefined();
  expect(chat.lastMessage?.parts).toMatchObject([
    {
      type: 'data-waiting',
      data: { requests: [{ requestId, kind: 'approval', summary: 'Pay 5' }] },
    },
  ]);
  await app.requests.approve(requestId);
  await expect
    .poll(async () => (await loaded(api, 'chat')).messages.at(-1)?.parts.at(-1))
    .toMatchObject({ text: 'Yes, I am here, and it is paid.' });
  await chat.resumeStream();
  expect(JSON.stringify(chat.lastMessage?.parts)).toContain('it is paid.');
  expect(JSON.stringify(chat.lastMessage?.parts)).not.toContain('data-waiting');
  const history = await loaded(api, 'chat');
  expect(history.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

test('a refusal is a sentence with a code', async () => {
  const { api } = clerkServer([{ text: 'Hello.' }]);
  const chat = chatWith(api, 'chat');
  await chat.sendMessage({ text: ' ' });
  expect(chat.error).toBeInstanceOf(ServerProblemError);
  expect(chat.error).toMatchObject({ code: 'chat_message_empty' });
  expect(chat.error?.message).toBe('The message has no text. Write something.');
});

test('a page that watches learns of an approval by a link, and of what follows', async () => {
  const { app } = clerkServer([
    { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
    { text: 'It is paid.' },
  ]);
  const listening = await serve(app as Runtime, { port: 0, processGuard: false });
  onTestFinished(() => listening.close());
  const base = `${listening.url}/v1/agents/clerk/chat`;
  const chat = new Chat({
    id: 'chat',
    transport: new DefaultChatTransport({
      api: base,
      prepareReconnectToStreamRequest: ({ id }) => ({ api: `${base}/${id}/stream?ended=true` }),
    }),
  });
  await chat.sendMessage({ text: 'Pay' });
  const gone = new AbortController();
  const watching = client({ url: listening.url }).chats.watch(
    { agent: 'clerk', chat: 'chat' },
    {
      signal: gone.signal,
      onNews: () => {
        if (chat.status === 'ready') void chat.resumeStream();
      },
    },
  );
  const link = await listening.link(requestOf(chat));
  const decided = await fetch(link, {
    method: 'POST',
    body: new URLSearchParams({ decision: 'approve' }),
  });
  expect(decided.status).toBe(200);
  await expect.poll(() => JSON.stringify(chat.messages), soon).toContain('It is paid.');
  expect(chat.messages).toHaveLength(2);
  expect(JSON.stringify(chat.lastMessage)).toContain('"paid 5"');
  gone.abort();
  await watching;
});

test('tools give parts and metadata of their own, which last, and others that do not', async () => {
  const { promise: isSeen, resolve: saw } = Promise.withResolvers<void>();
  const draw = tool({
    name: 'draw',
    description: 'Draws a chart',
    schema: z.object({ part: z.string() }),
    execute: async (ctx) => {
      ctx.progress({ type: 'data-request', data: 'not its own' });
      ctx.progress({ type: 'data-drawing', data: { done: 0.5 } });
      // Transient parts reach only those who are there.
      await isSeen;
      const parts = [
        { type: 'data-chart', id: 'sales', data: { bars: [ctx.args.part] } },
        { type: 'data-note', data: ctx.args.part },
        { type: 'data-waiting', data: 'not its own' },
        { type: 'text', text: 'not data' },
      ];
      return toolResult.success('drawn', {
        metadata: { ui: { parts, metadata: { drawn: ctx.args.part } } },
      });
    },
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([
      { toolCalls: [{ name: 'draw', args: { part: 'one' } }] },
      { toolCalls: [{ name: 'draw', args: { part: 'two' } }] },
      { text: 'Here it is.' },
    ]),
    tools: [draw],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const seen: unknown[] = [];
  const transport = new DefaultChatTransport({
    api: 'http://localhost/v1/agents/clerk/chat',
    fetch: chatFetch((input, init) => api.fetch(new Request(input as string, init))),
  });
  const chat = new Chat({
    id: 'chat',
    transport,
    onData: (part) => {
      seen.push(part);
      if (part.type === 'data-drawing') saw();
    },
  });
  await chat.sendMessage({ text: 'Draw' });
  expect(chat.error).toBeUndefined();
  const own = chat.lastMessage?.parts.filter(({ type }) => type.startsWith('data-'));
  expect(own).toMatchObject([
    { type: 'data-chart', id: 'sales', data: { bars: ['two'] } },
    { type: 'data-note', data: 'one' },
    { type: 'data-note', data: 'two' },
  ]);
  expect(chat.lastMessage?.metadata).toEqual({ drawn: 'two' });
  expect(seen).toContainEqual({ type: 'data-drawing', transient: true, data: { done: 0.5 } });
  expect(JSON.stringify(chat.messages)).not.toContain('not its own');
  const { messages } = await loaded(api, 'chat');
  expect(plain(messages)).toEqual(plain(chat.messages));
});

test('fields of the page are the data of a run, by the input that its agent takes', async () => {
  const made = (input?: z.ZodType<{ locale: string }>) => {
    const model = scriptedModel([{ text: 'Bonjour.' }]);
    const clerk = agent({ name: 'clerk', model, ...(input === undefined ? {} : { input }) });
    const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
    const api = server(app);
    onTestFinished(async () => {
      await api.close();
      await app.close();
    });
    return { api, model };
  };
  const { api, model } = made(z.object({ locale: z.string().length(2) }));
  const chat = chatWith(api, 'chat');
  await chat.sendMessage({ text: 'Hi' }, { body: { locale: 'fr' } });
  expect(chat.error).toBeUndefined();
  expect(JSON.stringify(model.calls[0]?.prompt)).toContain('locale');
  await chat.sendMessage({ text: 'Hi again' }, { body: { locale: 'french' } });
  expect(chat.error).toMatchObject({ code: 'invalid_input', status: 400 });
  expect(chat.error?.message).toContain('locale');
  expect((await loaded(api, 'chat')).messages).toHaveLength(2);

  const other = chatWith(made().api, 'chat');
  await other.sendMessage({ text: 'Hi' }, { body: { locale: 'fr' } });
  expect(other.error).toMatchObject({
    code: 'chat_fields_unsupported',
    status: 400,
    data: { fields: ['locale'] },
  });
  expect(other.error?.message).toContain('Give the agent an `input`');
});

test('fields that do not fit are refused also while the run waits', async () => {
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Paid.' }]),
    tools: [pay],
    input: z.object({ locale: z.string().length(2) }),
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const chat = chatWith(api, 'chat');
  await chat.sendMessage({ text: 'Pay' }, { body: { locale: 'de' } });
  expect(chat.error).toBeUndefined();
  const { length } = (await app.sessions.get('chat')).events;
  await chat.sendMessage({ text: 'And?' }, { body: { locale: 'german', more: 1 } });
  expect(chat.error).toMatchObject({ code: 'invalid_input', status: 400 });
  expect(chat.error?.message).toContain('locale');
  expect((await app.sessions.get('chat')).events).toHaveLength(length);
  await chat.sendMessage({ text: 'And?' }, { body: { locale: 'de' } });
  expect(chat.error).toBeUndefined();
  expect(chat.lastMessage?.parts).toMatchObject([{ type: 'data-waiting' }]);
});
