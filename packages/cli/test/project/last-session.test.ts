import { describe, expect, test } from 'vitest';
import { startChatServer } from '../chat-server.ts';
import { bench, jsonLines } from '../run-cli.ts';

/** Two sessions, the second of which was used last. */
async function twoSessions() {
  const place = bench();
  await place.run(['run', 'What is 2 + 2?', '--session', 'sum-one']);
  await place.run(['run', 'What is 3 + 3?', '--session', 'sum-two']);
  return place;
}

describe('without the name of a session', () => {
  test.each([
    [['show'], 'sum-two · '],
    [['explain'], 'sum-two · '],
    [['export'], '"sum-two"'],
    [['replay', '--model', 'rehearsal'], 'sum-two'],
  ])('%j means the last one', async (args, text) => {
    const { run } = await twoSessions();
    const { code, stdout, stderr } = await run(args);
    expect({ code, stderr: stderr.includes('adjutant: There') }).toEqual({
      code: 0,
      stderr: false,
    });
    expect(stdout).toContain(text);
    expect(stdout).not.toContain('sum-one');
  });

  test('resume goes on with the last one', async () => {
    const place = bench();
    const model = await startChatServer(() => ({ text: 'Hello.' }));
    const options = ['--model', model.modelName];
    await place.run(['run', 'Hello', '--session', 'sum-one', ...options]);
    const { code, stderr } = await place.run(['resume', ...options]);
    expect(code).toBe(2);
    expect(stderr).toContain('Session "sum-one" has no run to continue.');
  });

  test('diff compares with the last one', async () => {
    const { run } = await twoSessions();
    const { code, stdout } = await run(['diff', 'sum-one', '--json']);
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([{ type: 'diff', a: 'sum-one', b: 'last' }]);
  });

  test.each([['resume'], ['export'], ['replay'], ['show'], ['explain']])(
    '%s is refused where there is none',
    async (command) => {
      const { run } = bench();
      const { code, stderr } = await run([command]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^adjutant: There are no sessions yet\.\n$/);
    },
  );
});

describe('--session', () => {
  test.each([
    [['show', '--session', 'sum-one'], 'sum-one · '],
    [['explain', '--session', 'sum-one'], 'sum-one · '],
    [['export', '--session', 'sum-one'], '"sum-one"'],
  ])('names the session of %j', async (args, text) => {
    const { run } = await twoSessions();
    expect(await run(args)).toMatchObject({ code: 0, stdout: expect.stringContaining(text) });
  });

  test('and an argument are one too many', async () => {
    const { run } = await twoSessions();
    expect(await run(['show', 'sum-one', '--session', 'sum-two'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is named twice, as sum-one and by --session'),
    });
  });

  test('names none that there is not', async () => {
    const { run } = await twoSessions();
    expect(await run(['export', '--session', 'third'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no session "third"'),
    });
  });
});
