import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EvalReport } from 'adjutant/eval';
import { describe, expect, test } from 'vitest';
import { type ChatServer, startChatServer } from './chat-server.ts';
import { type Bench, bench, fromSources, jsonLines } from './run-cli.ts';

const modules = fileURLToPath(new URL('fixtures/eval/', import.meta.url));
const capitals = join(modules, 'capitals.eval.ts');
const dataset = join(modules, 'capitals.json');
const config = join(modules, 'adjutant.config.ts');
const answers: Readonly<Record<string, string>> = {
  France: 'Paris',
  Peru: 'Lima',
  Kenya: 'Nairobi',
  Brazil: 'Brasília',
};

/** Knows all capitals, but who answers at once takes Rio for that of Brazil. */
function geographer(): Promise<ChatServer> {
  return startChatServer(({ messages }) => {
    const text = JSON.stringify(messages);
    const country = Object.keys(answers).find((name) => text.includes(name)) ?? '';
    const isWrong = country === 'Brazil' && text.includes('Answer at once');
    return { text: `The capital of ${country} is ${isWrong ? 'Rio' : answers[country]}.` };
  });
}

async function place(): Promise<
  Bench & { readonly server: ChatServer; readonly env: Record<string, string> }
> {
  const server = await geographer();
  const env = { EVAL_MODEL: server.modelName, OPENAI_COMPATIBLE_API_KEY: 'none' };
  return { ...bench(), server, env };
}

function wordsOf(command: string): string[] {
  return command.split(' ').slice(1);
}

function reportIn(stdout: string): EvalReport {
  const last = jsonLines(stdout).findLast(({ type }) => type === 'report');
  return last?.['report'] as EvalReport;
}

describe('a module', () => {
  test(
    'is run with its variants: a table, the comparison, what failed and why, and a command ' +
      'that shows it',
    async () => {
      const { run, env } = await place();
      const { code, stdout, stderr } = await run(['eval', capitals], { env });
      expect(code).toBe(1);
      expect(stdout).toMatch(/^Capitals 8 trials in .*, run eval-/);
      expect(stdout).toMatch(/careful +4 +4 +4 +100% \(/);
      expect(stdout).toMatch(/hasty +4 +4 +3 +75% \(/);
      expect(stdout).toContain('hasty against careful: -25 points of pass rate');
      expect(stdout).toContain('0 cases improved, 1 regressed');
      expect(stdout).toMatch(
        /✗ brazil with hasty 0 of 1 trial passed\n {4}response_match: .*Brasília/,
      );
      expect(stdout).toContain(
        'Not passed: at least 90% of the trials had to pass. hasty has 75%.',
      );
      expect(stderr).toMatch(
        /adjutant: Capitals, run eval-\S+: 4 cases × 1 trial × 2 variants = 8 trials\n/,
      );
      expect(stderr).toContain('8 of 8 trials, 7 passed');

      const command = /^ {4}(adjutant show .*)$/m.exec(stdout)?.[1] ?? '';
      const shown = await run(wordsOf(command));
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toContain('hasty');
    },
  );

  test('passes by the threshold of the command line', async () => {
    const { run, env } = await place();
    const { code, stdout, stderr } = await run(
      ['eval', capitals, '--threshold', '0.75', '--quiet'],
      { env },
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Passed: at least 75% of the trials had to pass.\n',
      stderr: '',
    });
  });

  test('with --json every step and the report are lines', async () => {
    const { run, env } = await place();
    const { code, stdout, stderr } = await run(
      ['eval', capitals, '--json', '--trials', '2', '--concurrency', '3', '--run', 'monday'],
      { env },
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const lines = jsonLines(stdout);
    expect(lines[0]).toMatchObject({
      type: 'start',
      name: 'Capitals',
      runId: 'monday',
      total: 16,
      trials: 2,
    });
    expect(lines.filter(({ type }) => type === 'trial_end')).toHaveLength(16);
    expect(lines.at(-1)).toMatchObject({
      type: 'report',
      report: { runId: 'monday', threshold: 0.9, passed: false },
    });
    expect(reportIn(stdout).variants.map(({ summary }) => summary.passed)).toEqual([8, 6]);
  });

  test('writes the report as a page, with commands that find the sessions', async () => {
    const { run, env, folder } = await place();
    const { code } = await run(
      ['eval', capitals, '--html', 'report.html', '--store', 'own.db', '--quiet'],
      { env, cwd: folder },
    );
    expect(code).toBe(1);
    const page = readFileSync(join(folder, 'report.html'), 'utf8');
    expect(page).toContain('<h1 dir="auto">Capitals</h1>');
    const command = /<code>(adjutant show [^<]*)<\/code>/.exec(page)?.[1] ?? '';
    expect(command).toContain('--tree --store own.db --app geography');
    expect((await run(wordsOf(command), { cwd: folder })).code).toBe(0);
  });

  test('keeps the report: in a named folder, beside the configuration, or not', async () => {
    const { run, env, folder } = await place();
    const options = { env, cwd: folder };
    const kept = async (...flags: string[]): Promise<string> =>
      (await run(['eval', capitals, '--case', 'peru', ...flags], options)).stderr;
    const file = /The report is kept: (.*own.*\.json)$/m.exec(await kept('--reports', 'own'))?.[1];
    expect(JSON.parse(readFileSync(file ?? '', 'utf8'))).toMatchObject({
      format: 'adjutant-eval-report',
      name: 'Capitals',
    });
    expect(await kept('--no-reports')).not.toContain('The report is kept');
    writeFileSync(join(folder, 'file'), '');
    expect(await kept('--reports', 'file/below')).toMatch(/The report is not kept: .*ENOTDIR/);
    writeFileSync(join(folder, 'adjutant.config.mjs'), 'export const app = undefined;');
    expect(await kept()).toContain(join(folder, '.adjutant', 'evals'));
  });

  test('parts of it are chosen by variant, case and tag', async () => {
    const { run, env, server } = await place();
    const { code, stdout } = await run(
      [
        'eval',
        capitals,
        '--variant',
        'hasty',
        '--tag',
        'america',
        '--case',
        'peru',
        '--case',
        'kenya',
        '--json',
      ],
      {
        env,
      },
    );
    expect(code).toBe(0);
    const { variants, comparisons } = reportIn(stdout);
    expect(variants.map(({ name, cases }) => [name, cases.map(({ id }) => id)])).toEqual([
      ['hasty', ['peru']],
    ]);
    expect(comparisons).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a dataset', () => {
  test('is run on the app of the configuration', async () => {
    const { run, env, folder, server } = await place();
    const given = { ...env, EVAL_STORE: join(folder, 'geography.db') };
    const { code, stdout } = await run(
      ['eval', dataset, '--config', config, '--json', '--html', join(folder, 'report.html')],
      { env: given },
    );
    expect(code).toBe(0);
    expect(reportIn(stdout)).toMatchObject({
      name: 'capitals',
      passed: true,
      variants: [{ name: 'careful' }],
    });
    // Where the app keeps its sessions is known to the module alone.
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(
      '--tree --store … --app geography</code>',
    );
    const again = await run(['eval', dataset, '--run', reportIn(stdout).runId, '--quiet'], {
      env: given,
      cwd: modules,
    });
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(server.requests).toHaveLength(4);
  });

  test('needs one', async () => {
    const { run, folder } = bench();
    const { code, stderr } = await run(['eval', dataset], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(
      'capitals.json is a dataset, and nothing says what it measures: write adjutant.config.ts',
    );
  });
});

describe('an eval that is stopped', () => {
  test('by Ctrl-C says how far it is and how it goes on, and goes on there', async () => {
    const { start, run, server, env } = await place();
    server.hangFrom = 4;
    const running = start(['eval', capitals], { env, ...fromSources });
    await server.reached(4);
    running.child.kill('SIGINT');
    const stopped = await running.finished;
    expect(stopped.code).toBe(130);
    expect(stopped.stdout).toContain('Stopped after 3 of 8 trials.');
    const command = /^Continue with: (node .* eval .*)$/m.exec(stopped.stdout)?.[1] ?? '';
    expect(command).toContain('--run eval-');

    server.hangFrom = undefined;
    const words = wordsOf(command.slice(command.indexOf(' eval ')));
    const ended = await run([...words, '--json'], { env });
    expect(ended.code).toBe(1);
    const lines = jsonLines(ended.stdout).filter(({ type }) => type === 'trial_end');
    expect(lines.map(({ recorded }) => recorded)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(reportIn(ended.stdout)).toMatchObject({
      done: 8,
      total: 8,
      finishedAt: expect.any(Number),
    });
    // Three trials, the call that was given up, and five trials.
    expect(server.requests).toHaveLength(9);
  });

  test('by SIGKILL goes on with --continue', async () => {
    const { start, run, server, env } = await place();
    server.hangFrom = 6;
    const running = start(['eval', capitals, '--json'], { env, ...fromSources });
    await server.reached(6);
    running.child.kill('SIGKILL');
    await running.finished;
    server.hangFrom = undefined;
    const ended = await run(['eval', capitals, '--continue', '--json'], { env });
    expect(jsonLines(ended.stdout).filter(({ recorded }) => recorded === true)).toHaveLength(5);
    expect(reportIn(ended.stdout)).toMatchObject({ done: 8 });
    expect(server.requests).toHaveLength(9);
  });

  test('with --json a line says how it goes on', async () => {
    const { start, server, env } = await place();
    server.hangFrom = 1;
    const running = start(
      ['eval', capitals, '--json', '--run', 'today', '--case', 'peru', '--trials', '2'],
      { env },
    );
    await server.reached(1);
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.finished;
    expect(code).toBe(143);
    const program = 'node packages/cli/dist/main.js';
    const command = `${program} eval ${capitals} --case peru --trials 2 --run today`;
    expect(jsonLines(stdout).at(-1)).toEqual({
      type: 'stopped',
      runId: 'today',
      continue: command,
    });
  });
});

describe('what cannot be carried out as it was called', () => {
  test.each([
    [['nowhere.json'], 'There is no file'],
    [[join(modules, 'no-eval.ts')], 'is a dataset, and nothing says what it measures'],
    [
      [join(modules, 'no-eval.ts'), '--config', config],
      'it exports no `default`, `dataset` or `cases`',
    ],
    [[capitals, '--config', config], 'says itself what is measured'],
    [
      [capitals, '--variant', 'lazy'],
      '--variant: there is no "lazy". There is "careful", "hasty".',
    ],
    [
      [capitals, '--case', 'spain'],
      '--case: there is no "spain". There is "france", "peru", "kenya", "brazil".',
    ],
    [[capitals, '--tag', 'asia'], '--tag: there is no "asia".'],
    [[capitals, '--tag', 'africa', '--case', 'peru'], '--case and --tag together leave no case.'],
    [[capitals, '--threshold', '80'], 'It must be a number from 0 to 1.'],
    [[capitals, '--trials', '0'], 'It must be 1 or more.'],
    [[capitals, '--run', 'a b'], 'It has 1 to 100 letters'],
    [
      [capitals, '--run', 'a', '--continue'],
      "option '--continue' cannot be used with option '--run <id>'",
    ],
    [[capitals, '--html', 'no-such-folder/report.html'], '--html: '],
    [[dataset, '--config', 'gone.ts'], 'does not exist'],
    [[dataset, '--config', join(modules, 'no-eval.ts')], 'does not say what is measured'],
  ])('%j', async (args, reason) => {
    const { run, folder } = bench();
    const { code, stdout, stderr } = await run(['eval', ...args], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  test('a dataset that is broken, or an eval that is, says where', async () => {
    const { run, folder } = bench();
    writeFileSync(join(folder, 'broken.json'), '{"cases": [{"id": "a"}]}');
    expect(await run(['eval', 'broken.json', '--config', config], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('broken.json cannot be read at $.cases[0]'),
    });
    writeFileSync(join(folder, 'broken.mjs'), 'export default { variants: 5, dataset: [] };');
    expect(await run(['eval', 'broken.mjs'], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`variants` must be'),
    });
    writeFileSync(join(folder, 'thrown.mjs'), 'throw new Error("no key");');
    expect(await run(['eval', 'thrown.mjs'], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Error: no key'),
    });
  });

  test('nothing is run or made before all of that is known', async () => {
    const { run, folder, server, env } = await place();
    mkdirSync(join(folder, 'report.html'));
    const { code } = await run(['eval', capitals, '--html', 'report.html'], { cwd: folder, env });
    expect(code).toBe(2);
    expect(server.requests).toHaveLength(0);
    expect(existsSync(join(folder, 'data', 'adjutant.db'))).toBe(false);
  });
});
