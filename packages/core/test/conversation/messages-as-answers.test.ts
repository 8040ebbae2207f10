import { agent, memoryStore, runtime, tool } from 'adjutant';
import { converse, type SpokenMessage, scriptedUser } from 'adjutant/conversation';
import { roundModel } from 'adjutant/testing';
import { transcript } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

test('a message that a call took as its input is shown to users and in transcripts', async () => {
  const askColour = tool({
    name: 'askColour',
    description: 'Asks for a colour',
    schema: z.object({}),
    yieldSchema: z.string(),
  });
  const painter = agent({
    name: 'painter',
    model: roundModel([
      { text: 'Which colour?', toolCalls: [{ name: 'askColour', args: {} }] },
      { text: 'Painted.' },
      { text: 'You are welcome.' },
    ]),
    tools: [askColour],
  });
  const app = runtime({ app: 'house', store: memoryStore(), runnables: [painter] });
  const heard: SpokenMessage[] = [];
  await app.run(painter, { session: 'wall', input: 'Paint the wall' });
  const { session } = await app.run(painter, { session: 'wall', input: 'red' });
  const said = transcript(session.events).map(({ kind }) => kind);
  expect(said).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
  await converse(app, painter, {
    session: 'wall',
    user: scriptedUser({
      messages: ({ messages, index }) => {
        heard.splice(0, heard.length, ...messages);
        return index === 0 ? 'Thanks' : undefined;
      },
    }),
  });
  expect(heard.map(({ role, text }) => `${role}: ${text}`)).toEqual([
    'user: Paint the wall',
    'assistant: Which colour?',
    'user: red',
    'assistant: Painted.',
    'user: Thanks',
    'assistant: You are welcome.',
  ]);
  await app.close();
});
