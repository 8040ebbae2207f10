import assert from 'node:assert/strict';
import { test } from 'node:test';
import { model, reject, runTest, user } from 'adjutant/testing';
import { coder } from '../src/agent.ts';

/** What the model would answer is written here: no key is needed, and nothing is called. */
test('nothing is written when a person says no', async () => {
  const { output, events } = await runTest(coder, [
    user('Empty the README.'),
    model({ toolCalls: [{ name: 'writeFile', args: { path: 'README.md', text: '' } }] }),
    reject('writeFile'),
    model('I left it as it is.'),
  ]);
  assert.equal(output, 'I left it as it is.');
  assert.ok(!events.some((event) => event.type === 'tool_attempt'));
});
