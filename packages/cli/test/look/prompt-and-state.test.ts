/** `adjutant prompt` and `adjutant state`. */
import { describe, expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

async function withSession(): Promise<ReturnType<typeof bench>['run']> {
  const { run } = bench();
  await run(['--session', 'first', 'What is 12 * 12?']);
  return run;
}

describe('prompt', () => {
  test('is what show --prompt shows, and with --diff what changed since the call before', async () => {
    const run = await withSession();
    const exact = await run(['prompt', '2', 'first']);
    expect(exact).toMatchObject({ code: 0, stderr: '' });
    expect(exact.stdout).toBe((await run(['show', 'first', '--prompt', '2'])).stdout);
    const [call] = jsonLines((await run(['prompt', '2', '--json'])).stdout) as [
      { prompt: unknown },
    ];
    expect(call.prompt).toEqual(JSON.parse(exact.stdout).prompt);
    const { stdout } = await run(['prompt', '2', '--diff']);
    expect(stdout).toMatch(/^#\d+ \S+ · round 2 · compared with #\d+\n/);
    expect(stdout).toMatch(/\n\+ tool calculate {2}.*"result":144/);
    expect(stdout).not.toContain('user');
    const [changes] = jsonLines((await run(['prompt', '2', '--diff', '--json'])).stdout);
    expect(changes).toMatchObject({ removed: [] });
    expect(JSON.stringify(changes)).toContain('tool calculate');
  });

  test('has sections with their tokens and how they changed', async () => {
    const run = await withSession();
    const { code, stdout } = await run(['prompt', '2', '--sections']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^#\d+ \S+ · round 2 · \S+ tokens · compared with #\d+\n/);
    expect(stdout).toMatch(/\nTools +\S+ +\d+ % {2}same\n/);
    expect(stdout).toMatch(/\nHistory +\S+ +\d+ % {2}new \+\S+\n/);
    const [prompt] = jsonLines((await run(['prompt', '2', '--sections', '--json'])).stdout);
    expect(prompt).toMatchObject({ round: 2, sections: expect.any(Array) });
    expect((await run(['prompt', '1', '--sections'])).stdout).not.toContain('compared');
  });

  test('that is not there is refused', async () => {
    const run = await withSession();
    const refused = [
      [['prompt', '9'], 'There is no model call 9: there are 2 model calls.'],
      [['prompt', '9', '--diff'], 'There is no model call 9: there are 2 model calls.'],
      [['prompt', '1', '--diff'], 'Model call 1 is the first one of assistant.'],
      [['prompt', '9', '--sections'], 'There is no model call 9: there are 2 model calls.'],
      [['prompt', '1', '--sections', '--diff'], 'cannot be used with'],
      [['prompt', '0'], 'number'],
      [['prompt'], "missing required argument 'number'"],
    ] as const;
    for (const [args, why] of refused) {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(why);
    }
  });
});

describe('state', () => {
  test('is that after an event, with what was used and done up to there', async () => {
    const run = await withSession();
    const now = await run(['state', 'first']);
    expect(now).toMatchObject({ code: 0, stderr: '' });
    expect(now.stdout).toMatch(/^first · completed · \d+ events/);
    expect(now.stdout).toMatch(/\nsession +\S/);
    expect(now.stdout).toMatch(/\nwaits +nothing\n/);
    expect(now.stdout).toMatch(/\nused +\$\S+ · 2 rounds\n/);
    expect(now.stdout).toMatch(/\ncalls +1 calculate\n/);
    const before = await run(['state', 'first', '--at', '1']);
    expect(before.stdout).toMatch(/\ncalls +nothing\n/);
    const [snapshot] = jsonLines((await run(['state', 'first', '--at', '1', '--json'])).stdout);
    expect(snapshot).toMatchObject({ seq: 1, sessionState: expect.anything() });
  });

  test('after an event that is not there is refused', async () => {
    const run = await withSession();
    const { code, stderr } = await run(['state', 'first', '--at', '400']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--at 400: session "first" has only \d+ events\./);
  });
});
