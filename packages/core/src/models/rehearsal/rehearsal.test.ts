import { describe, expect, test } from 'vitest';
import { converse } from '../../../test/models/rehearsal-toolbox.ts';
import { run } from '../../in-memory-app.ts';
import { agent } from '../../runnables/agent.ts';
import { readFile } from '../../tools/builtin/files/read-file.ts';
import { searchFiles } from '../../tools/builtin/files/search-files.ts';
import { tool } from '../../tools/tool.ts';
import { rehearsal } from './model.ts';
import { files, path } from './office-files.fixture.ts';

describe('tools of the agent, named with their arguments', () => {
  const remind = tool({
    name: 'remind',
    description: 'Reminds',
    schema: { type: 'object' },
    execute: ({ args }) => `Reminded: ${JSON.stringify(args)}`,
  });
  const clerk = agent({ name: 'clerk', model: rehearsal(), tools: [remind] });

  test.each([
    ['Use remind {"invoice":"A-1"}', 'Reminded: {"invoice":"A-1"}'],
    ['please call the tool remind with {"text":"Pay, and tell me {when}."}.', '{when}'],
    ['Use refund {"invoice":"A-1"}', 'I would need the tool refund'],
    ['Use remind {"invoice":', 'I am the rehearsal model'],
    ['Use remind ["A-1"]', 'I am the rehearsal model'],
  ])('%s', async (message, answer) => {
    expect((await run(clerk, message)).output).toContain(answer);
  });
});

describe('other requests', () => {
  test.each([
    ['What is 15% of 80?', '15 / 100 * 80', '12'],
    ['what is 12 * (3 + 4)', '12 * (3 + 4)', '84'],
    ['Calculate 1,200 divided by 7 plus 2', '1200 / 7 + 2', '173.428571'],
    ['What is the square root of 144?', 'sqrt(144)', '12'],
    ['2 to the power of 10', '2 ^ 10', '1024'],
    ['how much is 3 times 4.5', '3 * 4.5', '13.5'],
    ['7 x 6', '7 * 6', '42'],
  ])('%s', async (question, expression, result) => {
    const { answer, rounds } = await converse(question);
    expect(rounds).toEqual([[{ name: 'calculate', args: { expression } }]]);
    expect(answer).toContain(`${result}.`);
  });

  test('tells the time, here and elsewhere', async () => {
    expect((await converse('What time is it?')).answer).toContain(
      'It is Saturday, 21 November 2026 at 12:00:00',
    );
    expect((await converse('what is the time in Tokyo')).answer).toMatch(
      /at 21:00:00.* in Tokyo\./,
    );
    expect((await converse('What time is it in New York?')).answer).toMatch(
      /at 07:00:00.* in New York\./,
    );
    expect((await converse('What time is it in Atlantis?')).answer).toContain(
      'I do not know the time zone of Atlantis',
    );
  });

  test.each([
    ['List the files in notes', 'listFiles', { path: 'notes' }],
    ['list files', 'listFiles', {}],
    ['What files are in examples/workspace?', 'listFiles', { path: 'examples/workspace' }],
    ['Which csv files are there?', 'listFiles', { pattern: '**/*.csv' }],
    ['Read notes/todo.md', 'readFile', { path: 'notes/todo.md' }],
    ['Show me the contents of "notes/todo.md"', 'readFile', { path: 'notes/todo.md' }],
    ['open people.csv', 'readFile', { path: 'people.csv' }],
    ['Search for "call Ann" in notes', 'searchFiles', { query: 'call Ann', path: 'notes' }],
    ['search for TODO', 'searchFiles', { query: 'TODO' }],
    ['Which files mention plants?', 'searchFiles', { query: 'plants' }],
    ['Fetch https://example.com/a?b=1.', 'fetchUrl', { url: 'https://example.com/a?b=1' }],
  ])('%s', async (question, name, args) => {
    const { rounds } = await converse(question, files);
    expect(rounds).toEqual([[{ name, args }]]);
  });

  test('answers with what the files hold', async () => {
    expect((await converse('Read notes/todo.md', files)).answer).toContain('water the plants');
    expect((await converse('Search for "call Ann" in notes', files)).answer).toContain(
      'notes/todo.md:2: TODO: call Ann',
    );
    expect((await converse('List the files in notes', files)).answer).toContain(
      '- notes/todo.md (',
    );
    expect((await converse('Search for unicorns', files)).answer).toContain(
      '"unicorns" was not found here.',
    );
    expect((await converse('Read gone.md', files)).answer).toContain('I could not read gone.md: ');
    expect((await converse('what is 1 / 0 +', files)).answer).toContain('I could not calculate');
  });

  test('does several requests of one message, in one round where it can', async () => {
    const { answer, rounds } = await converse(
      'List the files in notes and tell me the time in Paris',
      files,
    );
    expect(rounds).toHaveLength(1);
    expect(rounds[0]?.map((call) => call.name)).toEqual(['listFiles', 'currentTime']);
    expect(answer).toMatch(/notes\/todo\.md[\s\S]*at 13:00:00.* in Paris/);
  });

  test('a later message may refer to the last number', async () => {
    const first = await converse(`Add up the unpaid invoices in ${path}`, files);
    const second = await converse('And what is 10% of that?', files, { before: first.prompt });
    expect(second.answer).toContain('10% of 750.25 is 75.025.');
    expect((await converse('What is 10% of that?', files)).answer).toContain(
      'There is no earlier number',
    );
  });
});

test('the same question asked again is looked up again', async () => {
  const ask = 'Add up the amounts in x.csv';
  const first = await converse(ask, { 'x.csv': 'amount\n1\n2\n' });
  const second = await converse(ask, { 'x.csv': 'amount\n1\n2\n40\n' }, { before: first.prompt });
  expect(first.answer).toContain('is 3.');
  expect(second.answer).toContain('is 43.');
});

describe('honesty', () => {
  test.each([
    'hello',
    'Write a poem about the sea',
    '',
    'Who are you?',
    'translate this into French',
  ])('"%s" is answered with what it can do', async (question) => {
    const { answer, rounds } = await converse(question, files);
    expect(rounds).toEqual([]);
    expect(answer).toContain('I am the rehearsal model: rules, not a language model');
    expect(answer).toContain('OPENAI_API_KEY');
  });

  test('names the tool that it would need', async () => {
    const { answer, rounds } = await converse('What is 15% of 80?', files, {
      offered: ['readFile'],
    });
    expect(rounds).toEqual([]);
    expect(answer).toContain('I would need the tool calculate');
  });

  test('what the runtime tells of other agents is not taken for the question', async () => {
    const told = '[planner] said: What is 2 + 2?';
    const first = await converse('What is 15% of 80?');
    const question = first.prompt.slice(0, 1);
    const { answer } = await converse(told, files, { before: question });
    expect(answer).toContain('15 / 100 * 80 = 12.');
  });

  test('uses tools within a name space, and results given as text', async () => {
    const { answer, rounds } = await converse(`Add up the unpaid invoices in ${path}`, files, {
      offered: ['office.queryCsv'],
      asText: true,
    });
    expect(rounds[0]?.[0]?.name).toBe('office.queryCsv');
    expect(answer).toContain('750.25');
  });
});

test('what supervision says to models about a result is not repeated to people', async () => {
  const tools = [
    searchFiles({ root: import.meta.dirname }),
    readFile({ root: import.meta.dirname }),
  ];
  const ask = async (question: string) =>
    (await run(agent({ name: 'clerk', model: rehearsal(), tools }), question)).output;
  expect(await ask('Read gone.md')).toMatch(
    /^I could not read gone\.md: There is no "gone\.md"\.\n\(rehearsal/,
  );
  expect(await ask('Search for "quite.unheard.of" in nothing-such')).not.toMatch(
    /Error type|Instead|closed|confidence/i,
  );
});
