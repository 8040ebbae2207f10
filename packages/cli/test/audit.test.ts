import { join } from 'node:path';
import { agent, runtime, step, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Bench, bench, jsonLines } from './run-cli.ts';

/**
 * A store with a run that used up its rounds, whose tool failed, and one that failed as a whole.
 */
async function office({ folder }: Bench): Promise<readonly string[]> {
  const store = join(folder, 'office.db');
  const app = runtime({ app: 'office', store: sqlite(store), recover: 'manual' });
  const broken = tool({
    name: 'broken',
    description: 'Never works',
    schema: z.object({}),
    execute: () => Promise.reject(new Error('no luck\u001b[2J')),
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'broken', args: {} }] },
    { text: 'This is all.' },
  ]);
  const clerk = agent({ name: 'clerk', model, tools: [broken], limits: { rounds: 1 } });
  await app.run(clerk, {
    session: 'monday',
    input: 'Go',
    runId: 'first',
    permissions: ['fs:read'],
  });
  await app.run(step({ name: 'bad', execute: (ctx) => ctx.fail('out of paper') }), {
    session: 'monday',
    runId: 'second',
  });
  await app.close();
  return ['--store', store, '--app', 'office'];
}

describe('what was decided', () => {
  test('is told to users, developers and auditors, and drawn, of one run', async () => {
    const place = bench();
    const where = await office(place);
    const explain = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await place.run(['explain', 'monday', ...args, ...where]);
      expect(stdout).not.toContain('\u001b');
      return code === 0 ? stdout : stderr;
    };
    expect(await explain('--for', 'user')).toBe(
      'bad could not finish: “out of paper”. No tool gave anything for it.\n',
    );
    expect(await explain('--for', 'user', '--run', 'first')).toMatch(/^clerk came to this answer/);
    const developer = await explain('--for', 'developer', '--run', 'first');
    expect(JSON.parse(developer)).toMatchObject({
      conclusion: 'This is all.',
      limitations: [{ what: expect.stringContaining('The tool broken failed') }],
    });
    const told = jsonLines(await explain('--for', 'user', '--json'));
    expect(told).toEqual([{ explanation: expect.stringContaining('out of paper') }]);
    const trace = jsonLines(await explain('--for', 'auditor', '--run', 'first', '--json'));
    const audit = await explain('--for', 'auditor', '--run', 'first');
    for (const { seq, what } of trace) expect(audit).toContain(`  ${seq}. ${what}`.slice(0, 100));
    expect(await explain('--graph', '--run', 'first')).toMatch(/^flowchart TB\n {2}n\d+\[/);
    const [graph] = jsonLines(await explain('--graph', '--run', 'first', '--json'));
    expect(graph).toMatchObject({
      run: 'first',
      nodes: expect.any(Array),
      edges: expect.any(Array),
    });
    expect(await explain('--for', 'user', '--run', 'third')).toMatch(/No run "third" has begun/);
    expect(await explain('--run', 'first')).toMatch(/--run belongs to --for and --graph/);
    expect(await explain('--for', 'nobody')).toMatch(/user, developer, auditor/);
    expect(await explain('--for', 'user', '--graph')).toMatch(/cannot be used with/);
  });

  test('is told by explain, with reasons and alternatives, and as JSON', async () => {
    const place = bench();
    const where = await office(place);
    const { code, stdout, stderr } = await place.run(['explain', 'monday', ...where]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^monday · /);
    expect(stdout).toContain('\nRun first\n');
    expect(stdout).toMatch(
      /\n {2}\d+\. Permissions were granted: fs:read\. \[permissions: grant\]\n {5}Why: fs:read granted to the run "first"\.\n/,
    );
    expect(stdout).toMatch(
      /clerk has used up a limit\. \[limits: exhausted\]\n {5}Why: Used up: 1 of 1 \(round_limit\)/,
    );
    expect(stdout).toContain('     Also considered: fail; ask\n');
    const decisions = jsonLines(
      (await place.run(['explain', 'monday', '--json', ...where])).stdout,
    );
    expect(decisions[0]).toMatchObject({
      session: 'monday',
      run: 'first',
      component: 'permissions',
      what: 'Permissions were granted: fs:read.',
    });
    const [{ seq }] = decisions as [{ seq: number }];
    expect(
      jsonLines(
        (await place.run(['explain', 'monday', '--json', '--at', String(seq), ...where])).stdout,
      ),
    ).toHaveLength(1);
    // The newest session is meant where none is named.
    expect((await place.run(['explain', ...where])).stdout).toBe(stdout);
  });

  test('and what failed is listed by show', async () => {
    const place = bench();
    const where = await office(place);
    const decisions = await place.run(['show', 'monday', '--decisions', ...where]);
    expect(decisions.stdout).toMatch(
      /^ +\d+ {2}\S+ \S+ {2}clerk has used up a limit\. limits: exhausted$/m,
    );
    expect(
      jsonLines((await place.run(['show', 'monday', '--decisions', '--json', ...where])).stdout),
    ).toEqual(jsonLines((await place.run(['explain', 'monday', '--json', ...where])).stdout));
    const failed = await place.run(['show', 'monday', '--failures', ...where]);
    expect(failed.stdout).toMatch(/tool failed {2}broken: no luck/);
    expect(failed.stdout).toMatch(/run failed {2}bad: out of paper \(step_failed\)/);
    expect(failed.stdout).not.toContain('\u001b[2J');
    expect(
      jsonLines((await place.run(['show', 'monday', '--failures', '--json', ...where])).stdout),
    ).toMatchObject([
      { kind: 'tool', name: 'broken', run: 'first' },
      { kind: 'run', name: 'bad', run: 'second', message: 'out of paper' },
    ]);
  });

  test('is nothing in a session where all went well', async () => {
    const { run } = bench();
    await run(['--session', 'fine', 'What is 6 * 7?']);
    expect((await run(['explain', 'fine'])).stdout).toMatch(
      /\nNothing was decided that needs an explanation\.\n$/,
    );
    expect((await run(['show', 'fine', '--failures'])).stdout).toMatch(/\nNothing failed\.\n$/);
  });

  test.for<[string[], string]>([
    [['explain'], 'There are no sessions yet.'],
    [['explain', 'nobody'], 'There are no sessions yet.'],
    [['explain', 'x', '--at', 'end'], 'It must be a whole number.'],
    [['show', '--decisions', '--tree'], "cannot be used with option '--"],
    [['show', '--failures', '--decisions'], "cannot be used with option '--"],
  ])('%j is refused', async ([args, message]) => {
    const { run } = bench();
    expect(await run(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
