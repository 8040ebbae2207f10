import { agent, openai, run, textProtocol, tool } from 'adjutant';
import { model, runTest, scriptedModel, type TestStep, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

const find = tool({
  name: 'findPage',
  description: 'Finds a page',
  schema: z.object({ words: z.string() }),
  execute: () => 'found',
});
const worker = (options: object = {}) =>
  agent({ name: 'worker', model: openai('gpt-5'), tools: [find], ...options });
const calls = (...names: readonly string[]): TestStep[] =>
  names.map((name) => model({ toolCalls: [{ name, args: { words: 'x' } }] }));

type Run = Awaited<ReturnType<typeof runTest>>;
const settled = ({ events }: Pick<Run, 'events'>) =>
  events.flatMap((event) => (event.type === 'tool_result' ? [event] : []));
const told = (run: Pick<Run, 'events'>) => settled(run).map(({ result }) => String(result.content));
const verdicts = (run: Pick<Run, 'events'>) =>
  explain(run.events, { components: ['loop_detector'] }).map(
    ({ decision, data }) => `${decision} ${data?.['detector']} ${data?.['count']}`,
  );

test('the list of tools is told once, and then the nearest name only', async () => {
  const run = await runTest(worker(), [
    user('Go'),
    ...calls('sendMail', 'find_pages', 'lookUp'),
    model('done'),
  ]);
  expect(told(run)).toEqual([
    'There is no tool named "sendMail". Available tools: findPage.',
    'There is no tool named "find_pages" either. Did you mean "findPage"?',
    'There is no tool named "lookUp" either.',
  ]);
});

test('names that change are warned of at the third, and closed at the fifth', async () => {
  const run = await runTest(worker(), [
    user('Go'),
    ...calls('a1', 'b2', 'c3', 'd4', 'e5', 'f6'),
    model('I cannot.'),
  ]);
  expect(run.result).toMatchObject({
    status: 'completed',
    stopReason: 'loop',
    output: 'I cannot.',
  });
  expect(verdicts(run)).toEqual([
    'warn unknown_tool 3',
    'warn unknown_tool 4',
    'block unknown_tool 5',
    'block unknown_tool 5',
  ]);
  expect(settled(run)[2]?.notes?.at(-1)).toBe(
    'This was the 3rd call in a row of a tool that does not exist. Use only tools of your list, ' +
      'or answer with what you have. The 5th such call will not be made.',
  );
  expect(told(run)[4]).toBe(
    'Not run: this would be the 5th call in a row of a tool that does not exist. Use only tools ' +
      'of your list, or answer and say what could not be found out.',
  );
});

test('a call that succeeds between them begins the count again', async () => {
  const run = await runTest(worker(), [
    user('Go'),
    ...calls('a1', 'b2', 'findPage', 'c3', 'd4'),
    model('done'),
  ]);
  expect(verdicts(run)).toEqual([]);
  expect(run.result.stopReason).toBeUndefined();
});

test('so does a message of the user', async () => {
  const run = await runTest(worker(), [
    user('Go'),
    ...calls('a1', 'b2'),
    model('Sorry.'),
    user('Again'),
    ...calls('c3', 'd4'),
    model('done'),
  ]);
  expect(verdicts(run)).toEqual([]);
});

test('the same invented name is closed after two calls, as its chain says', async () => {
  const run = await runTest(worker(), [
    user('Go'),
    ...calls('fetch', 'fetch', 'fetch', 'fetch'),
    model('done'),
  ]);
  expect(verdicts(run)).toEqual(['block exhausted 3', 'block exhausted 3']);
  expect(told(run)[2]).toBe(
    'Not run: there is no tool named "fetch", as you were told. Use only tools of your list, or ' +
      'answer and say what could not be found out.',
  );
});

test('onLoop: fail ends the run, thresholds are those of equal calls', async () => {
  const strict = worker({ supervision: { loops: { blockAt: 2, warnAt: 2, onLoop: 'fail' } } });
  const run = await runTest(strict, [user('Go'), ...calls('a1', 'b2', 'c3')]);
  expect(run.result).toMatchObject({ status: 'error', error: { code: 'loop_detected' } });
});

test('without loop detection every call is answered', async () => {
  const unwatched = worker({ supervision: { loops: false } });
  const names = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'];
  const run = await runTest(unwatched, [user('Go'), ...calls(...names), model('done')]);
  expect(told(run).filter((text) => text.startsWith('There is no tool'))).toHaveLength(6);
});

test('people read that there is no such tool, and not that a tool failed', async () => {
  const { session } = await runTest(worker(), [
    user('Go'),
    ...calls('a1', 'a1', 'a1', 'a1'),
    model('done'),
  ]);
  const [hint, report, block] = explain(session);
  expect(hint?.what).toBe('There is no tool a1, and worker was told what else to try.');
  expect(report?.what).toBe('There is no tool a1, and worker was told that this way is closed.');
  expect(block).toMatchObject({
    what: 'A call of the tool a1 by worker was not run, because calls like it had led nowhere.',
    why: expect.stringMatching(/^There is no tool a1, and it was called for the 3rd time\./),
  });
});

test('people read of actions that could not be read, and of no tool of that name', async () => {
  const unreadable = scriptedModel((_prompt, round) =>
    round < 6 ? { text: 'Action: calculate(2+2)' } : { text: 'Final Answer: Done.' },
  );
  const { session } = await run(worker({ model: textProtocol(unreadable) }), 'Go');
  const said = explain(session);
  const all = said.map(({ what, why }) => `${what} ${why}`).join('\n');
  expect(all).not.toContain('unreadable_action was called');
  expect(all).not.toMatch(/no (such )?tool/);
  expect(all).not.toMatch(/[Tt]he tool unreadable_action/);
  expect(said.map(({ what }) => what)).toEqual([
    'An action of worker could not be read, and worker was told what else to try.',
    'An action of worker could not be read, and worker was told what else to try.',
    'An action of worker could not be read, and worker was told that this way is closed.',
    'worker was warned that its actions cannot be read.',
    'An action of worker was refused, because it could not be read again.',
    'An action of worker was refused, because it could not be read again.',
    'worker may not call tools any more.',
    expect.any(String),
  ]);
  const warned = settled({ events: session.events })[2]?.notes?.at(-1);
  expect(warned).toBe(
    'This was the 3rd action that could not be read. Write it in the form that you were given, ' +
      'or give your final answer. The 5th such action will not be answered.',
  );
});
