import { agent, memoryStore, type Runnable, runtime, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { server, uiMessages } from '../src/index.ts';

const askText = tool({
  name: 'askText',
  description: 'Asks',
  schema: z.object({ about: z.string() }),
  yieldSchema: z.string().min(2),
  execute: ({ input }) => `noted: ${input}`,
});
const askName = tool({
  name: 'askName',
  description: 'Asks for a name',
  schema: z.object({}),
  yieldSchema: z.object({ name: z.string().min(2) }),
  execute: ({ input }) => `noted: ${input.name}`,
});

function clerk() {
  return agent({
    name: 'clerk',
    model: roundModel([
      { toolCalls: [{ name: 'askText', args: { about: 'the colour' } }] },
      { text: 'And who are you?', toolCalls: [{ name: 'askName', args: {} }] },
      { text: 'Thank you.' },
    ]),
    tools: [askText, askName],
  });
}

/** A server with one runnable, and a page that chats with it. */
function chatting(runnable: Runnable) {
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [runnable] });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const post = async (message: object) => {
    const request = new Request(`http://localhost/v1/agents/${runnable.name}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat', messages: [message] }),
    });
    const answer = await api.fetch(request);
    const text = await answer.text();
    return answer.ok ? chunksOf(text) : (JSON.parse(text) as { code: string }).code;
  };
  const said = async () => {
    const { events } = await app.sessions.get('chat');
    return events.flatMap((event) =>
      event.type === 'user' || event.type === 'tool_input' ? [event.type] : [],
    );
  };
  const shown = async () => {
    const { messages } = await uiMessages(app, 'chat', { open: true });
    return messages.map(({ id, role, parts }) => ({
      id,
      role,
      parts: parts.map((part) => ('text' in part ? part.text : part.type)),
    }));
  };
  return { app, post, said, shown };
}

function chunksOf(text: string): { type: string; [member: string]: unknown }[] {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
}

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

test('a message that is taken as an answer is taken once, and gets the same answer', async () => {
  const { post, said } = chatting(clerk());
  await post(user('m1', 'Paint it'));
  const answer = await post(user('m2', 'red'));
  expect(answer).toContainEqual(expect.objectContaining({ delta: 'And who are you?' }));
  expect(await post(user('m2', 'red'))).toEqual(answer);
  expect(await said()).toEqual(['user', 'tool_input']);
  // It answers the second question only under an id of its own.
  expect(await post(user('m2', 'green'))).toBe('chat_message_changed');
  const last = await post(user('m3', 'Ann'));
  expect(last).toContainEqual(expect.objectContaining({ delta: 'Thank you.' }));
  expect(await post(user('m3', 'Ann'))).toEqual(last);
  // The answer to an earlier one has what has become of its calls.
  const again = await post(user('m2', 'red'));
  expect(again[0]).toEqual(answer[0]);
  expect(again).toContainEqual(expect.objectContaining({ output: 'noted: Ann' }));
  expect(JSON.stringify(again)).not.toContain('Thank you.');
  expect(await said()).toEqual(['user', 'tool_input', 'tool_input']);
});

test('a message that is taken as an answer is in the history, at its place and once', async () => {
  const { app, post, said, shown } = chatting(clerk());
  await post(user('m1', 'Paint it'));
  const red = await post(user('m2', 'red'));
  const ann = await post(user('m3', 'Ann'));
  const messages = await shown();
  expect(messages.map(({ role, parts }) => [role, parts])).toEqual([
    ['user', ['Paint it']],
    ['assistant', ['step-start', 'tool-askText', 'data-request']],
    ['user', ['red']],
    ['assistant', ['step-start', 'And who are you?', 'tool-askName', 'data-request']],
    ['user', ['Ann']],
    ['assistant', ['step-start', 'Thank you.']],
  ]);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(6);
  // The page has the answers under the ids that they were told with.
  for (const [answer, place] of [
    [red, 3],
    [ann, 5],
  ] as const)
    expect(answer[0]).toMatchObject({ type: 'start', messageId: messages[place]?.id });
  // A message that a page has loaded is the same one when it is sent again.
  const loaded = messages[2] as { id: string };
  expect(await post(user(loaded.id, 'red'))).toContainEqual(red[0]);
  expect(await shown()).toEqual(messages);
  expect(await said()).toHaveLength(3);
  // The calls have their outcome, and nothing is asked any more.
  const { messages: whole } = await uiMessages(app, 'chat');
  const parts = JSON.stringify(whole);
  expect(parts).toContain('noted: red');
  expect(parts).toContain('noted: Ann');
  expect(parts).not.toContain('pending');
});

test('answers that are given elsewhere are no messages', async () => {
  const { app, post, shown } = chatting(clerk());
  await post(user('m1', 'Paint it'));
  const [first] = await app.requests.list();
  await app.requests.answer(first?.requestId ?? '', { input: 'red', by: 'operator:eve' });
  await expect.poll(async () => (await app.requests.list({ status: 'pending' })).length).toBe(1);
  expect((await shown()).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('a message that answers the question of a step gets what it does then', async () => {
  const form = step({
    name: 'form',
    execute: async (ctx) => {
      const colour = await ctx.ask('colour', { message: 'Which colour?', schema: z.string() });
      const size = await ctx.ask('size', { message: 'Which size?', schema: z.string() });
      return ctx.complete(`${colour}, ${size}`);
    },
  });
  const { post, said, shown } = chatting(form);
  await post(user('m1', 'Paint it'));
  const red = await post(user('m2', 'red'));
  expect(red).toContainEqual(expect.objectContaining({ type: 'data-request' }));
  expect(await post(user('m2', 'red'))).toEqual(red);
  const large = await post(user('m3', 'large'));
  expect(large).toContainEqual(expect.objectContaining({ delta: 'red, large' }));
  expect(await post(user('m3', 'large'))).toEqual(large);
  expect((await shown()).map(({ role, parts }) => [role, parts])).toEqual([
    ['user', ['Paint it']],
    ['assistant', ['step-start', 'data-request']],
    ['user', ['red']],
    ['assistant', ['step-start', 'data-request']],
    ['user', ['large']],
    ['assistant', ['step-start', 'red, large']],
  ]);
  expect(await said()).toEqual(['user', 'tool_input', 'tool_input']);
});
