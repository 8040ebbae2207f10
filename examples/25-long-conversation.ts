/**
 * A conversation that is longer than the model's window. What is old is summarised by a second
 * model when the prompt has grown to 70 % of the window; facts that code asked to remember stay as
 * they are. The ledger keeps everything: only what the model reads becomes shorter.
 */
import assert from 'node:assert/strict';
import { agent, type Model, runtime, tool } from 'adjutant';
import { includeHistory, injectSystemMessage, promptAt } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const readChapter = tool({
  name: 'readChapter',
  description: 'Reads a chapter of the case file',
  schema: z.object({ chapter: z.int() }),
  readOnly: true,
  execute: (ctx) => {
    // This must not be forgotten, even when all the rest is left out.
    if (ctx.args.chapter === 1)
      ctx.remember('The patient is allergic to penicillin.', { key: 'allergy' });
    return (
      'Chapter ' +
      `${ctx.args.chapter}\n${'The patient felt better on this day, and the doctors noted it down.\n'.repeat(20)}`
    );
  },
});

const chapters = 16;
const scripted = scriptedModel((_prompt, call) =>
  call < chapters
    ? { toolCalls: [{ name: 'readChapter', args: { chapter: call + 1 } }] }
    : { text: 'Do not give penicillin.' },
);
// With a real model: openai('gpt-5-mini'). Its window is known; for others there is the setting
// `contextWindow`.
const reader: Model = {
  kind: 'model',
  provider: 'scripted',
  modelId: 'reader',
  settings: {},
  contextWindow: 4_000,
  load: () => scripted,
};
const summaries = scriptedModel([], {
  defaultResponse: { text: 'The patient felt better in the chapters that were read so far.' },
  modelId: 'small',
});

const doctor = agent({
  name: 'doctor',
  model: reader,
  context: [injectSystemMessage('You read case files.'), includeHistory()],
  tools: [readChapter],
  compaction: { model: summaries },
});
const { session, output } = await runtime({ app: 'clinic' }).run(
  doctor,
  'Read the whole file. What must we not do?',
);
console.log(output);
assert.equal(output, 'Do not give penicillin.');

// It happened twice, and each time the ledger says why.
for (const { what, why } of explain(session)) console.log(`${what} ${why}`);
const compactions = session.events.filter((event) => event.type === 'compaction');
assert.equal(compactions.length, 2);
assert.ok(compactions.every(({ tokensBefore, tokensAfter }) => tokensAfter < tokensBefore / 2));

// Every prompt can be shown again as it was: the last one before the first summary, that of the
// summary itself, and the one after it.
const asked = session.events.filter(
  (event) => event.type === 'model_start' && event.seq < (compactions[0]?.seq ?? 0),
).length;
const [before, , after] = [asked - 1, asked, asked + 1].map((call) =>
  JSON.stringify(promptAt(session, call).prompt),
);
console.log(`${before?.length} characters before, ${after?.length} after`);
assert.match(before ?? '', /Chapter 1\\n/);
assert.doesNotMatch(after ?? '', /Chapter 1\\n/);
assert.match(after ?? '', /felt better in the chapters that were read so far/);
assert.match(after ?? '', /What must we not do\?/);

// The last prompt still has the fact of the first chapter, and the ledger all chapters.
const last = scripted.calls.at(-1)?.prompt;
assert.deepEqual(last, promptAt(session, scripted.calls.length + summaries.calls.length).prompt);
assert.match(JSON.stringify(last), /Remember: The patient is allergic to penicillin\./);
assert.equal(session.events.filter((event) => event.type === 'tool_result').length, chapters);
