import assert from 'node:assert/strict';
import { test } from 'node:test';
import { model, runTest, user } from 'adjutant/testing';
import { researcher } from '../src/agent.ts';

const note = { text: 'The tower is 330 m high.', source: 'https://example.com/tower' };

/** What the model would answer is written here: no key is needed, and nothing is called. */
test('a note is found again', async () => {
  const { output, session } = await runTest(researcher, [
    user('How high is the tower?'),
    model({ toolCalls: [{ name: 'saveNote', args: note }] }),
    model({ toolCalls: [{ name: 'findNotes', args: { words: 'tower high' } }] }),
    model('330 m (https://example.com/tower).'),
  ]);
  assert.match(output ?? '', /330 m/);
  assert.deepEqual(session.state['notes'], [note]);
});
