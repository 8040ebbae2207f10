import { agent, runtime, tool } from 'adjutant';
import { finalAnswerGoal, parsePlanReAct, planReAct, planReActOf } from 'adjutant/plan';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const times = tool({
  name: 'tee_times',
  description: 'Finds tee times',
  schema: { type: 'object' },
  readOnly: true,
  execute: () => ['6:30'],
});

async function run(responses: readonly ScriptedResponse[]) {
  const model = scriptedModel(responses);
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [times],
    middleware: [planReAct()],
    goal: finalAnswerGoal,
  });
  const result = await runtime({ app: 'golf' }).run(clerk, 'Book a tee time for Saturday');
  return { model, result, events: result.session.events };
}

const plan = '/*PLANNING*/\n1. Search for tee times\n2. Book the best\n/*ACTION*/ look for times';

describe('planReAct', () => {
  test('the output is the final answer alone, and the plan is read from the events', async () => {
    const { model, result, events } = await run([
      { text: plan, toolCalls: [{ name: 'tee_times' }] },
      { text: '/*REASONING*/ 6:30 is free.\n/*FINAL_ANSWER*/ Booked 6:30.' },
    ]);
    expect(result.output).toBe('Booked 6:30.');
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('/*FINAL_ANSWER*/');
    // The model sees its own plan again, as it wrote it.
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('2. Book the best');
    const view = planReActOf(events);
    expect(view).toMatchObject({ steps: ['Search for tee times', 'Book the best'], plans: 1 });
    expect(view.sections.map(({ kind }) => kind)).toEqual(['planning', 'action', 'reasoning']);
    expect(events.filter(({ type }) => type === 'thought')).toHaveLength(1);
  });

  test('another plan takes the place of the first', async () => {
    const { events } = await run([
      { text: plan, toolCalls: [{ name: 'tee_times' }] },
      { text: '/*REPLANNING*/\n1. Ask Ann', toolCalls: [{ name: 'tee_times' }] },
      { text: '/*FINAL_ANSWER*/ Ann knows.' },
    ]);
    expect(planReActOf(events)).toMatchObject({ steps: ['Ask Ann'], plans: 2 });
    expect(planReActOf(events, 'nowhere')).toEqual({ steps: [], plans: 0, sections: [] });
  });

  test('a model that stops behind its plan is asked to carry it out', async () => {
    const { model, result } = await run([{ text: plan }, { text: '/*FINAL_ANSWER*/ Booked.' }]);
    expect(result.output).toBe('Booked.');
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('Carry out the rest of your plan');
  });

  test('an answer without marks is an answer', async () => {
    const { result } = await run([{ text: 'Saturday is full.' }]);
    expect(result.output).toBe('Saturday is full.');
  });

  test('no text breaks the parser, and no character outside of marks is lost', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('/*PLANNING*/', '/* final answer */', '/*', '*/', '\n1. x', '/*ACTION*/'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const kept = parsePlanReAct(text)
          .map((section) => section.text)
          .join('');
        const marks = /\/\*\s*(?:PLANNING|REPLANNING|REASONING|ACTION|FINAL[_ ]ANSWER)\s*\*\//gi;
        const bare = (of: string) => of.replace(/\s+/g, '');
        expect(bare(kept)).toBe(bare(text.replace(marks, '')));
      }),
    );
  });

  test('refuses options that are not there', () => {
    expect(() => planReAct({ instructions: '' })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect(() => planReAct({ steps: 3 } as never)).toThrow('no option `steps`');
  });
});
