import {
  advanceTime,
  approve,
  crash,
  edit,
  expectPrompt,
  input,
  model,
  result,
  runTest,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { clerk, gist } from './real-tools.ts';

describe('what cannot be a test is refused before anything runs', () => {
  const refused = (make: () => unknown): Promise<string> =>
    Promise.resolve()
      .then(make)
      .then(
        () => 'nothing',
        (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
      );

  test.each<[what: string, make: () => unknown, message: string]>([
    ['no runnable', () => runTest({} as never, []), 'its first argument must be an agent'],
    ['no list', () => runTest(clerk, 'steps' as never), 'the steps must be a list'],
    ['no step', () => runTest(clerk, [{ user: 'x' } as never]), 'step 1 is an object'],
    [
      'a misspelt option',
      () => runTest(clerk, [], { sesion: {} } as never),
      'did you mean `session`?',
    ],
    [
      'an option of the runtime that belongs to the test',
      () => runTest(clerk, [], { runtime: { store: {} } as never }),
      'without `store`',
    ],
    ['no store', () => runTest(clerk, [], { store: {} as never }), '`store` must be a store'],
    [
      'no clock',
      () => runTest(clerk, [], { clock: { now: () => 1 } as never }),
      '`clock` must be a clock',
    ],
    [
      'state that is no JSON',
      () => runTest(clerk, [], { state: { a: new Map() as never } }),
      '`state` must be JSON',
    ],
    [
      'a recording that is none',
      () => runTest(clerk, [], { from: { hello: 1 } as never }),
      '`from` must be a recorded session: what session.toJSON() gave',
    ],
    [
      'data that nobody takes',
      () => runTest(clerk, [user('Hello')], { data: 1 }),
      'give `data` to that step',
    ],
    ['no patience', () => runTest(clerk, [], { patienceMs: 0 }), '`patienceMs` must be'],
    ['no text', () => user(5 as never), 'it takes a text'],
    [
      'a misspelt part of an answer',
      () => model({ tooCalls: [] } as never),
      'did you mean `toolCalls`?',
    ],
    ['a call without a name', () => model({ toolCalls: [{ args: {} } as never] }), 'has no `name`'],
    ['a misspelt agent', () => model('x', { agnet: 'a' } as never), 'did you mean `agent`?'],
    ['input for nobody', () => input({}), 'it names no tool'],
    ['input that is no JSON', () => input({ ask: (() => 1) as never }), 'must be JSON'],
    ['a result without a value', () => result({ ask: undefined as never }), 'give null'],
    [
      'edits of several calls',
      () => edit({ a: {}, b: {} }),
      '{ tool: args }; make a step for each call',
    ],
    ['a misspelt choice', () => approve({ tol: 'pay' } as never), 'did you mean `tool`?'],
    ['two places of a crash', () => crash({ before: 'a', after: 'b' }), 'not both'],
    ['time that goes back', () => advanceTime(-1), 'must be a number from 0'],
    ['no assertion', () => expectPrompt('x' as never), 'it takes a function'],
  ])('%s', async (_what, make, message) => {
    const said = await refused(make);
    expect(said).toContain('invalid_test: ');
    expect(said).toContain(message);
  });

  test('a condition that expectPrompt only gives back', async () => {
    const wrong = ((prompt: readonly unknown[]) => prompt.length > 99) as never;
    expect(await gist([user('Hello'), expectPrompt(wrong), model('Hi')])).toContain(
      'Step 2 of 3, expectPrompt(…), failed: its function gave false',
    );
  });

  test('a response that a function makes is checked when it is made', async () => {
    expect(await gist([user('Hello'), model(() => ({ txt: 'x' }) as never)])).toContain(
      'did you mean `text`?',
    );
  });
});
