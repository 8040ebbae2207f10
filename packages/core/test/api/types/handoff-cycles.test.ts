import { type Agent, agent, run, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

// Agents that name each other, in one module and without a type annotation.
const triage = agent({
  name: 'triage',
  model: scriptedModel([{ toolCalls: [{ name: 'transfer_to_faq' }] }]),
  handoffs: [() => billing, () => faq],
});
const billing = agent({
  name: 'billing',
  model: scriptedModel([{ text: '3' }]),
  output: z.number(),
  handoffs: [{ to: () => triage, back: true }, { to: () => faq, name: 'ask_faq' }, () => triageTwo],
});
const faq = agent({
  name: 'faq',
  model: scriptedModel([{ text: 'It is in the book.' }]),
  handoffs: [() => triage, billing, { to: () => triageTwo, back: true, description: 'Second' }],
});
const triageTwo = agent({
  name: 'triageTwo',
  model: scriptedModel([]),
  handoffs: [triage, { to: faq }, { to: () => triageTwo }],
});

test('agents that name each other keep their types', async () => {
  expectTypeOf(triage).toEqualTypeOf<Agent<string, 'triage'>>();
  expectTypeOf(billing).toEqualTypeOf<Agent<number, 'billing'>>();
  expectTypeOf(triageTwo).toEqualTypeOf<Agent<string, 'triageTwo'>>();
  const { output } = await run(triage, 'Where is it?');
  expectTypeOf(output).toEqualTypeOf<string | undefined>();
  expect(output).toBe('It is in the book.');
});

test('their tools are named after the targets, and listed behind the others', () => {
  expect(billing.tools.map(({ name }) => name)).toEqual([
    'transfer_to_triage',
    'ask_faq',
    'transfer_to_triageTwo',
  ]);
  const { runnables } = runtime({ app: 'desk', runnables: [triage] });
  expect(new Set(runnables.map(({ name }) => name))).toEqual(
    new Set(['triage', 'billing', 'faq', 'triageTwo']),
  );
});

test('other values are refused by the types', () => {
  const model = scriptedModel([]);
  // @ts-expect-error: a number is no target
  expect(() => agent({ name: 'x', model, handoffs: [3] })).toThrow('handoffs');
  // @ts-expect-error: the target is missing
  expect(() => agent({ name: 'x', model, handoffs: [{ back: true }] })).toThrow('handoffs');
});
