/**
 * A run that went wrong is forked before the mistake and tried again. The original stays as it was.
 */
import assert from 'node:assert/strict';
import { agent, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const read: string[] = [];
const readReport = tool({
  name: 'readReport',
  description: 'Reads a report',
  schema: z.object({ name: z.string() }),
  readOnly: true,
  execute: (ctx) => {
    read.push(ctx.args.name);
    ctx.state['lastRead'] = ctx.args.name;
    return `The report ${ctx.args.name} says: revenue 12, costs 7.`;
  },
});

const analyst = agent({
  name: 'analyst',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'readReport', args: { name: 'Q3' } }] },
    { text: 'The profit is 19.' }, // the first try
    { text: 'The profit is 5.' }, // the second one, in the fork
  ]),
  tools: [readReport],
});

const app = runtime({ app: 'reports' });
const first = await app.run(analyst, { session: 'quarter', input: 'What is the profit?' });
console.log(`${first.session.id}: ${first.output}`);
assert.equal(first.output, 'The profit is 19.');

// The report was read well; the answer was wrong. The place to go back to is right after the tool's
// result.
const { seq } = first.session.events.find(({ type }) => type === 'tool_result') ?? assert.fail();
const then = await app.sessions.stateAt('quarter', seq);
console.log(`at ${seq}: ${then.status}, state`, then.sessionState);
assert.deepEqual(then.sessionState, { lastRead: 'Q3' });
assert.equal(then.status, 'active');

// The fork shares the events up to there; nothing is copied.
const fork = await app.sessions.fork('quarter', { at: seq, id: 'quarter-again' });
const second = await app.run(analyst, { session: fork });
console.log(`${second.session.id}: ${second.output}`);
assert.equal(second.output, 'The profit is 5.');
assert.deepEqual(read, ['Q3'], 'the report was not read again');

// A session in memory can be forked at once, too: for trying out what an answer would lead to.
const what = first.session.forkAt(seq);
assert.equal(what.events.filter(({ type }) => type === 'tool_result').length, 1);

const original = await app.sessions.open({ id: 'quarter' });
assert.deepEqual(original.events, first.session.events);
assert.deepEqual(second.session.events.slice(0, seq), first.session.events.slice(0, seq));
await app.close();
