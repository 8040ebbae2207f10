/**
 * The terminal app from a program: in a terminal it opens with the first message, and is left with
 * Ctrl-D. Without a terminal the message is answered once.
 */
import assert from 'node:assert/strict';
import { cli } from '@adjutant/cli';
import { agent, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const checkStock = tool({
  name: 'checkStock',
  description: 'Says how many pieces of a product are in stock',
  schema: z.object({ product: z.string() }),
  readOnly: true,
  execute: () => ({ pieces: 3 }),
});

const assistant = agent({
  name: 'assistant',
  // With a real model: model: openai('gpt-5-mini')
  model: scriptedModel([
    { toolCalls: [{ name: 'checkStock', args: { product: 'lamp' } }] },
    { text: 'There are 3 lamps.' },
  ]),
  tools: [checkStock],
});

const { session, result, exitCode } = await cli(assistant, 'Do you have lamps?');

assert.equal(exitCode, 0);
assert.equal(result?.output, 'There are 3 lamps.');
assert.ok(session.events.length > 0);
