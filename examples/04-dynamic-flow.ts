/**
 * An order of work that is found while it is done: a tool calls, spawns, dispatches, or hands the
 * conversation over.
 */
import assert from 'node:assert/strict';
import { agent, run, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

// With a real model: model: openai('gpt-5-mini')
const lawyer = agent({
  name: 'lawyer',
  model: scriptedModel([{ text: 'The contract is valid.' }]),
});
const translator = agent({
  name: 'translator',
  model: scriptedModel([{ text: 'Der Vertrag ist gültig.' }]),
});
const archivist = agent({ name: 'archivist', model: scriptedModel([{ text: 'Filed.' }]) });
const notary = agent({
  name: 'notary',
  model: scriptedModel([{ text: 'I am the notary and take it from here.' }]),
});

const delegate = tool({
  name: 'delegate',
  description: 'Gives a task to a specialist',
  schema: z.object({ task: z.string(), mode: z.enum(['call', 'spawn', 'dispatch', 'transfer']) }),
  execute: async (ctx) => {
    const message = ctx.args.task;
    switch (ctx.args.mode) {
      case 'call': {
        const result = await ctx.call(lawyer, { message });
        return { answer: result.output ?? null };
      }
      case 'spawn': {
        const handle = ctx.spawn(translator, { message });
        const result = await handle.wait();
        return { answer: result.output ?? null };
      }
      case 'dispatch':
        return { started: ctx.dispatch(archivist, { message }).invocationId };
      case 'transfer':
        return notary;
    }
  },
});

const call = (mode: string, task: string) => ({
  toolCalls: [{ name: 'delegate', args: { mode, task } }],
});
const clerk = agent({
  name: 'clerk',
  model: scriptedModel([
    call('call', 'Check it'),
    call('spawn', 'Translate it'),
    call('dispatch', 'File it'),
    call('transfer', 'Certify it'),
  ]),
  tools: [delegate],
});

const result = await run(clerk, 'Handle this contract.');
console.log(`${result.toolCalls.length} tool calls; the answer is the notary's: ${result.output}`);

const starts = result.session.events.filter((event) => event.type === 'invocation_start');
for (const { mode, name } of starts) console.log(`${mode.padEnd(8)} ${name}`);

assert.equal(result.output, 'I am the notary and take it from here.');
assert.deepEqual(
  starts.map(({ mode, name }) => [mode, name]),
  [
    ['root', 'clerk'],
    ['call', 'lawyer'],
    ['spawn', 'translator'],
    ['dispatch', 'archivist'],
    ['transfer', 'notary'],
  ],
);
