/**
 * The prompt of a model is computed from the ledger by renderers, and the exact prompt of every
 * call can be shown again.
 */
import assert from 'node:assert/strict';
import { agent, type Renderer, run, session, tool } from 'adjutant';
import {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  limitTools,
  promptOf,
  selectRecentEvents,
} from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const search = tool({
  name: 'search',
  description: 'Searches',
  schema: z.object({ query: z.string() }),
  readOnly: true,
  execute: () => 'nothing',
});
const erase = tool({
  name: 'erase',
  description: 'Erases',
  schema: z.object({}),
  destructive: true,
  execute: () => 'erased',
});

/** A renderer of one's own: a pure function from one render context to the next. */
const shout: Renderer = (context) =>
  context.append({
    type: 'synthetic',
    role: 'system',
    text: `Answer in ${context.state['session']?.['language']}.`,
  });

const model = scriptedModel([{ text: 'First answer' }, { text: 'Second answer' }]);
const librarian = agent({
  name: 'librarian',
  // With a real model: model: openai('gpt-5-mini')
  model,
  tools: [search, erase],
  context: [
    injectSystemMessage((context) => `You are the ${context.agent}.`),
    includeHistory(),
    selectRecentEvents(2),
    enrichUserMessages(
      ({ message, state }) => `[reader of ${state['session']?.['language']} books] ${message}`,
    ),
    limitTools(['search']),
    shout,
  ],
});

const desk = await session('library');
desk.state.language = 'Latin';
await run(librarian, { session: desk, input: 'A book about bees?' });
await run(librarian, { session: desk, input: 'And about wasps?' });

const lastCall = desk.events.findLast((event) => event.type === 'model_start');
const { prompt, tools } = promptOf(desk, lastCall?.seq ?? 0);
for (const { role, content } of prompt)
  console.log(`${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`);

// It is what the model got, to the byte, and the ledger keeps the message as it was written.
assert.equal(JSON.stringify(prompt), JSON.stringify(model.calls[1]?.prompt));
assert.deepEqual(
  prompt.map(({ role }) => role),
  ['system', 'assistant', 'user', 'system'],
);
assert.deepEqual(
  tools?.map(({ name }) => name),
  ['search'],
);
assert.equal(desk.events.findLast((event) => event.type === 'user')?.text, 'And about wasps?');
