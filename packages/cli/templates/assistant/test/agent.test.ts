import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approve, model, runTest, user } from 'adjutant/testing';
import { assistant } from '../src/agent.ts';

/** What the model would answer is written here: no key is needed, and nothing is called. */
test('a large reminder goes out when a person agrees', async () => {
  const { output, events } = await runTest(assistant, [
    user('Remind Ben of A-2.'),
    model({ toolCalls: [{ name: 'remind', args: { invoice: 'A-2' } }] }),
    approve('remind'),
    model('Ben was reminded.'),
  ]);
  assert.equal(output, 'Ben was reminded.');
  const result = events.find((event) => event.type === 'tool_result');
  assert.equal(result?.result.content, 'Reminded Ben of $1250.00.');
});
