import { agent, run } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

test('a model that hands back in the same turn is told what to do instead', async () => {
  const answers = scriptedModel([
    { toolCalls: [{ name: 'transfer_to_triage' }] },
    { text: 'I answer it.' },
  ]);
  const triage = agent({
    name: 'triage',
    model: scriptedModel([{ toolCalls: [{ name: 'transfer_to_faq' }] }]),
    handoffs: [() => faq],
  });
  const faq = agent({ name: 'faq', model: answers, handoffs: [() => triage] });
  expect((await run(triage, 'Question?')).output).toBe('I answer it.');
  expect(JSON.stringify(answers.calls[1]?.prompt.at(-1))).toContain(
    '\\"triage\\" has already handed this conversation on in the same turn ' +
      '(triage → faq → triage); go on with it yourself',
  );
});

test('an agent in the place of a list of them', () => {
  const model = scriptedModel([]);
  const faq = agent({ name: 'faq', model });
  expect(() => agent({ name: 'triage', model, handoffs: faq as never })).toThrow(/handoffs/);
});
