import { agent, run } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

test('the target of a handoff reads the question, and behind it what the other agent did', async () => {
  const answers = scriptedModel([{ text: 'I refund it.' }]);
  const billing = agent({ name: 'billing', model: answers });
  const reception = agent({
    name: 'reception',
    model: scriptedModel([{ toolCalls: [{ name: 'transfer_to_billing' }] }]),
    handoffs: [billing],
  });
  await run(reception, 'I paid twice.');
  const texts = answers.calls[0]?.prompt.map(({ role, content }) => [
    role,
    JSON.stringify(content).replaceAll('"', "'"),
  ]);
  expect(texts).toEqual([
    ['user', expect.stringContaining('I paid twice.')],
    ['user', expect.stringContaining('[reception] called the tool transfer_to_billing with {}')],
    ['user', expect.stringContaining('The conversation is handed over to billing')],
  ]);
});
