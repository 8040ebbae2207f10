import { type AdjutantServer, apiKeys, server } from '@adjutant/server';
import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel, scriptedModel, testClock } from 'adjutant/testing';
import type { UIMessage } from 'ai';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  askedChat,
  chatWith,
  clerkServer,
  eventsOf,
  paying,
  post,
  said,
  shown,
  type ToolPart,
  user,
} from './clerk-chat.ts';

test('a conversation of two turns with a tool: the ledger is what the chat shows', async () => {
  const { app, chat: open } = clerkServer([
    {
      thoughts: 'I have to look.',
      text: 'I look it up.',
      toolCalls: [{ name: 'look', args: { order: '17' } }],
    },
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
  expect(chat.lastMessage?.parts[3]).toMatchObject({
    input: { order: '17' },
    output: { order: '17', cents: 9_000 },
  });
  await chat.sendMessage({ text: 'Thanks' });
  expect(shown(chat.lastMessage)).toEqual(['step-start', 'text: You are welcome. (done)']);
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  const events = await eventsOf(app, 'chat-1');
  expect(events.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual([
    'What did order 17 cost?',
    'Thanks',
  ]);
});

test(
  'a message is one input, however often it is sent; another text under its id ' + 'is refused',
  async () => {
    const { api, app } = clerkServer([{ text: 'Hello.' }, { text: 'Once more.' }]);
    const first = await post(api, { id: 'chat', messages: [user('m1', 'Hi')] });
    const again = await post(api, { id: 'chat', messages: [user('m1', 'Hi')] });
    expect(again.chunks).toEqual(first.chunks);
    expect(
      (await post(api, { id: 'chat', messages: [user('m1', 'Ho')], messageId: 'm1' })).code,
    ).toBe('chat_message_changed');
    expect(
      (await eventsOf(app, 'chat')).filter(({ type }) => type === 'invocation_start'),
    ).toHaveLength(1);
    const regenerated = await post(api, {
      id: 'chat',
      messages: [user('m1', 'Hi')],
      trigger: 'regenerate-message',
    });
    expect(regenerated.code).toBe('chat_answer_stands');
    const file = {
      id: 'm2',
      role: 'user',
      parts: [{ type: 'file', url: 'data:,x', mediaType: 'text/plain' }],
    };
    expect((await post(api, { id: 'chat', messages: [file] })).code).toBe('chat_part_unsupported');
    expect((await post(api, { id: 'chat', messages: [user('m3', ' ')] })).code).toBe(
      'chat_message_empty',
    );
  },
);

test('regenerate takes up a run that failed, and the page is told why it did', async () => {
  let isDown = true;
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel(() => (isDown ? { error: new Error('no luck') } : { text: 'Here I am.' })),
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const { chat } = chatWith(api, 'chat');
  await chat.sendMessage({ text: 'Hi' });
  expect(chat.status).toBe('error');
  expect(chat.error?.message).toContain('no luck');
  isDown = false;
  await chat.regenerate();
  expect(chat.error).toBeUndefined();
  expect(shown(chat.lastMessage).at(-1)).toBe('text: Here I am. (done)');
  expect((await eventsOf(app, 'chat')).filter(({ type }) => type === 'user')).toHaveLength(1);
});

test(
  'who comes back gets the answer from its beginning; where nothing is under way, there is ' +
    'nothing',
  async () => {
    const made = clerkServer(paying);
    const { chat, message } = await askedChat(made, 'chat');
    const fresh = made.chat('chat').chat;
    await fresh.resumeStream();
    expect(fresh.messages).toEqual([message]);
    await chat.addToolApprovalResponse({
      id: ((await made.app.requests.list())[0] as { requestId: string }).requestId,
      approved: false,
      reason: 'no',
    });
    await expect
      .poll(() => shown(chat.lastMessage).at(-1), { timeout: 20_000 })
      .toBe('text: It is paid. (done)');
    expect(chat.lastMessage?.parts[1]).toMatchObject({
      state: 'output-denied',
      approval: { approved: false, reason: 'no' },
    });
    for (const id of ['chat', 'nobody-began-this']) {
      const answer = await made.api.fetch(
        new Request(`http://localhost/v1/agents/clerk/chat/${id}/stream`),
      );
      expect(answer.status).toBe(204);
    }
  },
);

test('an input that a tool asks for is given as the output of its call', async () => {
  const ask = tool({
    name: 'ask_address',
    description: 'Asks where to send it',
    schema: z.object({}),
    yieldSchema: z.object({ street: z.string() }),
    execute: ({ input }) => `sent to ${(input as { street: string }).street}`,
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'ask_address' }] }, { text: 'Sent.' }]),
    tools: [ask],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const { chat } = chatWith(api, 'chat');
  await chat.sendMessage({ text: 'Send it' });
  const { parts } = chat.lastMessage as UIMessage;
  const { toolCallId } = parts[1] as ToolPart;
  expect(parts[2]).toMatchObject({
    type: 'data-request',
    data: { kind: 'input', toolCallId, status: 'pending' },
  });
  await chat.addToolOutput({ tool: 'ask_address', toolCallId, output: { street: 5 } } as never);
  await chat.sendMessage();
  expect(chat.error?.message).toContain('input_mismatch');
  await chat.addToolOutput({
    tool: 'ask_address',
    toolCallId,
    output: { street: 'Main Street' },
  } as never);
  await chat.sendMessage();
  expect(chat.error).toBeUndefined();
  expect(chat.lastMessage?.parts[1]).toMatchObject({
    state: 'output-available',
    output: 'sent to Main Street',
  });
  expect(chat.lastMessage?.parts[2]).toMatchObject({ data: { status: 'settled' } });
  expect(shown(chat.lastMessage).at(-1)).toBe('text: Sent. (done)');
});

test('stop only stops listening; a message in mid-run gets an answer of its own', async () => {
  const clock = testClock();
  const model = roundModel(
    [{ chunks: ['One, ', 'two.'], chunkDelayMs: 1_000 }, { text: 'Stopped.' }],
    { clock },
  );
  const clerk = agent({ name: 'clerk', model });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const { chat } = chatWith(api, 'chat');
  const counting = chat.sendMessage({ text: 'Count' });
  await expect
    .poll(() => shown(chat.lastMessage))
    .toEqual(['step-start', 'text: One,  (streaming)']);
  await chat.stop();
  await counting;
  const stopping = chat.sendMessage({ text: 'Enough' });
  // The answer that is being written is ended first.
  await expect
    .poll(async () => (await eventsOf(app, 'chat')).filter(({ type }) => type === 'user').length)
    .toBe(2);
  clock.advance(1_000);
  await stopping;
  expect(chat.error).toBeUndefined();
  expect(shown(chat.lastMessage)).toEqual(['step-start', 'text: Stopped. (done)']);
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(
    (await eventsOf(app, 'chat')).filter(({ type }) => type === 'invocation_start'),
  ).toHaveLength(1);
});

test('chats of others are out of reach', async () => {
  const paid: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => paid.push(1),
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const of = async (user: string, tenant?: string): Promise<AdjutantServer> => {
    const { credential } = await apiKeys(app).create({
      name: user,
      roles: ['operator'],
      user,
      ...(tenant === undefined ? {} : { tenant }),
    });
    return {
      ...api,
      fetch: (request) => {
        const sent = new Request(request);
        sent.headers.set('authorization', `Bearer ${credential}`);
        return api.fetch(sent);
      },
    };
  };
  const ann = await of('ann');
  const { chat } = chatWith(ann, 'chat');
  await chat.sendMessage({ text: 'Pay' });
  const part = chat.lastMessage?.parts.find(({ type }) => type === 'tool-pay') as ToolPart;
  const [own] = (await app.sessions.list({ user: 'ann' })).sessions;
  const id = own?.id ?? '';
  const before = await eventsOf(app, id);
  const forged = said(part, { id: part.approval.id, approved: true });
  const bob = await of('bob');
  for (const chatId of ['chat', id]) {
    expect((await post(bob, { id: chatId, messages: [forged] })).code).toBe('session_not_found');
    expect(
      (await bob.fetch(new Request(`http://localhost/v1/agents/clerk/chat/${chatId}/stream`)))
        .status,
    ).toBe(204);
    // The chat belongs to this user under any name that the page gives it.
    expect((await post(bob, { id: chatId, messages: [user('m1', 'Hi')] })).status).toBe(200);
    expect((await post(bob, { id: chatId, messages: [forged] })).code).toBe('request_not_found');
  }
  await post(bob, { id: 'bobs', messages: [user('m1', 'Pay me')] });
  expect((await post(bob, { id: 'bobs', messages: [forged] })).code).toBe('request_not_found');
  // Another tenant has a chat of its own under the same id.
  const elsewhere = await post(await of('ann', 'other'), {
    id: 'chat',
    messages: [user('m1', 'Pay')],
  });
  expect(elsewhere.chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
  expect(await eventsOf(app, id)).toEqual(before);
  expect(paid).toEqual([]);
  expect((await app.sessions.list({ user: 'ann' })).sessions).toHaveLength(1);
});
