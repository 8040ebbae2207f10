import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, run, textProtocol, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** An answer as a small local model wrote it, cut where its tokens ended. */
interface RecordedAnswer {
  readonly model: string;
  readonly settings: string;
  readonly question: string;
  readonly answer: string;
  /** Calls that are made of it, and the number of actions that cannot be read. */
  readonly calls: readonly unknown[];
  readonly unreadable: number;
  /** True when it ends the run: it has no action. */
  readonly isFinal: boolean;
}

const { answers }: { readonly answers: readonly RecordedAnswer[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-answers.json'), 'utf8'),
);

const tools = [
  tool({
    name: 'calculate',
    description: 'Calculates',
    schema: z.object({ expression: z.string() }),
    execute: ({ args }) => `result of ${args.expression}`,
  }),
  tool({
    name: 'get_weather',
    description: 'Weather of a city',
    schema: z.object({ city: z.string(), unit: z.enum(['celsius', 'kelvin']).optional() }),
    execute: ({ args }) => `sunny in ${args.city}`,
  }),
];

/** Runs an agent whose model gives an answer, and a final one to whatever it is told then. */
async function play({ question, answer }: RecordedAnswer) {
  const model = scriptedModel([{ text: answer }, { text: 'Final Answer: Done.' }]);
  const { output, session } = await run(
    agent({ name: 'worker', model: textProtocol(model), tools }),
    question,
  );
  const made = session.events.flatMap((event) =>
    event.type === 'tool_call' ? [{ name: event.name, args: event.args }] : [],
  );
  const told = [...(model.calls[1]?.prompt.at(-1)?.content ?? [])]
    .map((part) => (typeof part === 'object' && 'text' in part ? part.text : ''))
    .join('\n');
  return { output, made, told };
}

test.each(answers)('$model ($settings): $answer', async (recorded) => {
  const { output, made, told } = await play(recorded);
  const isReadable = ({ name }: { name: string }) => name !== 'unreadable_action';
  expect(made.filter(isReadable)).toEqual(recorded.calls);
  expect(made.length - made.filter(isReadable).length).toBe(recorded.unreadable);
  expect(output === 'Done.').toBe(!recorded.isFinal);
  // The model is never told of a tool that there is not, and would then call.
  expect(told).not.toContain('unreadable_action');
});

test('actions that a model wrote across its own invented question are told apart', async () => {
  const recorded = answers.find(({ unreadable }) => unreadable === 2);
  if (recorded === undefined) throw new Error('There is no such answer.');
  const { told } = await play(recorded);
  const unread = (problem: string) =>
    'Observation: Your last action could not be read, so nothing was run.\n' +
    `What is wrong: ${problem}\n` +
    'Write it again in one line, in exactly this form, with your own values:\n' +
    'Action: {"tool":"calculate","arguments":{"expression":"value of expression"}}\n' +
    'Tools that you can call: calculate, get_weather.\n';
  expect(told).toBe(
    `${unread('a comma or "}" was expected at character 117: Question: How many faces does …')}\n` +
      unread('a string has no closing quote; it begins at character 74: "The answer is') +
      'The goal is still: Call the tool calculate with 17 * 23.',
  );
});
