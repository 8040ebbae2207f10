/**
 * Code of your own around agents: middleware for all of them (what they cost, what they all read,
 * answers that are kept) and hooks for one of them. The order is always the same: middleware lies
 * outside hooks, and the runtime outside the agent.
 */
import assert from 'node:assert/strict';
import { agent, type Hooks, type Middleware, runtime, tool } from 'adjutant';
import { globalInstructions, responseCache } from 'adjutant/middleware';
import { scriptedModel, testClock } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { z } from 'zod';

const clock = testClock();

/** Adds up what everybody costs, from the events that everybody can hear. */
let dollars = 0;
const costTracker: Middleware = {
  name: 'costTracker',
  onStream: (event) => {
    if (event.type === 'model_end') dollars += event.cost ?? 0;
  },
};

/** Notes in which order it is called. */
const order: string[] = [];
function noting(where: string): Hooks {
  return {
    beforeModel: () => void order.push(`before: ${where}`),
    afterModel: () => void order.push(`after: ${where}`),
  };
}

const removed: string[] = [];
const remove = tool({
  name: 'remove',
  description: 'Removes a file',
  schema: z.object({ path: z.string() }),
  execute: ({ args }) => {
    removed.push(args.path);
    return 'removed';
  },
});

/** A returned value takes the place of the next act. */
const careful: Hooks = {
  beforeTool: (_ctx, { args }) =>
    (args as { path: string }).path.startsWith('/')
      ? { error: 'Only files of the workspace may be removed.' }
      : undefined,
  afterAgent: (_ctx, output) => `${output} (${removed.length} removed)`,
};

const usage = { inputTokens: 1_000, outputTokens: 100 };
// With a real model: model: openai('gpt-5-mini')
const model = scriptedModel([
  { toolCalls: [{ name: 'remove', args: { path: '/etc/hosts' } }], usage },
  { toolCalls: [{ name: 'remove', args: { path: 'old.txt' } }], usage },
  { text: 'Done', usage },
]);
const cleaner = agent({
  name: 'cleaner',
  model,
  tools: [remove],
  middleware: [{ name: 'notes', ...noting('middleware of the agent') }],
  hooks: [careful, noting('hooks of the agent')],
});

const app = runtime({
  app: 'workspace',
  ports: { clock },
  prices: { 'scripted:scripted': { input: 2, output: 10 } }, // US dollars for a million tokens
  middleware: [
    costTracker,
    { name: 'notes', ...noting('middleware of the runtime') },
    responseCache({ ttlMs: 60_000 }),
    globalInstructions('Never say more than you know.'),
  ],
});

const first = await app.run(cleaner, 'Clean up');
console.log(`${first.output}, for $${dollars.toFixed(3)}`);
assert.equal(first.output, 'Done (1 removed)');
assert.deepEqual(removed, ['old.txt']);
assert.equal(first.toolCalls[0]?.success, false);
assert.match(JSON.stringify(model.calls[1]?.prompt), /Only files of the workspace may be removed/);
assert.deepEqual(model.calls[0]?.prompt[0], {
  role: 'system',
  content: 'Never say more than you know.',
});
assert.equal(dollars.toFixed(3), '0.009');

console.log(order.slice(0, 6));
assert.deepEqual(order.slice(0, 6), [
  'before: middleware of the runtime',
  'before: middleware of the agent',
  'before: hooks of the agent',
  'after: hooks of the agent',
  'after: middleware of the agent',
  'after: middleware of the runtime',
]);

// The same question in another session: the answers come from the cache and use nothing; their tool
// calls are made like any other.
const second = await app.run(cleaner, 'Clean up');
console.log(second.output, second.usage);
assert.equal(second.output, 'Done (2 removed)');
assert.equal(model.calls.length, 3);
assert.deepEqual(second.usage, { inputTokens: 0, outputTokens: 0 });

// Each change is in the ledger, with its author.
for (const { seq, what, why } of explain(second.session)) console.log(`${seq}. ${what} ${why}`);
assert.deepEqual(
  explain(second.session).map(({ component, decision }) => `${component}: ${decision}`),
  [
    'hooks: continue',
    'hooks: skip_tool',
    'hooks: continue',
    'hooks: answer',
    'hooks: change_output',
  ],
);
