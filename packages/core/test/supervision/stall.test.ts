import { agent, openai, type SupervisionOptions, ToolFailure, tool } from 'adjutant';
import { model, runTest, type TestStep, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Execute = (args: { id: number }) => unknown;
const lookUp = (execute: Execute, options: object = { readOnly: true }) =>
  tool({
    name: 'lookUp',
    description: 'Looks something up',
    schema: z.object({ id: z.number() }),
    ...options,
    execute: ({ args }) => execute(args),
  });
const note = tool({
  name: 'note',
  description: 'Notes something down',
  schema: z.object({ text: z.string() }),
  execute: () => 'ok',
});
const round = (id: number, name = 'lookUp'): TestStep =>
  model({ toolCalls: [{ name, args: name === 'note' ? { text: `${id}` } : { id } }] });
const rounds = (count: number, from = 0): TestStep[] =>
  Array.from({ length: count }, (_, i) => round(from + i));

const loops = { stallWarnAt: 3, stallBlockAt: 5 };
async function play(execute: Execute, steps: readonly TestStep[], options: object = {}) {
  const { of = { readOnly: true }, supervision = { loops } } = options as {
    of?: object;
    supervision?: SupervisionOptions;
  };
  const worker = agent({
    name: 'worker',
    model: openai('gpt-5'),
    tools: [lookUp(execute, of), note],
    supervision,
  });
  const run = await runTest(worker, [user('Go'), ...steps, model('I found nothing.')]);
  const said = explain(run.events, { components: ['loop_detector'] });
  return {
    ...run,
    said,
    verdicts: said.map(
      ({ decision, data }) => `${decision} ${data?.['detector']} ${data?.['count']}`,
    ),
  };
}
const stalled = ['warn stall 3', 'warn stall 4', 'block stall 5', 'block stall 5'];

describe('rounds that bring nothing new are warned of, and then closed', () => {
  test('the same error with other arguments', async () => {
    const run = await play(() => {
      throw new ToolFailure('Not there', { errorType: 'http_404' });
    }, rounds(7));
    // The first failure is news; it takes five more for the fifth round without any.
    expect(run.verdicts).toEqual(stalled);
    expect(run.result).toMatchObject({
      status: 'completed',
      stopReason: 'loop',
      output: 'I found nothing.',
    });
    expect(run.said[0]?.why).toBe(
      'The last 3 rounds brought nothing new: every call ended as one before it had. The model ' +
        'is warned from the 3rd such round, and in the 5th calls of the same tools are not made.',
    );
    expect(run.said.map(({ what }) => what).slice(1, 3)).toEqual([
      'worker was warned that its last rounds brought nothing new.',
      'A call of the tool lookUp by worker was not run, because the last rounds had brought ' +
        'nothing new.',
    ]);
  });

  test('an error that names its arguments', async () => {
    const run = await play(({ id }) => {
      throw new Error(`User ${id} not found`);
    }, rounds(7));
    expect(run.verdicts).toEqual(stalled);
  });

  test('the same result of a tool that only reads', async () => {
    const run = await play(() => 'All of it is taken.', rounds(7));
    expect(run.verdicts).toEqual(stalled);
    expect(run.result.stopReason).toBe('loop');
  });

  test('what the model reads', async () => {
    const run = await play(() => 'All of it is taken.', rounds(7));
    const results = run.events.flatMap((event) => (event.type === 'tool_result' ? [event] : []));
    expect(results[3]?.notes?.at(-1)).toBe(
      'The last 3 rounds brought nothing new. More of the same will not help: take another way, ' +
        'or answer with what you have. In the 5th such round these tools are not run.',
    );
    expect(results[5]?.result).toMatchObject({
      status: 'error_blocked',
      errorType: 'loop_blocked',
      content:
        'Not run: the last 4 rounds brought nothing new. Take another way without lookUp, or ' +
        'answer and say what could not be found out.',
    });
  });

  test('a result that differs in its time only, if it is short', async () => {
    const at = (id: number) => `at 2026-01-0${id + 1}T10:00:00Z: nothing`;
    const short = await play(({ id }) => at(id), rounds(7));
    expect(short.verdicts).toEqual(stalled);
    const long = await play(({ id }) => `${at(id)} ${'x '.repeat(600)}`, rounds(7));
    expect(long.verdicts).toEqual([]);
  });

  test('several calls in a round count once', async () => {
    const three = (from: number) =>
      model({ toolCalls: [0, 1, 2].map((i) => ({ name: 'lookUp', args: { id: from + i } })) });
    const run = await play(
      () => 'Taken.',
      Array.from({ length: 3 }, (_, i) => three(3 * i)),
    );
    expect(run.verdicts).toEqual([]);
  });
});

describe('what counts as progress', () => {
  test('a result that is new', async () => {
    const run = await play(({ id }) => (id === 3 ? 'This one is free.' : 'Taken.'), rounds(6));
    expect(run.verdicts).toEqual([]);
  });

  test('another kind of failure', async () => {
    const run = await play(({ id }) => {
      throw new ToolFailure('No', { errorType: id === 3 ? 'sold_out' : 'http_404' });
    }, rounds(6));
    expect(run.verdicts).toEqual([]);
  });

  test('another error of a tool that just throws, as of code that gets better', async () => {
    const run = await play(({ id }) => {
      throw new Error(`${'abcdefgh'[id]} is not defined`);
    }, rounds(7));
    expect(run.verdicts).toEqual([]);
  });

  test('a success of a tool that may change something', async () => {
    const run = await play(() => 'ok', rounds(8), { of: {} });
    expect(run.verdicts).toEqual([]);
  });

  test('one such call among calls that lead nowhere', async () => {
    const steps = [...rounds(3), round(9, 'note'), ...rounds(2, 3)];
    expect((await play(() => 'Taken.', steps)).verdicts).toEqual([]);
  });

  test('a message of the user', async () => {
    const steps = [...rounds(3), model('Nothing yet.'), user('Go on'), ...rounds(2, 3)];
    expect((await play(() => 'Taken.', steps)).verdicts).toEqual([]);
  });
});

test('another tool may still be called, and begins the count again when it succeeds', async () => {
  const run = await play(() => 'Taken.', [...rounds(6), round(1, 'note'), ...rounds(2, 6)]);
  expect(run.verdicts).toEqual(['warn stall 3', 'warn stall 4', 'block stall 5']);
  expect(run.result.stopReason).toBeUndefined();
});

test('by default it is the sixth round, and the twelfth', async () => {
  const run = await play(() => 'Taken.', rounds(14), { supervision: {} });
  expect(run.verdicts).toEqual([
    ...[6, 7, 8, 9, 10, 11].map((count) => `warn stall ${count}`),
    'block stall 12',
    'block stall 12',
  ]);
});

test('a warning that comes after the block is refused', () => {
  const of = (given: object) => () =>
    agent({ name: 'a', model: openai('gpt-5'), supervision: { loops: given } });
  expect(of({ stallWarnAt: 9, stallBlockAt: 4 })).toThrow(
    '`stallWarnAt` is at most its `stallBlockAt` (4), not 9',
  );
  expect(of({ stallBlockAt: 0 })).toThrow(/stallBlockAt/);
  expect(of({ stallAt: 3 })).toThrow(/stallAt/);
});
