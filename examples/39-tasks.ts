/**
 * Tasks wait for their turn: those of a higher priority go first, a flood of one requester takes no
 * share of another, and words of a conversation steer them.
 */
import assert from 'node:assert/strict';
import { agent, memoryStore, runtime, step } from 'adjutant';
import { parseJobCommand, resolveTarget, tasksInWords } from 'adjutant/scheduler';
import { scriptedModel } from 'adjutant/testing';

const order: string[] = [];
const report = step({
  name: 'report',
  execute: async (ctx) => {
    order.push(ctx.message ?? '');
    return ctx.complete(`${ctx.message} is written`);
  },
});
const writer = agent({ name: 'writer', model: scriptedModel([{ text: 'A poem.' }]) });
const app = runtime({
  app: 'desk',
  store: memoryStore(),
  runnables: [report, writer],
  // Nothing is carried out before `resumeStopped`, so that the order can be seen.
  recover: 'manual',
  work: { slots: 1 },
});

const tasks = [
  await app.submit(report, 'Sales', { name: 'Sales report', priority: 'low' }),
  await app.submit(report, 'Stock', { name: 'Stock report', priority: 'normal' }),
  await app.submit(writer, 'A poem', { name: 'Poem', priority: 'high' }),
];

// Words about tasks steer them; everything else goes to an agent.
const open = await app.tasks.list();
console.log(tasksInWords(open, { now: Date.now(), format: 'text' }));
const command = parseJobCommand('Could you do the sales report first, please?', { tasks: open });
assert(command?.kind === 'reprioritize');
const found = resolveTarget(command.target, open, { for: command.kind });
assert(found.kind === 'one');
await app.tasks.moveToFront(found.task.id, { by: 'user:ann' });

const why = await app.tasks.explain(tasks[1]?.id ?? '');
console.log(why.text);
assert.equal(why.before, 2);

for (let done = 0; done < tasks.length; done++)
  await Promise.all(await app.recovery.resumeStopped());
const ends = await Promise.all(tasks.map((task) => task.wait()));
assert.deepEqual(
  ends.map(({ output }) => output),
  ['Sales is written', 'Stock is written', 'A poem.'],
);
assert.deepEqual(order, ['Sales', 'Stock']);
await app.close();
