import { agent, run, textProtocol, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

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

const goal = '\nThe goal is still: What is 2+2, and how is the weather in Paris?';
const form = (call: string) =>
  'Write it again in one line, in exactly this form, with your own values:\n' +
  `Action: ${call}\n` +
  'Tools that you can call: calculate, get_weather.';
const calculate = form('{"tool":"calculate","arguments":{"expression":"value of expression"}}');
const weather = form('{"tool":"get_weather","arguments":{"city":"value of city"}}');
const unread = (problem: string) =>
  'Observation: Your last action could not be read, so nothing was run.\n' +
  `What is wrong: ${problem}\n`;

/**
 * Answers after the manner of small models, and what comes of each: the calls that are made and
 * what the model reads next, in full.
 */
const answers: readonly {
  readonly like: string;
  readonly answer: string;
  readonly calls: readonly unknown[];
  readonly told: string;
}[] = [
  {
    like: 'qwen2.5-0.5b: the markup that it was trained with, and one bracket too many',
    answer:
      'To find this, I will use the calculate tool.\n<tool_call>\n' +
      '{"name": "calculate", "arguments": {"expression": "2+2"}}}\n</tool_call>',
    calls: [{ name: 'calculate', args: { expression: '2+2' } }],
    told: 'Observation (calculate): result of 2+2',
  },
  {
    like: 'qwen2.5-0.5b: a string without its end',
    answer: '<tool_call>\n{"name": "calculate", "arguments": {"expression": "2+2}}\n</tool_call>',
    calls: [],
    told:
      unread('a string has no closing quote; it begins at character 63: "2+2}} </tool_call>') +
      calculate,
  },
  {
    like: 'llama-3.2-1b: parameters, and words around them',
    answer:
      'I will check the weather for you.\n\n' +
      '{"name": "get_weather", "parameters": {"city": "Paris", "unit": "celsius"}}',
    calls: [{ name: 'get_weather', args: { city: 'Paris', unit: 'celsius' } }],
    told: 'Observation (get_weather): sunny in Paris',
  },
  {
    like: 'llama-3.2-1b: a missing argument',
    answer: '<function=get_weather>{"unit": "celsius"}</function>',
    calls: [{ name: 'get_weather', args: { unit: 'celsius' } }],
    told:
      'Observation (get_weather): [error_permanent] The arguments of "get_weather" do not fit. ' +
      'Correct these and ' +
      'call it again:\n- $.city: came nothing, expected a string\nError type: ' +
      'validation_error\nThe arguments do not fit the ' +
      'schema of the tool. Correct what is named above before you call it again.',
  },
  {
    like: 'smollm2: words instead of a call',
    answer:
      'Thought: I need the weather.\nAction: I will get the weather of Paris with get_weather.',
    calls: [],
    told: unread('it is neither JSON nor the name of a tool with its arguments') + weather,
  },
  {
    like: 'gemma-2-2b: Python in a fence',
    answer: '```tool_code\nprint(get_weather(city="Paris"))\n```',
    calls: [{ name: 'get_weather', args: { city: 'Paris' } }],
    told: 'Observation (get_weather): sunny in Paris',
  },
  {
    like: 'phi-3-mini: literals of Python, and an invented result',
    answer:
      "Thought: easy\nAction: {'tool': 'calculate', 'arguments': {'expression': '2+2',}}\n" +
      'Observation: 4\nFinal Answer: It is 4.',
    calls: [{ name: 'calculate', args: { expression: '2+2' } }],
    told: 'Observation (calculate): result of 2+2',
  },
  {
    like: 'tinyllama: an expression where a string is needed',
    answer: 'Action: calculate(2+2)',
    calls: [],
    told: unread('a value was expected at character 11: 2+2)') + calculate,
  },
  {
    like: 'deepseek-r1-distill-1.5b: thoughts that hold a call, then the call',
    answer:
      '<think>\nMaybe Action: {"tool": "calculate"}? No, the weather first.\n</think>\n\n' +
      'Action: get_weather\nAction Input: Paris',
    calls: [{ name: 'get_weather', args: { city: 'Paris' } }],
    told: 'Observation (get_weather): sunny in Paris',
  },
  {
    like: 'mistral-7b: brackets that do not match, and a quote within a string',
    answer: 'Action: {"tool": "get_weather", "arguments": {"city": "the "city" of Paris"]}',
    calls: [],
    told:
      unread(
        'a comma or "}" was expected (a quote within a string is written as \\") at character ' +
          '53: city" of Paris"]}',
      ) + weather,
  },
];

test.each(answers)('$like', async ({ answer, calls, told }) => {
  const model = scriptedModel([{ text: answer }, { text: 'Final Answer: Done.' }]);
  const worker = agent({ name: 'worker', model: textProtocol(model), tools });
  const result = await run(worker, 'What is 2+2, and how is the weather in Paris?');
  expect(result).toMatchObject({ status: 'completed', output: 'Done.' });
  const made = result.session.events.flatMap((event) =>
    event.type === 'tool_call' && event.name !== 'unreadable_action'
      ? [{ name: event.name, args: event.args }]
      : [],
  );
  expect(made).toEqual(calls);
  const content = model.calls[1]?.prompt.at(-1)?.content ?? [];
  expect(
    [...content]
      .map((part) => (typeof part === 'object' && 'text' in part ? part.text : ''))
      .join('\n'),
  ).toBe(told + goal);
});

test('people read of an unreadable action, and not of a tool that does not exist', async () => {
  const model = scriptedModel([
    { text: 'Action: calculate(2+2)' },
    { text: 'Final Answer: Done.' },
  ]);
  const { session } = await run(agent({ name: 'worker', model: textProtocol(model), tools }), 'Go');
  const [settled] = session.events.filter((event) => event.type === 'tool_result');
  expect(settled?.result).toMatchObject({
    status: 'error_permanent',
    errorType: 'unreadable_action',
    content:
      'The answer could not be read as an action: a value was expected at character 11: 2+2).',
  });
});
