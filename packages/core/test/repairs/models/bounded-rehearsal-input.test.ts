import { agent, rehearsal, run, tool } from 'adjutant';
import { expect, test } from 'vitest';
import { z } from 'zod';

const calculate = tool({
  name: 'calculate',
  description: 'Calculates.',
  schema: z.object({ expression: z.string() }),
  execute: ({ args: { expression } }) => ({ expression, result: expression.length }),
});

/** Returns the answer of the rehearsal model, and its calculations. */
async function asked(
  message: string,
): Promise<{ readonly answer: string; readonly expressions: readonly unknown[] }> {
  const result = await run(
    agent({ name: 'clerk', model: rehearsal(), tools: [calculate] }),
    message,
  );
  const expressions = result.session.events.flatMap((event) =>
    event.type === 'tool_call' ? [event.args] : [],
  );
  return { answer: String(result.output), expressions };
}

/** Prose without anything that a rule looks for. */
const prose = 'Also lorem ipsum dolor. '.repeat(100);

test(
  'A9: what stands behind the part of a message that the rehearsal model reads changes ' +
    'nothing, and it says so',
  async () => {
    const short = await asked(`Calculate 1 + 1. ${prose}`);
    const long = await asked(`Calculate 1 + 1. ${prose}\nCalculate 2 + 2`);
    expect(long).toEqual(short);
    expect(short.expressions).toEqual([{ expression: '1 + 1' }]);
    expect(short.answer).toContain('I read only the first 2000 characters of the message.');
  },
);

test(
  'A9: a clause longer than any that people write is not looked into, but said not to be ' +
    'understood',
  async () => {
    const { answer, expressions } = await asked(
      `Calculate 1 + 1.\nCalculate ${'1'.repeat(1_000)} + 1.`,
    );
    expect(expressions).toEqual([{ expression: '1 + 1' }]);
    expect(answer).toMatch(/I did not understand "Calculate 1{70}…"/);
  },
);
