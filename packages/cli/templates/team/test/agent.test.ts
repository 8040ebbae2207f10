import assert from 'node:assert/strict';
import { test } from 'node:test';
import { model, runTest, user } from 'adjutant/testing';
import { coordinator } from '../src/agent.ts';

/** What the models would answer is written here: no key is needed, and nothing is called. */
test('the coordinator asks the researcher, then the writer', async () => {
  const { output } = await runTest(coordinator, [
    user('How high is the tower?'),
    model({ toolCalls: [{ name: 'researcher', args: { message: 'Height of the tower?' } }] }),
    model('330 m (https://example.com/tower)', { agent: 'researcher' }),
    model({ toolCalls: [{ name: 'writer', args: { message: 'Write: 330 m' } }] }),
    model('The tower is 330 m high.', { agent: 'writer' }),
    model('The tower is 330 m high.'),
  ]);
  assert.equal(output, 'The tower is 330 m high.');
});
