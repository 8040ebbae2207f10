import { expect, test } from 'vitest';
import { agent, runtime } from '../../../src/index.ts';
import type { Guardrail } from '../../../src/supervision/guardrails/index.ts';
import { scriptedModel } from '../../../src/testing/kit/scripted-model.ts';

const forbids = (text: string) =>
  text.includes('forbidden') ? ({ action: 'deny', message: 'Not here.' } as const) : undefined;

function setUp(guardrail: Omit<Guardrail, 'name'>, responses: Parameters<typeof scriptedModel>[0]) {
  const model = scriptedModel(responses);
  const desk = agent({
    name: 'desk',
    model,
    supervision: { guardrails: [{ name: 'strict', ...guardrail }] },
  });
  return { app: runtime({ app: 'test', runnables: [desk] }), desk, model };
}

test('a message that was refused is not shown to the model by a later run either', async () => {
  const { app, desk, model } = setUp({ input: ({ text }) => forbids(text) }, [{ text: 'fine' }]);
  const refused = await app.run(desk, { input: 'something forbidden', session: 's' });
  expect(refused.stopReason).toBe('refused');
  const result = await app.run(desk, { input: 'something else', session: 's' });
  expect(result).toMatchObject({ status: 'completed', output: 'fine' });
  const prompt = JSON.stringify(model.calls[0]?.prompt);
  expect(prompt).not.toContain('something forbidden');
  expect(prompt).toContain('[This message was refused.]');
});

test('of an answer that was refused nothing is kept, neither its thoughts', async () => {
  const { app, desk, model } = setUp({ output: ({ text }) => forbids(text) }, [
    { thoughts: 'I know something forbidden', text: 'this is forbidden' },
    { text: 'fine' },
  ]);
  const refused = await app.run(desk, { input: 'hi', session: 's' });
  expect(refused).toMatchObject({ output: 'Not here.', stopReason: 'refused' });
  await app.run(desk, { input: 'and now?', session: 's' });
  expect(JSON.stringify([refused.session.events, model.calls[1]?.prompt])).not.toContain(
    'forbidden',
  );
});
